"""`walkforward` as a caller sees it: nothing before the first run, and every record of it after."""

import base64
import json
import math
import os
from collections.abc import AsyncIterator
from itertools import pairwise, product
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from service.clock import DAY_MS, iso, parse_iso
from service.market.symbols import canonical
from service.walkforward.child_process import run_in_process
from tests.service.indoors import Indoors, Kept
from tests.service.verdicts import SYMBOLS
from tests.service.walking import (
    ACTIONS,
    DATED,
    WALKFORWARD,
    Recorded,
    ask,
    data,
    day_number,
    days_between,
    pages,
    recorded,
    records,
    walkers,
)

pytestmark = pytest.mark.process

ROUNDING = 1.5e-4
"""Of three figures that are each rounded to four decimals."""

FIELDS = {
    "signals": "id symbol scanDate direction strategy score fold entryPrice",
    "positions": ("id symbol direction entryDate entryPrice currentPrice holdDays unrealizedPct stop strategy fold"),
    "outcomes": (
        "id symbol direction entryDate exitDate entryPrice exitPrice returnPct fundingPct costPct holdDays exitReason "
        "fold strategy"
    ),
}
META = ["engine", "run_id", "ran_at", "parameters_hash", "total", "next_cursor", "message"]
SUMMARY = {
    "total", "wins", "losses", "winRate", "meanReturnPct", "sharpe", "deflatedSharpe", "maxDrawdownPct", "exposure",
    "trials",
}  # fmt: skip
STRATEGIES = {"trend-following", "cross-sectional-momentum", "funding-reversion"}
REFUSED = [
    *((f"action={action}", "action") for action in ("Signals", "trades", "", "summary")),
    *((f"limit={limit}", "limit") for limit in ("0", "201", "-1", "ten", "1.0", "")),
    *((f"symbol={symbol}", "symbol") for symbol in ("BTC-USD", "", "B" * 21)),
    ("cursor=", "cursor"),
    ("action=signals&action=outcomes", "action"),
    ("colour=blue", "colour"),
]


@pytest.fixture
async def house(walked: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with walked.reopened(tmp_path / "data") as service:
        yield service


@pytest.mark.promise("walkforward.empty", "walkforward.actions", "walkforward.as-of", "time.as-of-honest")
async def test_before_the_first_run_every_list_is_empty_says_why_and_costs_nothing(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        started = iso(house.clock.now_ms())
        free = await house.make_key()
        await house.pass_time(90, 7.5)
        for action in (None, *ACTIONS):
            reply = await ask(house, free, action)
            assert reply.status == 200
            assert reply.json["meta"]["as_of"] == started
            assert reply.json["meta"]["data_age_seconds"] == 90
            told = reply.json["data"]
            assert told.get("summary") is None
            meta = told["meta"]
            assert told[action or "signals"] == []
            assert list(meta) == META
            assert [meta[name] for name in META[1:-1]] == [None, None, None, 0, None]
            assert "No run has finished yet" in meta["message"]
            assert "nothing about the market" in meta["message"]
            assert "r=10" in reply.headers["ratelimit"]
        assert (await ask(house, free, symbol="NOWHERE")).status == 404
        assert (await ask(house, free, symbol="MATIC")).code == "UNKNOWN_SYMBOL"
        assert (await ask(house, free, action="trades")).status == 400
        assert (await house.ask(key=free)).headers["ratelimit"] == '"questions";r=9'


def plain_numbers(value: Any) -> list[float]:
    """Every number in a payload."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in plain_numbers(each)]
    if isinstance(value, list):
        return [number for each in value for number in plain_numbers(each)]
    return [value] if isinstance(value, int | float) else []


@pytest.mark.promise(
    "walkforward.actions", "walkforward.signal", "walkforward.position", "walkforward.outcome", "walkforward.summary",
    "walkforward.meta", "walkforward.as-of",
)  # fmt: skip
@pytest.mark.parametrize("action", ACTIONS)
async def test_after_the_first_run_every_record_is_whole_finite_and_newest_first(
    walked: Kept, house: Indoors, action: str
) -> None:
    reply = await ask(house, walked.key, action, limit=200)
    told, meta = reply.json["data"], reply.json["data"]["meta"]
    assert reply.json["meta"]["as_of"] == meta["ran_at"] == iso(walked.at_ms)
    assert list(meta) == META
    assert meta["run_id"]
    assert meta["message"] is None
    assert len(bytes.fromhex(meta["parameters_hash"])) == 32
    assert list(told) == [action, *(["summary"] if action == "outcomes" else []), "meta"]
    if action == "outcomes":
        assert told["summary"].keys() >= SUMMARY
    assert all(math.isfinite(number) for number in plain_numbers(told))
    listed = await records(house, walked.key, action)
    assert len(listed) == meta["total"] > 10
    assert {tuple(record) for record in listed} == {tuple(FIELDS[action].split())}
    assert all(newer[DATED[action]] >= older[DATED[action]] for newer, older in pairwise(listed))
    assert {record["direction"] for record in listed} == {"long", "short"}
    assert {record["strategy"] for record in listed} == STRATEGIES
    assert len({record["id"] for record in listed}) == len(listed)
    assert {record["symbol"] for record in listed} <= {"BTC", "ETH", "SOL", "DOGE", "HYPE", "XMR", "PEPE", "MATIC"}


async def test_every_position_and_outcome_has_been_a_signal_and_nothing_decided_is_lost(
    walked: Kept, house: Indoors
) -> None:
    signals, positions, outcomes = [await records(house, walked.key, action) for action in ACTIONS]
    decided = {signal["id"]: signal for signal in signals}
    followed = {record["id"]: record for record in (*positions, *outcomes)}
    assert len(followed) == len(positions) + len(outcomes)
    pending = [signal for signal in signals if signal["entryPrice"] is None]
    assert decided.keys() - followed.keys() == {signal["id"] for signal in pending}
    yesterday = iso(house.clock.now_ms() - DAY_MS)[:10]
    assert {signal["scanDate"] for signal in pending} <= {yesterday}
    for name, record in followed.items():
        signal = decided[name]
        assert all(signal[field] == record[field] for field in ("symbol", "direction", "entryPrice", "strategy"))
        assert day_number(record["entryDate"]) == day_number(signal["scanDate"]) + 1
    summary = (await data(house, walked.key, "outcomes", limit=1))["summary"]
    won = sum(outcome["returnPct"] > 0 for outcome in outcomes)
    assert (summary["total"], summary["wins"]) == (len(outcomes), won)
    assert summary["meanReturnPct"] == pytest.approx(sum(o["returnPct"] for o in outcomes) / len(outcomes), abs=1e-3)


async def test_an_outcome_is_what_the_recorded_opens_and_payments_and_the_costs_come_to(
    walked: Kept, house: Indoors
) -> None:
    charged = 0
    standard = (await ask(house, walked.key, "outcomes")).json["data"]["summary"]["standard"]
    for outcome in await records(house, walked.key, "outcomes"):
        known = recorded(walked.fixtures_dir, outcome["symbol"])
        entered, left = outcome["entryDate"], outcome["exitDate"]
        gone = outcome["exitReason"] == "delisted"
        assert outcome["entryPrice"] == known.opens[entered]
        assert outcome["exitPrice"] == (known.closes if gone else known.opens)[left]
        side = 1 if outcome["direction"] == "long" else -1
        change = outcome["exitPrice"] / outcome["entryPrice"]
        decided = [day_before(known, entered), left if gone else day_before(known, left)]
        buying, selling = (cost_pct(standard, known, day) for day in decided)
        assert outcome["costPct"] == pytest.approx(buying + selling * change, abs=ROUNDING)
        told = side * (change - 1) * 100 + outcome["fundingPct"] - outcome["costPct"]
        assert outcome["returnPct"] == pytest.approx(told, abs=ROUNDING), outcome
        held = days_between(entered, left) + ([left] if gone else [])
        assert outcome["holdDays"] == len(held)
        if all(day in known.paid for day in held):
            paid = sum(known.paid[day] * known.opens[day] for day in held) / outcome["entryPrice"]
            assert outcome["fundingPct"] == pytest.approx(-side * paid * 100, abs=ROUNDING), outcome
            charged += 1
    assert charged > 30


def day_before(known: Recorded, day: str) -> str:
    return max(each for each in known.closes if each < day)


def cost_pct(standard: Any, known: Recorded, decided: str) -> float:
    """Percent of a fill's notional that the published standard takes, by the volume known at a close."""
    days = sorted(day for day in known.closes if day <= decided)[-30:]
    usual = median(known.closes[day] * known.volumes[day] for day in days)
    bps = next(band["bps"] for band in standard["slippage"] if usual >= band["volume_usd_from"])
    return float(standard["fee_bps"] + bps) / 100


async def test_prices_of_records_are_those_that_historical_tells(walked: Kept, house: Indoors) -> None:
    told = (await house.ask("/api/cli/coin/historical/BTC?count=1000&unit=d", key=walked.key)).json["data"]["series"]
    # A point is a close; this recording opens where it closed.
    opens = {point["t"][:10]: point["priceUSD"] for point in told}
    outcomes = await records(house, walked.key, "outcomes", symbol="BTC")
    assert len(outcomes) > 10
    for outcome in outcomes:
        assert (outcome["entryPrice"], outcome["exitPrice"]) == (
            opens[outcome["entryDate"]],
            opens[outcome["exitDate"]],
        )


async def test_a_position_is_told_at_the_price_that_risk_tells_until_that_is_too_old(
    walked: Kept, house: Indoors
) -> None:
    async def prices() -> list[Any]:
        said = [await house.ask(f"/api/cli/coin/risk/{symbol}", key=walked.key) for symbol in SYMBOLS]
        return [reply.json["data"]["price"] for reply in said]

    before = await prices()
    positions = await records(house, walked.key, "positions")
    told = {symbol: pair for symbol, *pair in zip(SYMBOLS, before, await prices(), strict=True)}
    today = house.clock.now_ms() // DAY_MS
    for position in positions:
        assert position["currentPrice"] in told[position["symbol"]], "a frame may come between two questions"
        side = 1 if position["direction"] == "long" else -1
        gain = side * (position["currentPrice"] / position["entryPrice"] - 1) * 100
        assert position["unrealizedPct"] == pytest.approx(gain, abs=ROUNDING)
        assert position["holdDays"] == today - day_number(position["entryDate"])
        assert position["entryPrice"] == recorded(walked.fixtures_dir, position["symbol"]).opens[position["entryDate"]]
    assert any(position["stop"] for position in positions)
    assert {position["stop"] for position in positions} == {
        position["stop"] and float(f"{position['stop']:.6g}") for position in positions
    }, "no more digits than a venue's price has"
    house.clock.set_wall(house.clock.at_ms + 11 * 60_000)
    for position in await records(house, walked.key, "positions"):
        assert (position["currentPrice"], position["unrealizedPct"]) == (None, None)


@pytest.mark.promise("walkforward.parameters", "symbols.case")
async def test_a_symbol_narrows_every_list_in_any_spelling(walked: Kept, house: Indoors) -> None:
    for action in ACTIONS:
        everything = await records(house, walked.key, action)
        for spellings in (("btc", "BTC", "Btc"), ("kPEPE", "PEPE", "kpepe"), ("DOGE", "doge")):
            own = [record for record in everything if record["symbol"] == canonical(spellings[0])]
            for spelling in spellings:
                assert await records(house, walked.key, action, limit=7, symbol=spelling) == own, spelling


@pytest.mark.promise("errors.candidates")
async def test_a_coin_that_was_delisted_stays_in_history_and_one_that_never_was_is_not_found(
    walked: Kept, house: Indoors
) -> None:
    assert (await house.ask("/api/cli/coin/risk/MATIC", key=walked.key)).status == 404
    gone = await records(house, walked.key, "outcomes", symbol="matic")
    assert {outcome["symbol"] for outcome in gone} == {"MATIC"}
    assert gone[0]["exitDate"] == max(recorded(walked.fixtures_dir, "MATIC").closes)
    assert gone[0]["exitReason"] == "delisted"
    none = await data(house, walked.key, "positions", symbol="matic")
    assert none["positions"] == []
    assert "no positions of MATIC" in none["meta"]["message"]
    free = await house.make_key()
    reply = await ask(house, free, "outcomes", symbol="BTCC")
    assert (reply.status, reply.code) == (404, "UNKNOWN_SYMBOL")
    assert "BTC" in reply.json["error"]["details"]["candidates"]
    assert (await house.ask(key=free)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("walkforward.parameters")
async def test_pages_repeat_nothing_and_lose_nothing(walked: Kept, house: Indoors) -> None:
    for action, limit in product(ACTIONS, (1, 37, 200)):
        found = [page async for page in pages(house, walked.key, action, limit)]
        listed = [record["id"] for page in found for record in page[action]]
        assert len(set(listed)) == len(listed) == found[0]["meta"]["total"]
        assert {page["meta"]["total"] for page in found} == {len(listed)}
        assert all(len(page[action]) == limit for page in found[:-1])
        assert 0 < len(found[-1][action]) <= limit
        assert [record["id"] for record in (await data(house, walked.key, action))[action]] == listed[:50]


@pytest.mark.promise("cursors.foreign")
async def test_a_cursor_of_another_list_or_one_that_was_touched_is_refused(walked: Kept, house: Indoors) -> None:
    cursor = (await data(house, walked.key, "outcomes", limit=2))["meta"]["next_cursor"]
    alerts = (await house.ask("/api/cli/funding/alerts?limit=1", key=walked.key)).json["data"]["meta"]["next_cursor"]
    assert alerts
    raw = base64.urlsafe_b64decode(f"{cursor}=")
    flipped = [
        base64.urlsafe_b64encode(bytes([*raw[:place], raw[place] ^ 1 << bit, *raw[place + 1 :]])).decode().rstrip("=")
        for place in range(len(raw))
        for bit in range(8)
    ]
    refused = [
        await ask(house, walked.key, "signals", cursor=cursor),
        await ask(house, walked.key, "positions", cursor=cursor),
        await ask(house, walked.key, cursor=cursor),
        await ask(house, walked.key, "outcomes", cursor=cursor, symbol="BTC"),
        await ask(house, walked.key, "outcomes", cursor=alerts),
        *[await ask(house, walked.key, "outcomes", cursor=text) for text in flipped],
    ]
    for reply in refused:
        assert (reply.status, reply.code) == (400, "BAD_REQUEST")
        assert reply.json["error"]["details"]["parameter"] == "cursor"
    assert (await ask(house, walked.key, "outcomes", cursor=cursor, limit=9)).status == 200


@pytest.mark.promise("walkforward.parameters", "walkforward.actions", "errors.bad-request-parameter")
async def test_what_it_does_not_take_is_refused_and_named(walked: Kept, house: Indoors) -> None:
    for query, parameter in REFUSED:
        reply = await house.ask(f"{WALKFORWARD}?{query}", key=walked.key)
        assert (reply.status, reply.code) == (400, "BAD_REQUEST"), query
        error = reply.json["error"]
        assert error["details"]["parameter"] == parameter
        assert parameter in error["message"]
    error = (await ask(house, walked.key, "trades")).json["error"]
    assert error["details"]["allowed"] == list(ACTIONS)
    assert all(action in error["message"] for action in ACTIONS)


@pytest.mark.promise("price.walkforward", "meter.once", "quota.402", "manifest.lists-priced", "walkforward.as-of")
async def test_it_is_counted_once_and_costs_five_cents(walked: Kept, house: Indoors) -> None:
    free = await house.make_key()
    answers = [await ask(house, free, ACTIONS[number % 3], symbol="BTC") for number in range(10)]
    assert [reply.headers["ratelimit"].split(";")[1] for reply in answers] == [f"r={left}" for left in range(9, -1, -1)]
    spent = await ask(house, free, "outcomes")
    assert (spent.status, spent.code) == (402, "PAYMENT_REQUIRED")
    assert spent.json["gate"]["this_query"] == {"route": "walkforward", "price_usdc": "0.05"}
    (accepted,) = spent.json["accepts"]
    assert accepted["maxAmountRequired"] == "50000"
    second = json.loads(base64.b64decode(spent.headers["payment-required"]))
    assert [row["amount"] for row in second["accepts"]] == ["50000"]
    manifest = (await house.ask("/api/cli/manifest")).json["data"]["routes"]
    (row,) = [route for route in manifest if route["id"] == "walkforward"]
    assert (row["price_usdc"], row["price_atomic"], row["refresh_seconds"]) == ("0.05", "50000", 3600)
    assert [taken["name"] for taken in row["parameters"]] == ["action", "symbol", "limit", "cursor"]


async def test_a_day_that_has_been_walked_is_not_walked_again_by_a_service_that_starts_again(
    walked: Kept, tmp_path: Path
) -> None:
    async with walked.reopened(tmp_path / "data", walk=run_in_process) as house:
        before = await data(house, walked.key, "outcomes")
        await house.pass_time(300, 15)
        assert not walkers(os.getpid())
        reply = await ask(house, walked.key, "outcomes")
        assert reply.json["data"] == before
        assert reply.json["meta"]["as_of"] == iso(walked.at_ms)
        assert reply.json["meta"]["data_age_seconds"] == 300
        assert parse_iso(before["meta"]["ran_at"]) == walked.at_ms
