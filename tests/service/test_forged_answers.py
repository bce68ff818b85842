"""One upstream answer is forged under a running service: nothing forged leaves it, and honest answers bring it back."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest
from aiohttp import web

from service.clock import DAY_MS, MINUTE_MS, parse_iso
from service.units import apr_pct
from tests.fakes.asgi import ask
from tests.service.indoors import Indoors, Kept
from tests.service.verdicts import SYMBOLS, select
from tests.service.watching import following
from tests.upstream.faults import reset

pytestmark = pytest.mark.slow

_HONEST = "X-Honest"
_FORGED_RATE = 0.5
"""50 % an hour."""

Forge = Callable[[Any], Any]
"""The venue's honest answer, decoded → what it answers instead."""


class Case(NamedTuple):
    """A forgery of one kind of answer.

    `request` is its type, `forge` what is done to it, `reason` a rule that it must fail, `coin` who the rule names
    (`*`: the whole answer), `held` the fields of the risk context that are held back, of `coin`.
    """

    request: str
    forge: Forge
    reason: str
    coin: str = "*"
    held: tuple[str, ...] = ()


def _prices_times_ten(answer: Any) -> Any:
    context = _row(answer, "BTC")
    context |= {name: str(float(context[name]) * 10) for name in ("markPx", "oraclePx", "midPx") if context.get(name)}
    return answer


def _rows_swapped(answer: Any) -> Any:
    """BTC and ETH change places, and so do the others: a shifted table."""
    _, contexts = answer
    contexts[:] = [*contexts[1:], contexts[0]]
    return answer


def _funding(answer: Any) -> Any:
    for context in answer[1]:
        context["funding"] = str(_FORGED_RATE)
    return answer


def _one_coin_alone(answer: Any) -> Any:
    meta, contexts = answer
    place = _place(answer, "DOGE")
    return [{**meta, "universe": [meta["universe"][place]]}, [contexts[place]]]


def _closed_day_times_ten(answer: Any) -> Any:
    """Every daily bar but the oldest shown: what is stored already differs too."""
    for bar in answer[1:]:
        bar |= {name: str(float(bar[name]) * 10) for name in "ohlc"}
    return answer


def _place(answer: Any, coin: str) -> int:
    return next(place for place, row in enumerate(answer[0]["universe"]) if row["name"] == coin)


def _row(answer: Any, coin: str) -> Any:
    return answer[1][_place(answer, coin)]


QUOTES = {
    "price x10 of BTC": Case("metaAndAssetCtxs", _prices_times_ten, "price-magnitude", "BTC", ("price", "funding_apr")),
    "rows shifted by one": Case("metaAndAssetCtxs", _rows_swapped, "coins-leaping"),
    "funding 50 % an hour": Case("metaAndAssetCtxs", _funding, "funding-cap", "BTC", ("funding_apr",)),
    "one coin alone": Case("metaAndAssetCtxs", _one_coin_alone, "coins-missing"),
}


def forged(case: Case) -> Callable[[web.Request], Any]:
    """Ask the replay itself, and change what it says."""

    async def intercept(request: web.Request) -> web.StreamResponse | None:
        body = await request.read()
        asked = json.loads(body)
        is_daily = asked.get("req", {}).get("interval", "1d") == "1d"
        if _HONEST in request.headers or asked["type"] != case.request or not is_daily:
            return None
        async with (
            aiohttp.ClientSession(headers={_HONEST: "1", "Content-Type": "application/json"}) as session,
            session.post(request.url, data=body) as honest,
        ):
            answer = case.forge(await honest.json())
            return web.json_response(answer, headers={"Date": honest.headers["Date"]})

    return intercept


class Truth(NamedTuple):
    """What was served of each coin while every answer was honest: USD, percent a year."""

    prices: dict[str, float]
    aprs: dict[str, float]


@pytest.fixture
async def house(kept: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with kept.reopened(tmp_path / "data") as service:
        await service.pass_time(45, 5)
        yield service


async def told(house: Indoors, key: str, target: str) -> Any:
    reply = await house.ask(target, key=key)
    assert reply.status == 200, (target, reply)
    return reply.json


async def true_now(house: Indoors, key: str) -> Truth:
    said = {symbol: (await told(house, key, f"/api/cli/coin/risk/{symbol}"))["data"] for symbol in SYMBOLS}
    return Truth(
        {symbol: each["price"] for symbol, each in said.items()},
        {symbol: each["funding_apr"] for symbol, each in said.items()},
    )


def named(value: Any, *names: str) -> Iterator[tuple[str, Any]]:
    """Every value of these names that is known, however deep."""
    if isinstance(value, dict):
        yield from ((name, value[name]) for name in names if value.get(name) is not None)
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from named(inner, *names)


async def expect_true(house: Indoors, key: str, truth: Truth) -> None:
    """See that no answer of any kind holds a forged value.

    Args:
        house: The service.
        key: Of a user.
        truth: What was so before.
    """
    for symbol in SYMBOLS:
        price, apr = truth.prices[symbol], truth.aprs[symbol]
        for target in (
            f"/api/cli/coin/risk/{symbol}",
            f"/api/cli/signal/{symbol}",
            f"/api/cli/coin/historical/{symbol}?count=5&unit=d",
        ):
            said = await told(house, key, target)
            for name, value in named(said, "price", "priceUSD"):
                assert price / 2 < value < price * 2, (target, name, value)
            for name, value in named(said, "funding_apr", "fundingRate"):
                assert abs(value - apr) < 300, (target, name, value)
    health = await told(house, key, "/api/cli/market/health?context=1")
    assert health["data"]["universe"] == len(SYMBOLS)
    alerts = await told(house, key, "/api/cli/funding/alerts")
    for event in alerts["data"]["events"]:
        assert abs(event["fundingAtTrigger"] - truth.aprs[event["asset"]]) < 300, event
        price = truth.prices[event["asset"]]
        assert event["price"] is None or price / 2 < event["price"] < price * 2, event
    async with following(house, key, "prices", interval=10) as stream:
        (first, *_) = await stream.until("event")
        assert first["data"]["prices"].keys() == set(SYMBOLS)
        for symbol, tick in first["data"]["prices"].items():
            assert truth.prices[symbol] / 2 < tick["price"] < truth.prices[symbol] * 2, (symbol, tick)
    rows = select(house.data_dir, "SELECT symbol, price FROM verdict_ledger WHERE price IS NOT NULL")
    assert rows
    assert all(truth.prices[symbol] / 2 < price < truth.prices[symbol] * 2 for symbol, price in rows)
    delisted = select(house.data_dir, "SELECT symbol FROM market_coins WHERE listed = 0")
    assert not {symbol for (symbol,) in delisted} & set(SYMBOLS)


async def quarantined(house: Indoors) -> dict[str, Any]:
    said: dict[str, Any] = (await house.readiness())["market"]["quarantined"]
    return said


async def counted(house: Indoors, reason: str) -> bool:
    """Whether the metrics count values that were held back for a reason."""
    text = (await ask(house.service.metrics, "/metrics")).body.decode()
    return any(
        line.startswith("verdict_quarantined_total{") and f'reason="{reason}"' in line for line in text.splitlines()
    )


@pytest.mark.promise("plausibility.nothing-forged-leaves")
@pytest.mark.parametrize("case", QUOTES.values(), ids=QUOTES)
async def test_a_forged_answer_of_quotes_reaches_no_answer_no_stream_and_no_ledger(
    house: Indoors, kept: Kept, case: Case
) -> None:
    key = kept.key
    truth, begun_ms = await true_now(house, key), house.clock.at_ms
    assert (await quarantined(house))["values"] == 0
    await house.lose("feed", fault=reset)
    house.doors.shut("metaAndAssetCtxs", fault=forged(case))
    await house.pass_time(90, 15)
    await expect_true(house, key, truth)
    assert not select(house.data_dir, "SELECT id FROM funding_events WHERE fired_ms >= ?", begun_ms)
    said = await quarantined(house)
    assert case.reason in said["reasons"]
    assert case.coin in said["coins"]
    assert await counted(house, case.reason)
    if case.held:
        risk = await told(house, key, f"/api/cli/coin/risk/{case.coin}")
        assert set(case.held) <= set(risk["data"]["_stale_fields"])
        assert parse_iso(risk["meta"]["as_of"]) <= begun_ms
    house.doors.open()
    await house.pass_time(60, 5)
    for symbol in SYMBOLS:
        risk = await told(house, key, f"/api/cli/coin/risk/{symbol}")
        assert risk["data"]["_stale_fields"] == [], symbol
        assert parse_iso(risk["meta"]["as_of"]) > begun_ms
    assert (await quarantined(house))["values"] == 0


@pytest.mark.promise("plausibility.nothing-forged-leaves")
async def test_a_forged_daily_bar_reaches_no_answer_and_no_verdict_and_is_fetched_again(
    house: Indoors, kept: Kept
) -> None:
    key = kept.key
    truth, begun_ms = await true_now(house, key), house.clock.at_ms
    case = Case("candleSnapshot", _closed_day_times_ten, "bar-changed")
    midnight_ms = (begun_ms // DAY_MS + 1) * DAY_MS
    house.doors.shut("candleSnapshot", fault=forged(case))
    house.clock.set_wall(midnight_ms - 30_000)
    await house.pass_time(120, 15)
    truth = truth._replace(prices=(await true_now(house, key)).prices)
    await expect_true(house, key, truth)
    said = await quarantined(house)
    assert said["reasons"].keys() & {"bar-changed", "bar-impossible", "bar-off-price", "bar-moved"}
    assert "BTC" in said["coins"]
    (reason,) = said["reasons"]
    assert await counted(house, reason)
    house.doors.open()
    await house.pass_time(15 * MINUTE_MS / 1_000, 15)
    day = await told(house, key, "/api/cli/coin/historical/BTC?count=2&unit=d")
    assert parse_iso(day["meta"]["as_of"]) == midnight_ms
    assert (await quarantined(house))["values"] == 0


@pytest.mark.promise("plausibility.nothing-forged-leaves")
async def test_forged_market_caps_are_not_told_and_the_last_ones_keep_their_time(house: Indoors, kept: Kept) -> None:
    async def intercept(request: web.Request) -> web.StreamResponse | None:
        if _HONEST in request.headers or not request.path.endswith("/coins/markets"):
            return None
        async with aiohttp.ClientSession(headers={_HONEST: "1"}) as session, session.get(request.url) as honest:
            rows = [row | {"market_cap": (row["market_cap"] or 0) * 10} for row in await honest.json()]
            return web.json_response(rows, headers={"Date": honest.headers["Date"]})

    async def now() -> Any:
        said = await told(house, kept.key, "/api/cli/coin/historical/BTC?count=2&unit=d")
        return said["data"]["now"]

    before = await now()
    house.doors.shut("coingecko", fault=intercept)
    await house.pass_time(900, 30)
    said = await now()
    assert said["marketCap"] == pytest.approx(before["marketCap"], rel=0.2)
    assert parse_iso(said["market_cap_as_of"]) < house.clock.at_ms - 5 * MINUTE_MS
    assert "worth-moved" in (await quarantined(house))["reasons"]
    assert await counted(house, "worth-moved")
    house.doors.open()
    await house.pass_time(900, 30)
    assert parse_iso((await now())["market_cap_as_of"]) > parse_iso(said["market_cap_as_of"])
    assert (await quarantined(house))["values"] == 0


def test_the_forged_rate_is_beyond_everything_that_is_compared_with() -> None:
    assert apr_pct(_FORGED_RATE) > 1_000 * 300
