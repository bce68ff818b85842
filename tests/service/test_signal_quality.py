"""`signal-quality` as a caller sees it: the record of a strategy on one coin, as the trades of the run come to it."""

import statistics
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest

from service.clock import iso
from service.market.symbols import canonical
from service.wire.walkforward import Strategy
from tests.fakes.asgi import Reply
from tests.service.indoors import Indoors, Kept
from tests.service.walking import data, records

pytestmark = pytest.mark.process

QUALITY = "/api/cli/signal-quality"
TYPES = ["mean_reversion", "trend-following", "cross-sectional-momentum", "funding-reversion", "verdict"]


@pytest.fixture
async def house(walked: Kept, tmp_path: Path) -> AsyncIterator[Indoors]:
    async with walked.reopened(tmp_path / "data") as service:
        yield service


async def ask(house: Indoors, key: str, query: str) -> Reply:
    return await house.ask(f"{QUALITY}?{query}", key=key)


@pytest.mark.promise("quality.loading")
async def test_before_the_first_run_it_says_that_none_has_finished_and_costs_nothing(
    kept: Kept, tmp_path: Path
) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        started, free = iso(house.clock.now_ms()), await house.make_key()
        for query in ("asset=BTC", "asset=BTC&signal_type=trend-following"):
            reply = await ask(house, free, query)
            assert (reply.status, reply.json["meta"]["as_of"]) == (200, started)
            told = reply.json["data"]
            assert (told["reliability_tier"], told["confidence"]) == ("INSUFFICIENT_DATA", None)
            assert "r=10" in reply.headers["ratelimit"]
            is_printed_whole(told)
            why = "No walk-forward has finished yet" if "trend" in query else "No mean-reversion strategy is run"
            assert told["message"].startswith(why)
        assert (await ask(house, free, "asset=NOWHERE")).code == "UNKNOWN_SYMBOL"


@pytest.mark.promise("quality.payload", "quality.as-of", "quality.message")
async def test_every_record_is_recounted_from_the_outcomes_that_are_published(walked: Kept, house: Indoors) -> None:
    outcomes = await records(house, walked.key, "outcomes")
    summary = (await data(house, walked.key, "outcomes", limit=1))["summary"]
    counted = 0
    for coin in (*sorted({outcome["symbol"] for outcome in outcomes} - {"MATIC"}), "matic"):
        for name in get_args(Strategy):
            reply = await ask(house, walked.key, f"asset={coin}&signal_type={name}")
            assert reply.status == 200, reply
            assert reply.json["meta"]["as_of"] == iso(walked.at_ms)
            told = reply.json["data"]
            own = [one["returnPct"] for one in outcomes if (one["symbol"], one["strategy"]) == (canonical(coin), name)]
            won, found = sum(one > 0 for one in own), told["validations"]
            assert (told["asset"], told["signal_type"], found["strategy"]) == (canonical(coin), name, name)
            assert (found["sampleSize"], found["wins"], found["trials"]) == (len(own), won, summary["trials"])
            assert (found["firstDay"], found["lastDay"]) == (summary["firstDay"], summary["lastDay"])
            assert found["winRate"] == (pytest.approx(won / len(own), abs=1e-4) if own else None)
            assert found["meanReturnPct"] == (pytest.approx(statistics.fmean(own), abs=1e-4) if own else None)
            assert (told["reliability_tier"] == "INSUFFICIENT_DATA") == (len(own) < 30)
            assert (told["confidence"] is None) == (found["sharpe"] is None) == (len(own) < 30)
            assert told["confidence"] == found["deflatedSharpe"]
            if len(own) >= 30:
                assert found["sharpe"] == pytest.approx(statistics.fmean(own) / statistics.pstdev(own), abs=1e-4)
            is_printed_whole(told)
            counted += len(own)
    assert counted == len(outcomes)


def is_printed_whole(told: dict[str, Any]) -> None:
    """The printer of other clients shows 1 to 14 scalars, then each object of 1 to 14 scalars; an array hides them."""
    sections = {name: value for name, value in told.items() if isinstance(value, dict)}
    assert list(sections) == ["validations"]
    for part in (told, sections["validations"]):
        scalars = [value for value in part.values() if value is None or isinstance(value, str | int | float)]
        assert 1 <= len(scalars) <= 14
    assert not any(isinstance(value, list) for value in (*told.values(), *sections["validations"].values()))
    assert told["message"].endswith(".")
    assert "\n" not in told["message"]


@pytest.mark.promise("quality.types", "quality.payload")
async def test_the_default_of_clients_is_answered_and_an_unknown_type_is_refused_with_the_list(
    walked: Kept, house: Indoors
) -> None:
    told = (await ask(house, walked.key, "asset=btc")).json["data"]
    assert list(told) == ["asset", "signal_type", "reliability_tier", "confidence", "validations", "message"]
    assert (told["asset"], told["signal_type"]) == ("BTC", "mean_reversion")
    assert (told["reliability_tier"], told["confidence"]) == ("INSUFFICIENT_DATA", None)
    assert told["validations"]["sampleSize"] == 0
    is_printed_whole(told)
    refused = await ask(house, walked.key, "asset=BTC&signal_type=astrology")
    assert (refused.status, refused.code) == (400, "BAD_REQUEST")
    assert refused.json["error"]["details"] == {"parameter": "signal_type", "allowed": TYPES}


@pytest.mark.promise("quality.asset", "errors.candidates")
async def test_a_missing_asset_is_400_and_an_unknown_one_404_with_candidates(walked: Kept, house: Indoors) -> None:
    free = await house.make_key()
    missing = await ask(house, free, "signal_type=trend-following")
    assert (missing.status, missing.code, missing.json["error"]["details"]["parameter"]) == (
        400,
        "BAD_REQUEST",
        "asset",
    )
    unknown = await ask(house, free, "asset=BTCC")
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_SYMBOL")
    assert "BTC" in unknown.json["error"]["details"]["candidates"]
    assert (await house.ask(key=free)).headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("quality.price", "meter.once", "quota.402", "manifest.lists-priced")
async def test_it_is_counted_once_and_costs_half_a_cent(walked: Kept, house: Indoors) -> None:
    free = await house.make_key()
    answers = [await ask(house, free, "asset=BTC") for _ in range(10)]
    assert [reply.headers["ratelimit"].split(";")[1] for reply in answers] == [f"r={left}" for left in range(9, -1, -1)]
    spent = await ask(house, free, "asset=BTC")
    assert (spent.status, spent.code) == (402, "PAYMENT_REQUIRED")
    assert spent.json["gate"]["this_query"] == {"route": "signal.quality", "price_usdc": "0.005"}
    manifest = (await house.ask("/api/cli/manifest")).json["data"]["routes"]
    (row,) = [route for route in manifest if route["id"] == "signal.quality"]
    assert (row["path"], row["price_usdc"], row["refresh_seconds"]) == (QUALITY, "0.005", 3600)
    assert [(taken["name"], taken["required"]) for taken in row["parameters"]] == [
        ("asset", True),
        ("signal_type", False),
    ]
    assert (await house.ask(f"{QUALITY}?asset=BTC")).status == 403
