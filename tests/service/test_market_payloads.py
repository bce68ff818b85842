"""What the data routes answer: the contract's fields in its order, as old as the contract says, as documented."""

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from service.clock import parse_iso
from service.wire.offers import OFFERS
from tests.fakes.serving import wait_until
from tests.service.asking import (
    L1,
    PRICED,
    REGIMES,
    ROUTES,
    WALKFORWARD,
    Caller,
    Reply,
    Whole,
    category_names,
    escaped,
    whole_market,
)

pytestmark = pytest.mark.process

END = "2025-07-25T23:59:59.999Z"
NOW = "2025-07-25T23:59:59.000Z"
LAST_HOUR = "2025-07-25T23:00:00.000Z"
LAST_CLOSE = "2025-07-25T00:00:00.000Z"
"""The present of the frozen recording; the whole second in which its upstreams say so; closes of the last bars."""

ALL = tuple(
    dict.fromkeys([*ROUTES.values(), *REGIMES, "market/health?context=1", "coin/historical/ETH?count=7&unit=d"])
)
OFFER = {offer.id: offer for offer in OFFERS}
COUNTS = ["UP", "HODL", "DOWN"]


def fields(*names: str) -> list[str]:
    """Names written as the contract writes them, one after the other."""
    return " ".join(names).split()


RISK = fields(
    "symbol price funding_apr trend_daily trend_weekly sentiment_stance btc_correlation _stale_fields",
    "trend_daily_since trend_weekly_since funding_paying_side funding_receiving_side carry_if_long carry_if_short",
    "sentiment_summary venue",
)
FACTS = fields("priceUSD marketCap volume openInterest fundingRate futuresVolume24h")
HEALTH = fields("date universe trends breadth_pct hasExtremes extremes")
CONTEXT = fields("velocity regime regime_age_days leadership laggards divergences interpretation")
POSITION = fields("symbol regime direction conviction entryPrice currentPrice entryDate holdDays")

PAYLOADS = {
    ROUTES["coin.risk"]: RISK,
    "coin/risk/kPEPE": [*RISK, "venue_symbol", "contract_size"],
    ROUTES["coin.historical"]: fields("symbol count unit at now change_pct series"),
    ROUTES["signal"]: fields(
        "symbol verdict score confidence as_of evidence sources raw rules ruleset verdict_id confidence_basis",
        "claims record",
    ),
    ROUTES["category.sentiment"]: fields("name stance score slope_24h mentions summary coins provenance"),
    ROUTES["category.info"]: fields("name description coins trends market_cap change_24h volume_24h leaders laggards"),
    "regime": fields("market positions meta"),
    "regime?action=signals": fields("signals meta"),
    "regime?action=confidence": fields("source generated summary coins"),
    "regime?action=history&symbol=BTC": fields("symbol trades summary currentPosition meta"),
    ROUTES["rwa.symbol"]: fields(
        "id symbol name assetType venue price change_24h trend_daily trend_weekly funding open_interest_usd",
        "volume_24h_usd changes_from _stale_fields",
    ),
    "rwa/assets": ["count", "assets"],
    "market/health": HEALTH,
    "market/health?context=1": [*HEALTH, *CONTEXT],
    "funding/alerts": ["events", "meta"],
}

ROWS: list[tuple[str, list[str], list[str]]] = [
    (ROUTES["coin.historical"], ["at"], [*FACTS, "as_of"]),
    (ROUTES["coin.historical"], ["now"], [*FACTS, "as_of", "market_cap_as_of"]),
    (ROUTES["coin.historical"], ["series"], fields("t priceUSD volume fundingRate")),
    (ROUTES["signal"], ["sources"], fields("risk funding regime sentiment")),
    (ROUTES["signal"], ["raw"], fields("risk funding regime sentiment")),
    (ROUTES["signal"], ["rules"], fields("id input value threshold contribution evidence flips_at")),
    (ROUTES["signal"], ["ruleset"], fields("name version digest")),
    (ROUTES["signal"], ["confidence_basis"], fields("coverage agreement explanation")),
    (ROUTES["signal"], ["claims"], fields(
        "days target probability base_rate skill skill_low skill_high days_seen fitted_until method reason"
    )),
    (ROUTES["signal"], ["record"], fields("backtested live entries head")),
    (ROUTES["signal"], ["record", "live"], fields("all_coins this_coin")),
    (ROUTES["signal"], ["record", "live", "all_coins"], fields(
        "days days_seen outcomes hit_rate hit_rate_low hit_rate_high base_rate mean_move_pct says"
    )),
    (ROUTES["category.sentiment"], ["coins"], fields("symbol stance score")),
    (ROUTES["category.info"], ["coins"], fields(
        "symbol name price change_24h market_cap trend_daily streak_days changes_from",
    )),
    (ROUTES["category.info"], ["trends"], COUNTS),
    ("regime", ["market"], fields("regime since age_days conviction")),
    ("regime", ["positions"], POSITION),
    ("regime?action=signals", ["signals"], fields("symbol regime direction conviction firedAt reasons")),
    ("regime?action=confidence", ["coins"], fields("symbol regime confidence")),
    (ROUTES["rwa.symbol"], ["funding"], fields("rate interval_hours apr belongs_to")),
    ("rwa/assets", ["assets"], fields("id symbol name assetType venue")),
    ("market/health", ["trends"], COUNTS),
    ("market/health", ["breadth_pct"], COUNTS),
    ("funding/alerts", ["events"], fields(
        "id asset triggerZone fundingAtTrigger percentile interval_hours firedAt clearedAt price"
    )),
    ("funding/alerts", ["meta"], fields("total next_cursor")),
]  # fmt: skip


@pytest.mark.promise(
    "envelope.success", "envelope.order", "envelope.nothing-else", "fixtures.header", "headers.no-store"
)
@pytest.mark.parametrize("target", ALL)
def test_every_answer_is_an_envelope_of_data_and_their_age(market: Whole, target: str) -> None:
    reply = market.pro.ask(target)
    assert reply.status == 200
    assert list(reply.body) == ["schemaVersion", "data", "meta"]
    assert list(reply.body["meta"]) == ["ts", "as_of", "data_age_seconds"]
    assert reply.fields["content-type"] == "application/json"
    assert reply.fields["cache-control"] == "private, no-store"
    assert reply.fields["x-data-source"] == "fixtures"
    assert len(reply.raw) == int(reply.fields["content-length"])


@pytest.mark.promise(
    "historical.payload", "category.sentiment-payload", "category.info-payload", "regime.active", "regime.signals",
    "regime.confidence", "regime.history", "rwa.symbol-payload", "rwa.assets-payload", "health.payload", "health.flag",
    "alerts.payload", "risk.more-fields", "signal.payload",
)  # fmt: skip
@pytest.mark.parametrize("target", PAYLOADS)
def test_a_payload_has_the_contracts_fields_in_its_order(market: Whole, target: str) -> None:
    assert list(market.pro.data(target)) == PAYLOADS[target]


@pytest.mark.parametrize(("target", "path", "names"), ROWS, ids=[f"{target} {path[0]}" for target, path, _ in ROWS])
def test_what_is_in_a_payload_has_the_contracts_fields_too(
    market: Whole, target: str, path: list[str], names: list[str]
) -> None:
    found = market.pro.data(target)
    for step in path:
        found = found[step]
    rows = found if isinstance(found, list) else [found]
    assert rows
    assert all(list(row) == names for row in rows)


@pytest.mark.promise("crossing.array", "crossing.payload")
def test_crossings_are_always_an_array_and_an_empty_one_says_why(market: Whole) -> None:
    said = market.pro.data("market/crossing")
    assert list(said) == (["crossings"] if said["crossings"] else ["crossings", "message"])
    for crossing in said["crossings"]:
        assert list(crossing) == fields("id up down direction at previous current universe")
        assert list(crossing["previous"]) == list(crossing["current"]) == COUNTS


@pytest.mark.promise("risk.sentiment", "numbers.null")
def test_a_coin_that_everything_is_known_of_has_nothing_stale(market: Whole) -> None:
    said = market.pro.data("coin/risk/BTC")
    assert said["_stale_fields"] == []
    assert None not in said.values()
    assert said["sentiment_summary"].startswith(said["sentiment_stance"].capitalize())


AGES = {
    "coin/risk/BTC": NOW,
    "coin/historical/BTC": LAST_HOUR,
    "coin/historical/BTC?unit=d": LAST_CLOSE,
    "signal/BTC": LAST_CLOSE,
    f"category/info/{L1}": NOW,
    **dict.fromkeys(REGIMES, LAST_CLOSE),
    "rwa/symbol/AAPL": NOW,
    "rwa/symbol/xyz:GOLD": NOW,
    "rwa/assets": NOW,
    "market/health": LAST_CLOSE,
    "market/health?context=1": LAST_CLOSE,
    "market/crossing": LAST_CLOSE,
    "funding/alerts": NOW,
}


@pytest.mark.promise(
    "historical.as-of", "category.info-as-of", "regime.as-of", "rwa.symbol-as-of", "health.as-of", "crossing.as-of",
    "alerts.as-of", "signal.as-of", "time.as-of-oldest", "time.age", "time.iso",
)  # fmt: skip
@pytest.mark.parametrize("target", AGES)
def test_an_answer_is_as_old_as_its_oldest_live_input(market: Whole, target: str) -> None:
    meta = market.pro.whole(target)["meta"]
    age_s = (parse_iso(END) - parse_iso(AGES[target])) // 1000
    assert meta == {"ts": END, "as_of": AGES[target], "data_age_seconds": age_s}


@pytest.mark.promise("category.sentiment-as-of")
def test_sentiment_is_as_old_as_the_newest_item_of_all(market: Whole) -> None:
    said = [market.pro.whole(f"category/sentiment/{escaped(name)}") for name in category_names()]
    (as_of,) = {answer["meta"]["as_of"] for answer in said}
    newest = max(filter(None, (answer["data"]["provenance"]["newest_at"] for answer in said)))
    assert newest <= as_of <= END
    assert parse_iso(END) - parse_iso(as_of) < 24 * 3600 * 1000


def _with_backtest(caller: Caller, target: str) -> Reply:
    """The answer once past verdicts have been recomputed."""
    wait_until(lambda: caller.ask(target).body["data"]["record"]["backtested"] is not None)
    return caller.ask(target)


@pytest.mark.promise("fixtures.frozen")
def test_a_frozen_replay_gives_the_same_bytes_at_every_start(market: Whole, tmp_path: Path) -> None:
    targets = [*ALL, *(f"category/sentiment/{escaped(name)}" for name in category_names())]
    with whole_market(tmp_path, replay="frozen") as again:
        for target in targets:
            first, second = market.pro.ask(target), again.pro.ask(target)
            if target in {"funding/alerts", "transcripts"}:  # a secret of the data folder signs their cursors
                first.body["data"]["meta"]["next_cursor"] = second.body["data"]["meta"]["next_cursor"]
                assert first.body == second.body
            elif target == ROUTES["signal"]:  # where it stands in the ledger depends on what was asked before
                first, second = (_with_backtest(each.pro, target) for each in (market, again))
                for said in (first, second):
                    del said.body["data"]["record"]["entries"], said.body["data"]["record"]["head"]
                assert first.body == second.body
            else:
                assert first.raw == second.raw, target


@pytest.mark.promise("documents.openapi", "regime.actions")
@pytest.mark.parametrize(
    ("offer", "target"),
    [
        *ROUTES.items(),
        *(("regime", target) for target in REGIMES),
        *(("walkforward", target) for target in WALKFORWARD),
    ],
)
def test_an_answer_is_what_the_document_says_it_is(market: Whole, offer: str, target: str) -> None:
    assert found_wrong(spec_of(market), offer, 200, market.pro.whole(target)) == []


def test_the_document_would_tell_a_wrong_answer_from_a_right_one(market: Whole) -> None:
    spec = spec_of(market)
    for offer, target in ROUTES.items():
        whole = market.pro.whole(target)
        del whole["data"][next(iter(whole["data"]))]
        assert found_wrong(spec, offer, 200, whole)


@pytest.mark.promise("documents.openapi")
@pytest.mark.parametrize("offer", PRICED)
def test_a_refusal_is_what_the_document_says_it_is_too(market: Whole, offer: str) -> None:
    reply = market.pro.ask(f"{PRICED[offer].partition('?')[0]}?nonsense=1")
    assert (reply.status, reply.code) == (400, "BAD_REQUEST")
    assert found_wrong(spec_of(market), offer, 400, reply.body) == []


def spec_of(market: Whole) -> Any:
    return market.service.ask("/openapi.json")[2]


def found_wrong(spec: Any, offer: str, status: int, body: object) -> list[str]:
    """What the documented schema finds wrong with an answer."""
    given = spec["paths"][OFFER[offer].path]["get"]["responses"][str(status)]
    if "$ref" in given:
        given = spec["components"]["responses"][given["$ref"].rpartition("/")[2]]
    schema = given["content"]["application/json"]["schema"]
    validator = jsonschema_rs.Draft202012Validator({**schema, "components": spec["components"]})
    return [error.message for error in validator.iter_errors(body)]
