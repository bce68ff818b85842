"""The service over the real recordings, at their end and as if they were of today: every route answers for every coin.

Hours of 20 coins were recorded, payments of 40; ten coins have no bars since April. Where nothing was recorded the
service says that nothing is known, and nothing else of it suffers.
"""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.clock import DAY_MS, SystemClock, parse_iso
from service.market.symbols import canonical
from service.upstream.replay.recording import DAILY, FUNDING, HOURLY, Candle, FundingRow
from tests.market.recordings import needs_recordings, price_of_one
from tests.service import recorded_set
from tests.service.asking import REGIMES, ROUTES, Caller, Reply, category_names, escaped, whole_market
from tests.service.verdicts import check

pytestmark = [pytest.mark.recorded, needs_recordings, pytest.mark.process]

ASSETS = tuple(recorded_set.DERIVED)
WIDE = (*REGIMES[:3], "market/health", "market/health?context=1", "market/crossing", "rwa/assets", "funding/alerts")
STATES = ("UP", "HODL", "DOWN")


class Recorded(NamedTuple):
    """A service over the recordings.

    Attributes:
        shift_ms: What its times are ahead of the recorded ones.
        replies: What it answered, by target.
        wrong: What it logged meanwhile that should not happen.
    """

    shift_ms: int
    replies: dict[str, Reply]
    wrong: list[dict[str, Any]]

    def data(self, target: str) -> Any:
        reply = self.replies[target]
        assert reply.status == 200, (target, reply.body)
        return reply.body["data"]


@pytest.fixture(scope="module", params=["frozen", pytest.param("shifted", marks=pytest.mark.soak)])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Everything the service answers, of one day: should midnight pass meanwhile, that of the next."""
    directory = recorded_set.write_recorded_set(tmp_path_factory.mktemp("set"))
    while True:
        today = SystemClock().now_ms() // DAY_MS
        shift_ms = 0 if request.param == "frozen" else (today - recorded_set.END_MS // DAY_MS) * DAY_MS
        found = Recorded(shift_ms, *ask_service(tmp_path_factory.mktemp("data"), directory, request.param))
        if SystemClock().now_ms() // DAY_MS == today:
            return found


def ask_service(data_dir: Path, fixtures: Path, replay: str) -> tuple[dict[str, Reply], list[dict[str, Any]]]:
    hours, payments = len(having(HOURLY)), len(having(FUNDING))
    with whole_market(data_dir, hours, payments, replay=replay, fixtures_dir=str(fixtures)) as whole:
        replies = ask_everything(whole.pro)
        return replies, [record for record in whole.service.records if record["level"] in {"warning", "error"}]


def ask_everything(caller: Caller) -> dict[str, Reply]:
    """Every route for everything it can be asked of."""
    of_coin = (
        "coin/risk/{}",
        "coin/historical/{}",
        "coin/historical/{}?unit=d",
        "regime?action=history&symbol={}",
        "signal/{}",
    )
    of_category = ("category/info/{}", "category/sentiment/{}")
    targets = [
        *WIDE,
        *ROUTES.values(),
        *(form.format(coin) for form in of_coin for coin in recorded_set.coins()),
        *(form.format(escaped(name)) for form in of_category for name in category_names()),
        *(f"rwa/symbol/{asset}" for asset in ASSETS),
    ]
    return {target: caller.ask(target) for target in targets}


def having(kind: str) -> list[str]:
    """The coins of which something was recorded."""
    row = FundingRow if kind == FUNDING else Candle
    return [coin for coin in recorded_set.coins() if recorded_set.recorded(kind, coin, row)]


def ended() -> set[str]:
    """The coins without a bar on the last day."""
    days = {coin: recorded_set.recorded(DAILY, coin, Candle)[-1] for coin in recorded_set.coins()}
    return {coin for coin, last in days.items() if last.close_ms < recorded_set.END_MS}


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)
    elif isinstance(value, float):
        yield value


def test_the_recordings_are_those_that_are_described() -> None:
    assert (len(recorded_set.coins()), len(having(HOURLY)), len(having(FUNDING)), len(ended())) == (116, 20, 40, 10)


def test_every_route_answers_for_everything_but_hours_that_were_not_recorded(recorded: Recorded) -> None:
    refused = {target: reply for target, reply in recorded.replies.items() if reply.status != 200}
    unrecorded = set(recorded_set.coins()) - set(having(HOURLY))
    assert refused.keys() == {f"coin/historical/{coin}" for coin in unrecorded}
    for reply in refused.values():
        assert (reply.status, reply.code) == (503, "UNAVAILABLE")
        assert reply.body["error"]["message"].startswith("Hourly bars of ")
        assert int(reply.fields["retry-after"]) > 0
    assert len(recorded.replies) > 4 * 116


@pytest.mark.promise("numbers.finite", "time.age")
def test_no_number_is_endless_and_no_age_negative(recorded: Recorded) -> None:
    for target, reply in recorded.replies.items():
        assert all(map(math.isfinite, numbers(reply.body))), target
        if reply.status == 200:
            meta = reply.body["meta"]
            age_ms = parse_iso(meta["ts"]) - parse_iso(meta["as_of"])
            assert meta["data_age_seconds"] == age_ms // 1000 >= 0, target


@pytest.mark.promise("numbers.null", "risk.stale-fields")
def test_what_is_unknown_of_a_coin_is_null_and_named(recorded: Recorded) -> None:
    for coin in recorded_set.coins():
        risk = recorded.data(f"coin/risk/{coin}")
        assert risk["symbol"] == canonical(coin)
        assert risk.get("venue_symbol", coin) == coin
        assert risk["price"] > 0
        assert recorded.replies[f"coin/risk/{coin}"].body["meta"]["data_age_seconds"] <= 60
        nulls = {name for name in list(risk)[:7] if risk[name] is None}
        assert nulls == set(risk["_stale_fields"])
        assert ("trend_daily" in nulls) >= (coin in ended())


@pytest.mark.promise("historical.payload", "historical.as-of")
def test_daily_history_is_that_of_the_recording_to_the_cent(recorded: Recorded) -> None:
    for coin in recorded_set.coins():
        target = f"coin/historical/{coin}?unit=d"
        meta = recorded.replies[target].body["meta"]
        now_ms = parse_iso(meta["ts"]) - recorded.shift_ms
        days = [bar for bar in recorded_set.recorded(DAILY, coin, Candle) if bar.close_ms < now_ms]
        assert parse_iso(meta["as_of"]) - recorded.shift_ms == days[-1].close_ms + 1
        told = [
            (parse_iso(point["t"]), point["priceUSD"], point["volume"]) for point in recorded.data(target)["series"]
        ]
        assert told == [
            (
                bar.close_ms + 1 + recorded.shift_ms,
                price_of_one(coin, bar.close),
                round(float(bar.volume) * float(bar.close), 2),
            )
            for bar in days[-24:]
        ]


@pytest.mark.promise("regime.history")
def test_what_a_regime_traded_adds_up(recorded: Recorded) -> None:
    total = 0
    for coin in recorded_set.coins():
        said = recorded.data(f"regime?action=history&symbol={coin}")
        bars = {
            (bar.open_ms + recorded.shift_ms) // DAY_MS: (price_of_one(coin, bar.open), price_of_one(coin, bar.close))
            for bar in recorded_set.recorded(DAILY, coin, Candle)
        }
        until = ""
        for trade in said["trades"]:
            assert until <= trade["entryDate"] <= trade["exitDate"]
            until = trade["exitDate"]
            entered, left = (parse_iso(f"{trade[day]}T00:00:00Z") // DAY_MS for day in ("entryDate", "exitDate"))
            assert trade["entryPrice"] == bars[entered][0]
            assert trade["exitPrice"] in (bars[left] if trade["exitReason"] == "no-bars" else bars[left][:1])
            sign = 1 if trade["direction"] == "long" else -1
            price = sign * (trade["exitPrice"] / trade["entryPrice"] - 1) * 100
            assert trade["returnPct"] == pytest.approx(price + trade["fundingPct"] - trade["costPct"], abs=2e-4)
            assert trade["costPct"] > 0
        returns = [trade["returnPct"] for trade in said["trades"]]
        summary = said["summary"]
        assert (summary["total"], summary["wins"]) == (len(returns), sum(each > 0 for each in returns))
        total += len(returns)
    assert total > 500


@pytest.mark.promise("health.payload")
def test_the_market_is_as_healthy_as_its_coins_are(recorded: Recorded) -> None:
    risks = [recorded.data(f"coin/risk/{coin}") for coin in recorded_set.coins()]
    trends = Counter(risk["trend_daily"] for risk in risks if risk["trend_daily"])
    health = recorded.data("market/health?context=1")
    closed_ms = parse_iso(recorded.replies["coin/historical/BTC?unit=d"].body["meta"]["as_of"])
    if parse_iso(f"{health['date']}T00:00:00Z") + DAY_MS == closed_ms:  # a day is published within a quarter of an hour
        assert health["trends"] == {state: trends[state] for state in STATES}
    assert health["universe"] == sum(health["trends"].values()) > 100
    assert health["interpretation"]
    assert recorded.data("market/crossing")["crossings"]


@pytest.mark.promise("rwa.symbol-payload", "assets.lists")
def test_assets_that_were_derived_from_other_markets_answer(recorded: Recorded) -> None:
    listed = recorded.data("rwa/assets")["assets"]
    assert {asset["id"] for asset in listed} == set(ASSETS)
    for asset in ASSETS:
        said = recorded.data(f"rwa/symbol/{asset}")
        assert said["price"] > 0
        assert {said["trend_daily"], said["trend_weekly"]} <= {"UP", "DOWN"}
        assert set(said["_stale_fields"]) <= {"change_24h"}, "no price of a day ago is recorded"


def test_alerts_are_of_coins_whose_payments_were_recorded(recorded: Recorded) -> None:
    events = recorded.data("funding/alerts")["events"]
    assert events
    assert {event["asset"] for event in events} <= {canonical(coin) for coin in having(FUNDING)}


@pytest.mark.promise("signal.rules", "signal.sources", "signal.scale", "numbers.finite")
def test_every_coin_is_judged_by_what_is_known_of_it_and_not_where_neither_trend_is(recorded: Recorded) -> None:
    paid, silent = set(having(FUNDING)), ended()
    for coin in recorded_set.coins():
        said, risk = recorded.data(f"signal/{coin}"), recorded.data(f"coin/risk/{coin}")
        check(said)
        assert said["symbol"] == canonical(coin)
        assert said["sources"]["funding"] == ("fulfilled" if coin in paid else "rejected")
        trends = (said["raw"]["risk"]["trend_daily"], said["raw"]["risk"]["trend_weekly"])
        assert trends == (risk["trend_daily"], risk["trend_weekly"])
        assert (said["verdict"] == "insufficient-evidence") == (trends == (None, None)) >= (coin in silent)
    judged = Counter(recorded.data(f"signal/{coin}")["verdict"] for coin in recorded_set.coins())
    assert judged["insufficient-evidence"] < 20 < judged.total() - max(judged.values())


def test_nothing_went_wrong_on_the_way(recorded: Recorded) -> None:
    assert recorded.wrong == []
