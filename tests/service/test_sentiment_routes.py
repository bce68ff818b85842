"""`coin/sentiment`, `sentiment` and `narratives` over HTTP: types, metering, refusals, and what a person sees."""

from typing import Any

import pytest

from tests.fakes.printer import printed
from tests.service.asking import Whole

pytestmark = pytest.mark.process

VIEWS = {
    "sentiment": ["success", "data"],
    "sentiment?action=latest": ["success", "data"],
    "sentiment?action=narratives": [
        "success", "interval", "total_count", "freshness_score", "sources", "attention_state"
    ],
    "sentiment?action=categories": ["success", "interval", "total_count", "categories"],
    "sentiment?action=health": ["ok", "checks"],
    "sentiment?action=slopes": ["snapshot_hour", "count", "categories"],
    "sentiment?action=entity-slopes": ["snapshot_hour", "count", "entities"],
    "sentiment?action=coin&symbol=btc": ["success", "symbol", "data"],
    "sentiment?action=category&name=Meme": ["success", "data"],
    "sentiment?action=narrative&name=perpetuals": ["success", "data"],
    "coin/sentiment/btc": ["success", "symbol", "data"],
    "narratives": [
        "success", "interval", "periods_back", "total_count", "analysis_type", "cache_age_minutes", "freshness_config",
        "surfaces", "narratives",
    ],
}  # fmt: skip


@pytest.mark.promise("mood.types")
@pytest.mark.parametrize("target", VIEWS)
def test_each_view_has_its_fields_in_their_order(market: Whole, target: str) -> None:
    assert list(market.pro.data(target)) == VIEWS[target]


@pytest.mark.promise("mood.types")
def test_fields_have_the_types_that_clients_enforce(market: Whole) -> None:
    coin: dict[str, Any] = market.pro.data("coin/sentiment/BTC")
    assert [type(coin[name]) for name in ("success", "symbol", "data")] == [bool, str, dict]
    for target in VIEWS:
        said = market.pro.data(target)
        assert isinstance(said.get("success", True), bool)
        if target in {"sentiment", "sentiment?action=latest"}:
            assert isinstance(said["data"], list)
    told = market.pro.data("narratives")
    assert [type(told[name]) for name in VIEWS["narratives"]] == [
        bool, str, int, int, str, int, dict, dict, list
    ]  # fmt: skip


@pytest.mark.promise("mood.types")
def test_a_person_sees_stance_and_score_of_a_coin(market: Whole) -> None:
    item = market.pro.data("coin/sentiment/BTC")["data"]
    seen = printed("coin/sentiment/BTC", market.pro.data("coin/sentiment/BTC"))
    assert item["stance"] in seen
    assert item["summary"][:20] in seen
    summary = printed("sentiment", market.pro.data("sentiment?action=summary"))
    assert market.pro.data("sentiment?action=summary")["summary"][:20] in summary


@pytest.mark.promise("category.sentiment-payload")
def test_a_person_sees_stance_score_summary_and_coins_of_a_category(market: Whole) -> None:
    said = market.pro.data("category/sentiment/Layer%201%20(L1)")
    seen = printed("category/sentiment/Layer 1 (L1)", said)
    assert said["stance"] in seen
    assert str(said["score"]) in seen
    assert said["summary"][:40] in seen
    assert all(coin["symbol"] in seen for coin in said["coins"])


@pytest.mark.promise("mood.types", "narratives.payload")
def test_a_person_sees_narratives_with_their_counts(market: Whole) -> None:
    for target in ("narratives", "sentiment?action=narratives"):
        said = market.pro.data(target)
        seen = printed(target, said)
        assert "Perpetuals" in seen
        assert "mentions" in seen
        assert "1d" in seen.splitlines()[0]


@pytest.mark.promise("mood.unknown", "mood.parameters", "narratives.unknown")
@pytest.mark.parametrize(
    ("target", "status", "code"),
    [
        ("sentiment?action=nope", 400, "BAD_REQUEST"),
        ("sentiment?action=coin", 400, "BAD_REQUEST"),
        ("sentiment?action=category", 400, "BAD_REQUEST"),
        ("sentiment?action=narrative", 400, "BAD_REQUEST"),
        ("sentiment?symbol=BTC", 400, "BAD_REQUEST"),
        ("sentiment?top=5", 400, "BAD_REQUEST"),
        ("sentiment?action=coin&symbol=NOWHERE", 404, "UNKNOWN_SYMBOL"),
        ("sentiment?action=category&name=meme", 404, "UNKNOWN_CATEGORY"),
        ("sentiment?action=narrative&name=perpetual", 404, "NOT_FOUND"),
        ("coin/sentiment/NOWHERE", 404, "UNKNOWN_SYMBOL"),
        ("coin/sentiment/BTC?x=1", 400, "BAD_REQUEST"),
        ("narratives?name=x", 400, "BAD_REQUEST"),
    ],
)
def test_what_cannot_be_answered_is_refused(market: Whole, target: str, status: int, code: str) -> None:
    reply = market.pro.ask(target)
    assert (reply.status, reply.code) == (status, code)
    if status == 404:
        assert reply.body["error"]["details"]["candidates"]
    if target == "sentiment?action=nope":
        assert reply.body["error"]["details"]["allowed"] == [
            "market", "latest", "summary", "narratives", "categories", "health", "slopes", "entity-slopes", "coin",
            "category", "narrative",
        ]  # fmt: skip
