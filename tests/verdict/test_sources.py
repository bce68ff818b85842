"""What each source tells of a coin, when that is stale, and when there is nothing to tell."""

import math

import msgspec
import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, iso
from service.errors import ServiceError
from service.market.models import CoinChart
from service.storage.documents import FetchFailure
from service.wire.verdict import FundingFacts, RegimeFacts, RiskFacts, SentimentFacts
from tests.fakes.clock import START_MS
from tests.verdict.knowing import CLOSE_MS, HEARD_MS, MOMENT, MOOD, PAID_MS, PRICE, UP, World, concluded, quote

FIELDS = ["price", "funding_apr", "trend_daily", "trend_weekly", "btc_correlation"]


async def test_risk_tells_price_funding_and_trends_dated_by_the_oldest_of_them(world: World) -> None:
    told = await world.sources.risk("PEPE")
    assert told.facts == RiskFacts(iso(START_MS), PRICE, 10.95, iso(CLOSE_MS), "UP", "UP", 0.5, [])
    assert (told.observed_ms, told.stale) == (CLOSE_MS, False)


@pytest.mark.slow
@pytest.mark.parametrize("age_s", [0, 44, 46, 599, 601])
@pytest.mark.parametrize("charted", [0, DAY_MS + 16 * MINUTE_MS, 3 * DAY_MS])
@pytest.mark.parametrize("failing", [False, True])
async def test_risk_names_stale_what_the_risk_route_does(world: World, age_s: int, charted: int, failing: bool) -> None:
    world.charts["BTC"] = replace(UP, through_ms=START_MS - charted)
    world.quotes["BTC"] = replace(quote("BTC"), funding_ms=START_MS - age_s * SECOND_MS)
    if failing:
        world.state = replace(world.state, venue=None)
    world.show(failure=FetchFailure(START_MS, 500, "no") if failing else None)
    answer = world.coins.risk("BTC", world.sentiment.mood)
    assert isinstance(answer.data, msgspec.Raw)
    context = msgspec.json.decode(bytes(answer.data))
    facts = (await world.sources.risk("BTC")).facts
    assert facts.stale_fields == [field for field in context["_stale_fields"] if field in FIELDS]
    assert {field: getattr(facts, field) for field in FIELDS} == {field: context[field] for field in FIELDS}
    assert facts.observed_at == iso(answer.as_of_ms or 0)


async def test_stale_momentary_funding_alone_leaves_risk_fulfilled_as_no_rule_reads_it(world: World) -> None:
    world.quotes["BTC"] = replace(quote("BTC"), funding_ms=START_MS - MINUTE_MS)
    world.show()
    told = await world.sources.risk("BTC")
    assert (told.stale, told.facts.stale_fields) == (False, ["funding_apr"])


async def test_risk_is_stale_where_the_price_could_not_be_refreshed(world: World) -> None:
    world.quotes["BTC"] = replace(quote("BTC"), funding_ms=START_MS - MINUTE_MS)
    world.show()
    world.clock.set_wall(START_MS + 10 * MINUTE_MS)
    gone = await world.sources.risk("BTC")
    assert (gone.stale, gone.facts.funding_apr, gone.facts.price) == (True, None, PRICE)


async def test_risk_is_stale_where_its_trends_are_past_their_limit_and_then_they_date_nothing(world: World) -> None:
    world.charts["BTC"] = replace(UP, through_ms=START_MS - 3 * DAY_MS)
    world.show()
    told = await world.sources.risk("BTC")
    assert (told.stale, told.observed_ms) == (True, START_MS)
    assert (told.facts.trend_daily, told.facts.trend_weekly, told.facts.charted_at) == (None, None, None)


async def test_a_young_coins_missing_trend_is_unknown_and_not_stale(world: World) -> None:
    world.charts["BTC"] = CoinChart(CLOSE_MS, "UP", CLOSE_MS)
    world.charts["ETH"] = CoinChart(CLOSE_MS)
    world.show()
    younger, youngest = await world.sources.risk("BTC"), await world.sources.risk("ETH")
    assert (younger.stale, younger.facts.stale_fields) == (False, ["trend_weekly"])
    assert younger.observed_ms == CLOSE_MS
    assert (youngest.stale, youngest.observed_ms, youngest.facts.charted_at) == (False, START_MS, iso(CLOSE_MS))


async def test_a_stale_correlation_alone_leaves_the_source_fulfilled_as_no_rule_looks_at_it(world: World) -> None:
    world.charts["ETH"] = replace(UP, btc_correlation=None)
    world.show()
    told = await world.sources.risk("ETH")
    assert (told.stale, told.facts.stale_fields) == (False, ["btc_correlation"])


async def test_without_price_and_funding_there_is_no_risk_context(world: World) -> None:
    world.clock.set_wall(START_MS + 10 * MINUTE_MS + 1)
    with pytest.raises(ServiceError, match="Prices"):
        await world.sources.risk("BTC")
    with pytest.raises(ServiceError) as refused:
        await world.sources.risk("VANISHED")
    assert refused.value.code == "UNKNOWN_SYMBOL"


async def test_funding_tells_what_was_paid(world: World) -> None:
    told = await world.sources.funding("BTC")
    assert told == (FundingFacts(iso(PAID_MS), 12.5, 10.95, 61.5, 720), PAID_MS, False)


@pytest.mark.parametrize(
    ("age_ms", "stale"), [(2 * HOUR_MS, False), (2 * HOUR_MS + 1, True), (3 * HOUR_MS, True), (3 * HOUR_MS + 1, None)]
)
async def test_funding_is_stale_after_two_hours_and_nothing_after_three(
    world: World, age_ms: int, stale: bool | None
) -> None:
    await world.pay({"BTC": replace(MOMENT, newest_ms=START_MS - age_ms)})
    if stale is None:
        with pytest.raises(ServiceError, match="Payments of funding of BTC"):
            await world.sources.funding("BTC")
    else:
        assert (await world.sources.funding("BTC")).stale is stale


async def test_a_coin_without_payments_has_no_funding(world: World) -> None:
    with pytest.raises(ServiceError, match="Payments of funding of ETH"):
        await world.sources.funding("ETH")


async def test_regime_tells_the_markets_and_the_coins(world: World) -> None:
    of_btc, of_eth = await world.sources.regime("BTC"), await world.sources.regime("ETH")
    assert of_btc == (RegimeFacts(iso(CLOSE_MS), "risk-on", "risk-on", 0.9), CLOSE_MS, False)
    assert of_eth == (RegimeFacts(iso(CLOSE_MS), "risk-on", None, None), CLOSE_MS, False)


async def test_regime_is_stale_once_a_day_is_overdue_and_nothing_after_two(world: World) -> None:
    world.clock.set_wall(CLOSE_MS + DAY_MS + 15 * MINUTE_MS)
    assert (await world.sources.regime("BTC")).stale is False
    world.clock.set_wall(CLOSE_MS + DAY_MS + 15 * MINUTE_MS + 1)
    assert (await world.sources.regime("BTC")).stale is True
    world.clock.set_wall(CLOSE_MS + 2 * DAY_MS + 1)
    with pytest.raises(ServiceError, match="Regimes"):
        await world.sources.regime("BTC")


async def test_before_the_markets_regime_is_known_a_coin_may_have_one_and_without_both_there_is_nothing(
    world: World,
) -> None:
    await world.conclude(replace(concluded(), regime=None))
    assert (await world.sources.regime("BTC")).facts == RegimeFacts(iso(CLOSE_MS), None, "risk-on", 0.9)
    with pytest.raises(ServiceError, match="Regime of ETH"):
        await world.sources.regime("ETH")


async def test_sentiment_tells_the_coins_mood(world: World) -> None:
    told = await world.sources.sentiment("BTC")
    assert told == (SentimentFacts(iso(HEARD_MS), MOOD.stance, MOOD.summary), HEARD_MS, False)
    with pytest.raises(ServiceError, match="Sentiment of PEPE"):
        await world.sources.sentiment("PEPE")


async def test_sentiment_is_stale_when_its_room_says_so_and_nothing_after_two_days(world: World) -> None:
    await world.moods.fail(FetchFailure(START_MS, 500, "no"))
    assert (await world.sources.sentiment("BTC")).stale is True
    world.clock.set_wall(HEARD_MS + 48 * HOUR_MS + 1)
    with pytest.raises(ServiceError, match="Sentiment of BTC"):
        await world.sources.sentiment("BTC")


async def test_no_figure_is_a_negative_zero(world: World) -> None:
    world.quotes["BTC"] = replace(quote("BTC"), funding=-1e-15)
    world.show()
    funding = (await world.sources.risk("BTC")).facts.funding_apr
    assert funding == 0
    assert math.copysign(1, funding or 0.0) == 1
