"""The risk context: what is said, what is named stale, what is null."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from service.market.coin_state import RiskAssessment, assess_risk
from service.market.models import CoinChart, MarketState, Quote
from service.market.symbols import canonical
from service.storage.documents import FetchFailure
from service.wire.envelope import encode
from service.wire.sentiment import NO_MOOD, Mood

NOW = 1_753_444_800_000
CHART = CoinChart(NOW - 12 * HOUR_MS, "UP", NOW - 5 * DAY_MS, "DOWN", NOW - 30 * DAY_MS, 0.75)


def quote(
    price: float | None = 100.5, funding: float | None = 0.0000125, symbol: str = "SOL", at_ms: int = NOW
) -> Quote:
    return Quote(symbol, canonical(symbol), 1.0, price, None if price is None else at_ms, funding,
                 None if funding is None else at_ms)  # fmt: skip


def assess(
    quote: Quote,
    chart: CoinChart = CHART,
    now_ms: int = NOW,
    failure: FetchFailure | None = None,
    quotes_ms: int = NOW,
    mood: Mood = NO_MOOD,
) -> RiskAssessment:
    state = MarketState("test", 1, quotes_ms, None, failure, None if failure else "hyperliquid")
    return assess_risk(quote, chart, state, mood, now_ms)


def stale(risk: RiskAssessment) -> list[str]:
    assert risk.context is not None
    return risk.context._stale_fields


@pytest.mark.promise("risk.fields", "risk.more-fields")
def test_fresh_data_are_said_in_the_contracts_order() -> None:
    risk = assess(quote())
    assert encode(risk.context) == (
        b'{"symbol":"SOL","price":100.5,"funding_apr":10.95,"trend_daily":"UP","trend_weekly":"DOWN",'
        b'"sentiment_stance":null,"btc_correlation":0.75,"_stale_fields":["sentiment_stance"],'
        b'"trend_daily_since":"2025-07-20T12:00:00.000Z","trend_weekly_since":"2025-06-25T12:00:00.000Z",'
        b'"funding_paying_side":"longs","funding_receiving_side":"shorts","carry_if_long":-10.95,"carry_if_short":10.95,'
        b'"sentiment_summary":null,"venue":"hyperliquid"}'
    )
    assert risk.as_of_ms == NOW


def test_a_ticker_the_venue_writes_otherwise_says_how() -> None:
    context = assess(quote(symbol="kPEPE")).context
    assert context is not None
    assert (context.symbol, context.venue_symbol, context.contract_size) == ("PEPE", "kPEPE", 1_000)


@pytest.mark.promise("risk.apr-formula", "risk.more-fields")
@pytest.mark.parametrize(
    ("funding", "apr", "paying", "receiving", "carry_if_long"),
    [
        (0.0000125, 10.95, "longs", "shorts", -10.95),
        (-0.00001, -8.76, "shorts", "longs", 8.76),
        (0.0, 0.0, None, None, 0.0),
        (-0.0, 0.0, None, None, 0.0),
        (-1e-12, 0.0, "shorts", "longs", 0.0),
        (0.00004567891, 40.0147, "longs", "shorts", -40.0147),
    ],
)
def test_who_pays_follows_the_sign_of_the_unrounded_rate(
    funding: float, apr: float, paying: str | None, receiving: str | None, carry_if_long: float
) -> None:
    context = assess(quote(funding=funding)).context
    assert context is not None
    assert (context.funding_apr, context.carry_if_short, context.carry_if_long) == (apr, apr, carry_if_long)
    assert (context.funding_paying_side, context.funding_receiving_side) == (paying, receiving)
    assert b"-0.0," not in encode(context)


@pytest.mark.promise("risk.correlation")
def test_bitcoin_is_correlated_with_itself_whatever_its_bars_say() -> None:
    for chart in (CoinChart(), CHART, CoinChart(NOW - 40 * HOUR_MS)):
        context = assess(quote(symbol="BTC"), chart).context
        assert context is not None
        assert context.btc_correlation == 1
        assert "btc_correlation" not in context._stale_fields


@pytest.mark.promise("risk.stale-fields", "time.as-of-honest")
def test_a_failed_refresh_names_price_and_funding_at_once_and_keeps_them() -> None:
    risk = assess(
        quote(at_ms=NOW - 15 * SECOND_MS), quotes_ms=NOW - 15 * SECOND_MS, failure=FetchFailure(NOW, 500, "no")
    )
    assert stale(risk) == ["price", "funding_apr", "sentiment_stance"]
    assert risk.context is not None
    assert (risk.context.price, risk.as_of_ms) == (100.5, NOW - 15 * SECOND_MS)


@pytest.mark.promise("risk.stale-fields", "risk.live-inputs", "time.as-of-oldest")
def test_a_field_that_the_newest_answer_lacked_is_named_alone_and_dates_the_whole() -> None:
    older = msgspec.structs.replace(quote(), funding_ms=NOW - 15 * SECOND_MS)
    risk = assess(older)
    assert stale(risk) == ["funding_apr", "sentiment_stance"]
    assert risk.as_of_ms == NOW - 15 * SECOND_MS


@pytest.mark.promise("risk.fall-back-venue")
def test_a_fall_back_that_brings_a_field_keeps_it_fresh_and_is_named_and_what_it_lacks_is_stale() -> None:
    earlier = NOW - 15 * SECOND_MS
    state = MarketState("test", 1, NOW, None, FetchFailure(NOW, 500, "no"), "binance")
    brought = msgspec.structs.replace(quote(), venue="binance", funding_ms=earlier)
    context = assess_risk(brought, CHART, state, NO_MOOD, NOW).context
    assert context is not None
    assert (context.venue, context._stale_fields) == ("binance", ["funding_apr", "sentiment_stance"])
    lacking = assess_risk(quote(at_ms=earlier), CHART, state, NO_MOOD, NOW).context
    assert lacking is not None
    assert (lacking.venue, lacking._stale_fields[:2]) == ("hyperliquid", ["price", "funding_apr"])


MOOD = Mood("euphoria", "Everybody is delighted.", NOW - HOUR_MS)


@pytest.mark.promise("risk.sentiment")
def test_a_mood_is_said_and_not_named() -> None:
    context = assess(quote(), mood=MOOD).context
    assert context is not None
    assert (context.sentiment_stance, context.sentiment_summary) == ("euphoria", "Everybody is delighted.")
    assert context._stale_fields == []
    assert assess(quote(), mood=MOOD).as_of_ms == NOW


@pytest.mark.promise("risk.sentiment", "risk.stale-limit")
def test_an_old_mood_is_named_when_its_room_says_so_and_null_after_two_days() -> None:
    named = assess(quote(), mood=msgspec.structs.replace(MOOD, stale=True)).context
    assert named is not None
    assert (named.sentiment_stance, named._stale_fields) == ("euphoria", ["sentiment_stance"])
    later = MOOD.observed_ms + 48 * HOUR_MS if MOOD.observed_ms else 0
    for now_ms, stance in ((later, "euphoria"), (later + 1, None)):
        context = assess(quote(at_ms=now_ms), now_ms=now_ms, quotes_ms=now_ms, mood=MOOD).context
        assert context is not None
        assert (context.sentiment_stance, context.sentiment_summary is None) == (stance, stance is None)
        assert ("sentiment_stance" in context._stale_fields) is (stance is None)


def test_rounds_that_were_missed_name_price_and_funding() -> None:
    later = NOW + 45 * SECOND_MS
    assert stale(assess(quote(), now_ms=later)) == ["sentiment_stance"]
    assert stale(assess(quote(), now_ms=later + 1)) == ["price", "funding_apr", "sentiment_stance"]


@pytest.mark.promise("risk.stale-limit")
def test_past_ten_minutes_one_of_the_two_is_null_and_the_other_dates_the_answer() -> None:
    risk = assess(msgspec.structs.replace(quote(), price_ms=NOW - 10 * MINUTE_MS - 1))
    assert risk.context is not None
    assert (risk.context.price, risk.context.funding_apr) == (None, 10.95)
    assert risk.as_of_ms == NOW
    assert stale(risk) == ["price", "sentiment_stance"]


@pytest.mark.parametrize("lost", [quote(None, None), quote(at_ms=NOW - 10 * MINUTE_MS - 1)], ids=["never", "too old"])
def test_without_price_and_funding_nothing_is_said(lost: Quote) -> None:
    assert assess(lost).context is None


def test_a_price_alone_is_said_without_funding() -> None:
    context = assess(quote(funding=None)).context
    assert context is not None
    assert (context.price, context.funding_apr, context.carry_if_long, context.carry_if_short) == (
        100.5,
        None,
        None,
        None,
    )
    assert context._stale_fields == ["funding_apr", "sentiment_stance"]


@pytest.mark.promise("risk.stale-limit")
def test_old_charts_are_named_then_null() -> None:
    through = NOW - DAY_MS - 15 * MINUTE_MS
    charts = msgspec.structs.replace(CHART, through_ms=through)
    named = ["trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation"]
    assert stale(assess(quote(), charts)) == ["sentiment_stance"]
    risk = assess(quote(), msgspec.structs.replace(charts, through_ms=through - 1))
    assert stale(risk) == named
    assert risk.context is not None
    assert risk.context.trend_daily == "UP"
    risk = assess(quote(), msgspec.structs.replace(CHART, through_ms=NOW - 48 * HOUR_MS - 1))
    assert stale(risk) == named
    assert risk.context is not None
    assert (risk.context.trend_daily, risk.context.trend_daily_since, risk.context.btc_correlation) == (
        None,
        None,
        None,
    )


@pytest.mark.promise("numbers.null")
@given(
    st.tuples(*[st.none() | st.integers(NOW - 3 * DAY_MS, NOW)] * 4),
    st.none() | st.floats(-1, 1, allow_nan=False),
    st.integers(NOW - 3 * DAY_MS, NOW + 3 * DAY_MS),
    st.integers(NOW - 3 * DAY_MS, NOW + 3 * DAY_MS),
    st.booleans(),
)
def test_an_answer_is_the_same_throughout_its_span_and_names_every_null(
    times: tuple[int | None, int | None, int | None, int | None],
    funding: float | None,
    one_ms: int,
    other_ms: int,
    failed: bool,
) -> None:
    price_ms, funding_ms, through_ms, felt_ms = times
    mood = NO_MOOD if felt_ms is None else msgspec.structs.replace(MOOD, observed_ms=felt_ms, stale=failed)
    rate = None if funding_ms is None else funding or 0.0
    made = Quote("X", "X", 1.0, None if price_ms is None else 5.0, price_ms, rate, funding_ms)
    chart = CHART if through_ms is None else msgspec.structs.replace(CHART, through_ms=through_ms)
    failure = FetchFailure(NOW, None, "") if failed else None
    risk = assess(made, chart, one_ms, failure, mood=mood)
    assert risk.since_ms <= one_ms < risk.until_ms
    if risk.since_ms <= other_ms < risk.until_ms:
        assert assess(made, chart, other_ms, failure, mood=mood) == risk
    if risk.context is not None:
        said = msgspec.to_builtins(risk.context)
        named = ("price", "funding_apr", "trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation")
        assert {field for field in named if said[field] is None} <= set(said["_stale_fields"]) <= set(named)
        assert min(t for t in (price_ms, funding_ms) if t is not None) <= risk.as_of_ms
