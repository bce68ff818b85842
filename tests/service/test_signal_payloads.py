"""Verdicts on a whole market, over HTTP: each follows from its own inputs, and these are what other routes say."""

import json
from pathlib import Path

import pytest

from service.clock import parse_iso
from service.market.symbols import canonical
from tests.service.asking import Reply, Whole
from tests.service.test_market_metering import left
from tests.service.verdicts import SOURCES, bare, check, is_finite, recomputes, verify_apart
from tests.upstream.conftest import FIXTURES

pytestmark = pytest.mark.process


def listed() -> list[str]:
    """The tickers of the recording's perpetuals that are traded."""
    meta, _ = json.loads((FIXTURES / "hyperliquid" / "metaAndAssetCtxs.json").read_bytes())
    return [canonical(row["name"]) for row in meta["universe"] if not row.get("isDelisted")]


@pytest.fixture(scope="module")
def replies(market: Whole) -> dict[str, Reply]:
    """The verdict on every listed coin."""
    told = {coin: market.pro.ask(f"signal/{coin}") for coin in listed()}
    assert {reply.status for reply in told.values()} == {200}
    assert len(told) > 50
    return told


@pytest.mark.promise("signal.payload", "signal.rules", "signal.scale", "numbers.finite")
def test_every_coins_verdict_is_the_sum_of_its_rules(replies: dict[str, Reply]) -> None:
    for coin, reply in replies.items():
        said = reply.body["data"]
        assert said["symbol"] == coin
        assert is_finite(reply.body)
        check(said)
    assert {reply.body["data"]["verdict"] for reply in replies.values()} >= {"strong-bull", "bull", "neutral"}


@pytest.mark.promise("signal.sources", "signal.fan-out")
def test_where_everything_is_up_every_source_is_fulfilled(replies: dict[str, Reply]) -> None:
    fulfilled = [(source, "fulfilled") for source in SOURCES]
    assert [coin for coin, reply in replies.items() if list(reply.body["data"]["sources"].items()) != fulfilled] == []


@pytest.mark.promise("signal.verdict-id", "signal.verify")
def test_every_answer_as_it_came_recomputes_to_the_same_verdict(replies: dict[str, Reply], tmp_path: Path) -> None:
    assert all(recomputes(reply.raw, tmp_path / "answer.json") for reply in replies.values())
    identities = {reply.body["data"]["verdict_id"] for reply in replies.values()}
    assert len(identities) == len(replies)


@pytest.mark.promise("signal.verify")
def test_the_command_finds_an_answer_the_same_with_its_envelope_or_bare_and_a_changed_one_not(
    replies: dict[str, Reply], tmp_path: Path
) -> None:
    path = tmp_path / "answer.json"
    path.write_bytes(replies["BTC"].raw)
    for done in (verify_apart(b"", str(path)), verify_apart(bare(replies["ETH"].raw))):
        assert done.returncode == 0, done
        assert b"Unchanged: every field of the verdict and its verdict_id match." in done.stdout
    changed = json.loads(replies["BTC"].raw)
    changed["data"]["raw"]["risk"]["price"] += 0.5
    other = verify_apart(json.dumps(changed).encode())
    assert other.returncode == 1
    assert b"verdict_id" in other.stdout


@pytest.mark.promise("signal.fan-out", "signal.as-of", "time.as-of-oldest")
@pytest.mark.parametrize("coin", ["BTC", "ETH", "DOGE", "PEPE"])
def test_a_verdict_rests_on_what_the_other_routes_say(market: Whole, replies: dict[str, Reply], coin: str) -> None:
    whole = replies[coin].body
    said, raw = whole["data"], whole["data"]["raw"]
    risk = market.pro.data(f"coin/risk/{coin}")
    for field in ("price", "funding_apr", "trend_daily", "trend_weekly", "btc_correlation"):
        assert raw["risk"][field] == risk[field], field
    assert raw["risk"]["stale_fields"] == risk["_stale_fields"] == []
    assert (raw["sentiment"]["stance"], raw["sentiment"]["summary"]) == (
        risk["sentiment_stance"],
        risk["sentiment_summary"],
    )
    assert raw["regime"]["market"] == market.pro.data("regime")["market"]["regime"]
    (own,) = market.pro.data(f"regime?action=confidence&symbol={coin}")["coins"]
    assert (raw["regime"]["coin"], raw["regime"]["coin_confidence"]) == (own["regime"], own["confidence"])
    points = market.pro.data(f"coin/historical/{coin}?count=168")["series"]
    rates = [point["fundingRate"] for point in points]
    assert None not in rates
    assert raw["funding"]["apr_24h"] == pytest.approx(sum(rates[-24:]) / 24, abs=2e-4)
    assert raw["funding"]["apr_7d"] == pytest.approx(sum(rates) / 168, abs=2e-4)
    observed = [raw[source]["observed_at"] for source in SOURCES] + [raw["risk"]["charted_at"]]
    assert said["as_of"] == whole["meta"]["as_of"] == min(observed)
    assert parse_iso(said["as_of"]) <= parse_iso(whole["meta"]["ts"])


@pytest.mark.promise("errors.candidates", "meter.errors-free", "meter.order")
def test_an_unknown_coin_is_told_with_candidates_and_costs_nothing_also_once_the_quota_is_spent(market: Whole) -> None:
    free = market.caller(market.service.make_key())
    for target in ("signal/BTCC", "signal/BTCC?as_of=2025-07-25T12:00:00Z"):
        refused = free.ask(target)
        assert (refused.status, refused.code) == (404, "UNKNOWN_SYMBOL")
        assert "BTC" in refused.body["error"]["details"]["candidates"]
        assert free.ask(target, "HEAD").status == 404
    assert [left(free.ask("signal/BTC").fields) for _ in range(10)] == list(range(9, -1, -1))
    for target in ("signal/BTCC", "signal/BTCC?as_of=2025-07-25T12:00:00Z", "signal/MATIC"):
        assert free.ask(target).code == "UNKNOWN_SYMBOL"
    assert free.ask("signal/BTC?as_of=2099-01-01T00:00:00Z").code == "BAD_REQUEST"
    assert free.ask("signal/BTC").code == "PAYMENT_REQUIRED"


def test_while_nothing_changes_a_verdict_is_the_same_to_the_byte_whoever_asks(market: Whole) -> None:
    callers = (market.pro, market.caller(market.service.make_key("--tier", "access")))
    assert len({caller.ask("signal/SOL").raw for caller in callers for _ in range(3)}) == 1
