"""The front: who is found, what is kept encoded, and what is said when nothing can be said."""

import msgspec
import pytest

from service.clock import MINUTE_MS, SECOND_MS
from service.errors import ServiceError
from service.market.models import CoinChart, MarketSnapshot, MarketState, Quote, VenueCoin
from service.market.service import MarketService
from service.market.symbols import canonical
from service.storage.documents import FetchFailure
from service.wire.envelope import encode
from service.wire.sentiment import Mood
from tests.fakes.clock import START_MS, FakeClock
from tests.market.parts import said

COINS = ("BTC", "ETH", "SOL", "kPEPE")


def snapshot(
    at_ms: int = START_MS, failure: FetchFailure | None = None, history_ms: int | None = None
) -> MarketSnapshot:
    quotes = [Quote(coin, canonical(coin), 1.0, 2.5, at_ms, 0.0000125, at_ms) for coin in COINS]
    state = MarketState("test", 7, at_ms, history_ms, failure, None if failure else "hyperliquid")
    return MarketSnapshot(state, [(quote, CoinChart()) for quote in quotes])


@pytest.fixture
def desk(clock: FakeClock) -> MarketService:
    made = MarketService(clock)
    made.show(snapshot())
    return made


@pytest.mark.promise("symbols.case")
@pytest.mark.parametrize("spelling", ["kPEPE", "PEPE", "kpepe", "KpEpE"])
def test_a_coin_is_found_in_any_case(desk: MarketService, spelling: str) -> None:
    context = said(desk, spelling)
    assert (context.symbol, context.venue_symbol) == ("PEPE", "kPEPE")


@pytest.mark.promise("errors.candidates")
@pytest.mark.parametrize("unknown", ["PEP", "BTX", "", "ß", "\uff22\uff34\uff23", "x" * 5_000])
def test_an_unknown_coin_is_refused_with_the_closest(desk: MarketService, unknown: str) -> None:
    with pytest.raises(ServiceError) as refused:
        desk.risk(unknown)
    assert refused.value.code == "UNKNOWN_SYMBOL"
    assert refused.value.details is not None
    assert set(refused.value.details["candidates"]) <= {"BTC", "ETH", "SOL", "PEPE"}  # type: ignore[call-overload]


def test_the_closest_are_named_in_the_message_too(desk: MarketService) -> None:
    with pytest.raises(ServiceError, match=r"No coin 'BTX' is listed\. The closest is BTC\."):
        desk.risk("BTX")
    with pytest.raises(ServiceError, match=r"No coin 'QQQQ' is listed\.$"):
        desk.risk("QQQQ")


async def test_an_answer_is_encoded_once_until_a_threshold_passes(desk: MarketService, clock: FakeClock) -> None:
    first = desk.risk("SOL")
    await clock.advance(45)
    assert desk.risk("sol") is first
    await clock.advance(0.001)
    second = desk.risk("SOL")
    assert second is not first
    assert said(desk, "SOL")._stale_fields[:2] == ["price", "funding_apr"]
    await clock.advance(500)
    assert desk.risk("SOL") is second


def test_new_data_are_encoded_anew(desk: MarketService) -> None:
    first = desk.risk("SOL")
    desk.show(snapshot())
    assert desk.risk("SOL") is not first


def test_another_mood_is_encoded_anew(desk: MarketService) -> None:
    calm, glad = Mood("neutral", "Calm.", START_MS), Mood("euphoria", "Glad.", START_MS)
    first = desk.risk("SOL", lambda _: calm)
    assert desk.risk("sol", lambda _: calm) is first
    assert b'"sentiment_stance":"euphoria"' in encode(desk.risk("SOL", lambda _: glad).data)


@pytest.mark.parametrize("spelling", ["kpepe", "1000PEPE", " PEPE "])
def test_a_spelling_finds_its_ticker(desk: MarketService, spelling: str) -> None:
    assert desk.find(spelling) == "PEPE"


def test_a_delisted_coin_is_said_to_be_gone(desk: MarketService) -> None:
    desk.show(msgspec.structs.replace(snapshot(), delisted=[VenueCoin("SOLX", "SOLX", listed=False)]))
    with pytest.raises(
        ServiceError, match=r"SOLX was delisted and is no longer traded. The closest is SOL."
    ) as refused:
        desk.find("solx")
    assert refused.value.code == "UNKNOWN_SYMBOL"


def test_before_any_coin_is_known_none_is_unknown(clock: FakeClock) -> None:
    with pytest.raises(ServiceError) as refused:
        MarketService(clock).find("BTC")
    assert refused.value.code == "UNAVAILABLE"


def test_the_same_listing_keeps_its_directory(desk: MarketService) -> None:
    before = desk.directory
    desk.show(snapshot(START_MS + 1))
    assert desk.directory is before


async def test_a_view_is_the_same_object_until_something_changes(desk: MarketService, clock: FakeClock) -> None:
    first = desk.view()
    assert list(first) == ["BTC", "ETH", "SOL", "PEPE"]
    await clock.advance(59)
    assert desk.view() is first
    await clock.advance(541.001)
    second = desk.view()
    assert (second["SOL"].price, first["SOL"].price) == (None, 2.5)
    assert desk.view() is second
    desk.show(snapshot(clock.now_ms()))
    assert desk.view()["SOL"].price == 2.5


def test_a_view_of_nothing_is_empty(clock: FakeClock) -> None:
    assert dict(MarketService(clock).view()) == {}


def test_quotes_are_those_of_the_history_asked_for(desk: MarketService) -> None:
    assert desk.quotes("test")["PEPE"].venue_symbol == "kPEPE"
    assert desk.quotes("another") == {}


async def test_a_clock_set_back_makes_an_old_answer_fresh_again(desk: MarketService, clock: FakeClock) -> None:
    await clock.advance(60)
    assert "price" in said(desk, "SOL")._stale_fields
    clock.set_wall(START_MS)
    assert "price" not in said(desk, "SOL")._stale_fields


@pytest.mark.promise("errors.retry-after")
def test_before_the_first_data_the_caller_is_asked_to_wait(clock: FakeClock) -> None:
    with pytest.raises(ServiceError) as refused:
        MarketService(clock).risk("BTC")
    assert refused.value.code == "UNAVAILABLE"
    assert int(refused.value.headers["Retry-After"]) > 0


def test_data_of_an_earlier_run_that_are_too_old_make_the_caller_wait_too(clock: FakeClock) -> None:
    desk = MarketService(clock)
    desk.show(snapshot(START_MS - 11 * MINUTE_MS))
    with pytest.raises(ServiceError) as refused:
        desk.risk("BTC")
    assert refused.value.code == "UNAVAILABLE"


@pytest.mark.promise("errors.upstream-502")
def test_a_venue_that_fails_from_the_start_is_named(clock: FakeClock) -> None:
    desk = MarketService(clock)
    desk.show(MarketSnapshot(MarketState("test", 1, failure=FetchFailure(START_MS, 403, "not from here")), []))
    with pytest.raises(ServiceError) as refused:
        desk.risk("BTC")
    assert refused.value.code == "UPSTREAM_4XX"
    assert refused.value.details == {
        "upstream": "hyperliquid",
        "upstreamStatus": 403,
        "upstreamBody": "not from here",
    }


def test_readiness_waits_for_prices_and_for_the_majors_history(clock: FakeClock) -> None:
    desk = MarketService(clock)
    assert desk.readiness() == {
        "ready": False,
        "coins": 0,
        "prices_age_seconds": None,
        "venue": None,
        "history": {"known": 0, "total": 0},
        "failing": False,
    }
    desk.show(snapshot(START_MS - 1_500))
    assert desk.readiness()["ready"] is False
    assert desk.readiness()["prices_age_seconds"] == 1
    desk.show(snapshot(START_MS + 5 * SECOND_MS, history_ms=1))
    assert desk.readiness()["ready"] is True
    assert desk.readiness()["prices_age_seconds"] == 0


def test_readiness_needs_no_history_of_a_major_that_is_not_listed(clock: FakeClock) -> None:
    desk = MarketService(clock)
    quote = Quote("SOL", "SOL", 1.0, 2.5, START_MS, 0.0, START_MS)
    btc = Quote("BTC", "BTC", 1.0, 2.5, START_MS, 0.0, START_MS)
    desk.show(
        MarketSnapshot(MarketState("test", 1, START_MS), [(quote, CoinChart()), (btc, CoinChart(through_ms=START_MS))])
    )
    assert desk.readiness()["ready"] is True
    assert desk.readiness()["history"] == {"known": 1, "total": 2}


def test_what_people_call_a_coin_suggests_it_and_finds_nothing(desk: MarketService) -> None:
    with pytest.raises(ServiceError) as before:
        desk.risk("avalanche")
    desk.set_coin_names({"SOL": "Avalanche"})
    with pytest.raises(ServiceError) as after:
        desk.risk("avalanche")
    assert (before.value.details, after.value.details) == ({"candidates": []}, {"candidates": ["SOL"]})
