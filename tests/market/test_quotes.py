"""Keeping price and funding fresh, and honest when they are not."""

from collections.abc import Mapping

import msgspec
import pytest

from service.clock import HOUR_MS, SECOND_MS
from service.errors import ServiceError
from service.market.models import Quote
from service.upstream.failures import UpstreamError
from service.upstream.websocket import Frame
from tests.fakes.clock import START_MS
from tests.market.parts import Parts
from tests.market.venue import Context, context
from tests.upstream.faults import Fault, answer, html, not_a_number, redirect, reset, too_many


async def failing_round(parts: Parts, fault: Fault) -> UpstreamError:
    parts.venue.faults.next = fault
    with pytest.raises(UpstreamError) as failed:
        await parts.quotes.round()
    parts.venue.faults.next = None
    return failed.value


async def test_a_round_brings_what_the_venue_shows(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("118000.5", "0.0000125")}
    await parts.quotes.round()
    assert parts.quotes.coins_known.is_set()
    said = parts.risk("BTC")
    assert (said.price, said.funding_apr) == (118000.5, 10.95)
    assert parts.desk.risk("BTC").as_of_ms == START_MS


async def test_the_next_round_brings_the_next_price(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    first = parts.desk.risk("BTC")
    await parts.clock.advance(15)
    parts.venue.contexts = {"BTC": context("2.0")}
    await parts.quotes.round()
    assert parts.risk("BTC").price == 2.0
    assert parts.desk.risk("BTC").as_of_ms == START_MS + 15 * SECOND_MS
    assert first.as_of_ms == START_MS


@pytest.mark.promise("time.as-of-honest", "risk.stale-limit")
@pytest.mark.parametrize(
    "fault",
    [
        answer(500, b"boom"),
        answer(422, b"Failed to deserialize"),
        reset,
        html,
        not_a_number,
        redirect("http://127.0.0.1:1/"),
        too_many("30"),
    ],
    ids=["500", "422", "reset", "html", "NaN", "redirect", "429"],
)
async def test_when_a_round_fails_the_last_value_stays_is_named_and_keeps_its_time(parts: Parts, fault: Fault) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    await parts.clock.advance(15)
    await failing_round(parts, fault)
    said = parts.risk("BTC")
    assert said.price == 1.0
    assert said._stale_fields[:2] == ["price", "funding_apr"]
    assert parts.desk.risk("BTC").as_of_ms == START_MS
    assert parts.desk.readiness()["failing"] is True


async def test_a_round_that_succeeds_makes_good_what_failed(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    await failing_round(parts, answer(503, b"maintenance"))
    await parts.quotes.round()
    assert "price" not in parts.risk("BTC")._stale_fields
    assert parts.desk.readiness()["failing"] is False


@pytest.mark.promise("errors.upstream-502", "risk.stale-limit")
@pytest.mark.parametrize(
    ("fault", "code", "status", "body"),
    [
        (answer(503, b"maintenance"), "UPSTREAM_5XX", 503, "maintenance"),
        (answer(422, b"cannot read that"), "UPSTREAM_4XX", 422, "cannot read that"),
        (reset, "UPSTREAM_UNREACHABLE", None, "connection closed without an answer"),
    ],
    ids=["503", "422", "reset"],
)
async def test_after_ten_minutes_of_failure_the_venues_words_are_all_there_is(
    parts: Parts, fault: Fault, code: str, status: int | None, body: str
) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    await parts.clock.advance(600)
    await failing_round(parts, fault)
    assert parts.risk("BTC").price == 1.0
    await parts.clock.advance(0.001)
    with pytest.raises(ServiceError) as refused:
        parts.desk.risk("BTC")
    assert refused.value.code == code
    assert refused.value.details == {"upstream": "hyperliquid", "upstreamStatus": status, "upstreamBody": body}


async def test_a_coin_of_which_nothing_is_confirmed_is_unavailable_for_now(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "DARK": context(None, None)}
    await parts.quotes.round()
    for ask in (parts.desk.risk, parts.desk.assess):
        with pytest.raises(ServiceError) as refused:
            ask("DARK")
        assert refused.value.code == "UNAVAILABLE"
        assert refused.value.message.startswith("The price of DARK is not confirmed yet: ")
        assert refused.value.headers == {"Retry-After": "15"}


async def test_a_coin_that_is_delisted_is_unknown_from_then_on(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "MATIC": context("0.3")}
    await parts.quotes.round()
    assert parts.risk("MATIC").price == 0.3
    parts.venue.delisted = {"MATIC"}
    await parts.quotes.round()
    assert parts.risk("MATIC").price == 0.3
    await parts.clock.advance(HOUR_MS / SECOND_MS)
    await parts.quotes.round()
    with pytest.raises(ServiceError) as refused:
        parts.desk.risk("MATIC")
    assert refused.value.code == "UNKNOWN_SYMBOL"


async def test_an_answer_that_comes_while_the_origin_changes_is_dropped(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}

    async def change_origin(request: object) -> None:
        parts.origin = "tomorrow"

    parts.venue.faults.next = change_origin  # type: ignore[assignment]
    await parts.quotes.round()
    assert not parts.quotes.coins_known.is_set()
    assert (await parts.store.snapshot()).coins == []
    parts.venue.faults.next = None
    await parts.quotes.round()
    assert (await parts.store.snapshot()).state.origin == "tomorrow"


@pytest.mark.promise("risk.fall-back-venue")
async def test_when_the_venue_fails_another_tells_the_coins_it_has_and_is_named(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("100.0"), "kPEPE": context("2.0"), "ODD": context("3.0")}
    await parts.quotes.round()
    await parts.clock.advance(15)
    parts.fallback.shows = {"BTC": (101.0, 0.00002, 8.0), "PEPE": (0.00205, None, 8.0), "ELSE": (9.0, 0.0, 8.0)}
    parts.fallback.at_ms = parts.clock.now_ms()
    parts.venue.faults.next = answer(500, b"down")
    await parts.quotes.round()
    btc, pepe, odd = (parts.risk(symbol) for symbol in ("BTC", "PEPE", "ODD"))
    assert (btc.price, btc.funding_apr, btc.venue) == (101.0, 17.52, "binance")
    assert "price" not in btc._stale_fields
    assert parts.desk.risk("BTC").as_of_ms == START_MS + 15 * SECOND_MS
    assert (pepe.price, pepe.venue, pepe.venue_symbol) == (0.00205, "binance", "kPEPE")
    assert pepe._stale_fields[0] == "funding_apr"
    assert (odd.price, odd.venue, odd._stale_fields[:2]) == (3.0, "hyperliquid", ["price", "funding_apr"])
    assert parts.desk.view()["BTC"].interval_hours == 8.0
    assert {"failing": True, "venue": "binance"}.items() <= parts.desk.readiness().items()


@pytest.mark.promise("risk.fall-back-venue")
async def test_the_venue_takes_over_again_as_soon_as_it_answers(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("100.0")}
    await parts.quotes.round()
    parts.fallback.shows = {"BTC": (101.0, 0.00002, 8.0)}
    parts.venue.faults.next = answer(500, b"down")
    await parts.quotes.round()
    parts.venue.faults.next = None
    await parts.quotes.round()
    said = parts.risk("BTC")
    assert (said.price, said.funding_apr, said.venue) == (100.0, 10.95, "hyperliquid")
    assert parts.desk.view()["BTC"].interval_hours == 1.0
    assert parts.desk.readiness()["failing"] is False


async def test_a_venue_that_is_not_asked_any_more_counts_as_failing(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("100.0")}
    await parts.quotes.round()
    await failing_round(parts, too_many("60"))
    asked = len(parts.venue.faults.requests)
    parts.fallback.shows = {"BTC": (101.0, 0.0, 8.0)}
    await parts.quotes.round()
    assert parts.risk("BTC").venue == "binance"
    assert len(parts.venue.faults.requests) == asked


@pytest.mark.promise("risk.fall-back-venue", "errors.upstream-502")
async def test_when_both_fail_it_is_the_first_ones_failure_that_is_told(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    await parts.clock.advance(601)
    assert (await failing_round(parts, answer(503, b"maintenance"))).upstream == "hyperliquid"
    assert parts.fallback.rounds == 1
    with pytest.raises(ServiceError) as refused:
        parts.desk.risk("BTC")
    assert refused.value.details == {
        "upstream": "hyperliquid",
        "upstreamStatus": 503,
        "upstreamBody": "maintenance",
    }


async def test_a_venue_whose_coins_have_no_price_any_more_counts_as_failing(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("100.0"), "SOL": context("5.0")}
    await parts.quotes.round()
    await parts.clock.advance(15)
    parts.fallback.shows, parts.fallback.at_ms = {"BTC": (101.0, 0.00002, 8.0)}, parts.clock.now_ms()
    parts.venue.contexts = {"BTC": context(None), "SOL": context("0.0")}
    pushed(parts, context(None), context("0.0"))
    await parts.quotes.feed()
    await parts.quotes.round()
    said = parts.risk("BTC")
    assert (said.price, said.venue, "price" in said._stale_fields) == (101.0, "binance", False)
    assert parts.desk.readiness()["failing"] is True


async def test_a_coin_the_other_venue_lacks_ends_in_the_first_ones_failure(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "ODD": context("3.0")}
    await parts.quotes.round()
    await parts.clock.advance(601)
    parts.fallback.shows, parts.fallback.at_ms = {"BTC": (1.0, 0.0, 8.0)}, parts.clock.now_ms()
    parts.venue.faults.next = answer(503, b"maintenance")
    await parts.quotes.round()
    assert parts.risk("BTC").price == 1.0
    with pytest.raises(ServiceError) as refused:
        parts.desk.risk("ODD")
    assert refused.value.details is not None
    assert refused.value.details["upstreamStatus"] == 503


async def test_nobody_stands_in_for_a_market_that_was_never_seen(parts: Parts) -> None:
    parts.fallback.shows = {"BTC": (101.0, 0.0, 8.0)}
    await failing_round(parts, answer(500, b"down"))
    assert parts.fallback.rounds == 0


async def test_another_venue_that_has_none_of_the_coins_stands_in_for_none(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    parts.fallback.shows = {"ELSE": (101.0, 0.0, 8.0)}
    await failing_round(parts, answer(500, b"down"))
    assert parts.risk("BTC")._stale_fields[:2] == ["price", "funding_apr"]


async def test_another_venues_answer_that_comes_while_the_origin_changes_is_dropped(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    parts.fallback.shows = {"BTC": (101.0, 0.0, 8.0)}
    tell = parts.fallback.quotes

    async def slow(known: Mapping[str, Quote]) -> list[Quote]:
        parts.origin = "tomorrow"
        return await tell(known)

    parts.fallback.quotes = slow  # type: ignore[method-assign]
    await failing_round(parts, answer(500, b"down"))
    assert parts.risk("BTC").price == 1.0


async def test_what_the_feed_told_while_another_venue_was_asked_stands(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    parts.fallback.shows = {"BTC": (1.01, 0.0, 8.0)}
    parts.fallback.at_ms = START_MS + SECOND_MS
    tell = parts.fallback.quotes

    async def slow(known: Mapping[str, Quote]) -> list[Quote]:
        await parts.clock.advance(2)
        pushed(parts, context("1.02"))
        await parts.quotes.feed()
        return await tell(known)

    parts.fallback.quotes = slow  # type: ignore[method-assign]
    parts.venue.faults.next = answer(500, b"down")
    await parts.quotes.round()
    assert (parts.risk("BTC").price, parts.risk("BTC").venue) == (1.02, "hyperliquid")
    assert parts.desk.risk("BTC").as_of_ms == START_MS + 2 * SECOND_MS
    assert parts.desk.readiness()["failing"] is True


async def test_a_frame_from_before_another_venue_told_prices_takes_none_of_them_back(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    await parts.clock.advance(15)
    parts.fallback.shows, parts.fallback.at_ms = {"BTC": (1.01, 0.0, 8.0)}, parts.clock.now_ms()
    parts.venue.faults.next = answer(500, b"down")
    await parts.quotes.round()
    pushed(parts, context("1.02"), at_ms=parts.clock.now_ms() - 2 * SECOND_MS)
    await parts.quotes.feed()
    assert (parts.risk("BTC").price, parts.desk.risk("BTC").as_of_ms) == (1.01, START_MS + 15 * SECOND_MS)
    await parts.clock.advance(1)
    pushed(parts, context("1.03"))
    await parts.quotes.feed()
    assert (parts.risk("BTC").price, parts.risk("BTC").venue) == (1.03, "hyperliquid")


def pushed(parts: Parts, *contexts: Context, at_ms: int | None = None) -> None:
    """Let a frame of the main market be heard."""
    data = msgspec.Raw(msgspec.json.encode({"ctxs": [["xyz", [context("9.0")]], ["", contexts]]}))
    parts.quotes.on_frame(Frame("allDexsAssetCtxs", data, parts.clock.now_ms() if at_ms is None else at_ms))


async def test_a_pushed_frame_is_newer_than_the_round_before_it(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "GONE": context("9.0"), "SOL": context("5.0")}
    parts.venue.delisted = {"GONE"}
    await parts.quotes.round()
    await parts.clock.advance(5)
    pushed(parts, context("1.02"), context("9.0"), context("5.1"))
    await parts.quotes.feed()
    assert (parts.risk("BTC").price, parts.risk("SOL").price) == (1.02, 5.1)
    assert parts.desk.risk("BTC").as_of_ms == START_MS + 5 * SECOND_MS
    assert "GONE" not in parts.desk.view()
    assert len(parts.venue.faults.requests) == 1


async def test_a_frame_of_a_history_without_quotes_is_left_out(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    parts.origin = "another"
    pushed(parts, context("1.02"))
    await parts.quotes.feed()
    assert parts.risk("BTC").price == 1.0


async def test_only_the_newest_of_many_frames_is_read(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    revision = await parts.store.revision()
    await parts.quotes.feed()
    assert await parts.store.revision() == revision
    for price in ("1.02", "1.03", "1.04"):
        pushed(parts, context(price))
    await parts.quotes.feed()
    await parts.quotes.feed()
    assert parts.risk("BTC").price == 1.04
    assert await parts.store.revision() == revision + 1


@pytest.mark.parametrize("contexts", [[], [context("2.0")], [context("2.0")] * 3, [context("NaN")] * 2])
async def test_a_frame_that_cannot_be_matched_with_the_coins_is_refused(parts: Parts, contexts: list[Context]) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "SOL": context("5.0")}
    await parts.quotes.round()
    pushed(parts, *contexts)
    await parts.quotes.feed()
    assert parts.risk("BTC").price == 1.0


@pytest.mark.promise("quarantine.listing")
async def test_a_new_coin_is_listed_once_two_answers_in_a_row_have_named_it(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    parts.venue.contexts["NEW"] = context("7.0")
    await parts.clock.advance(5)
    pushed(parts, context("1.02"), context("7.1"))
    await parts.quotes.feed()
    await parts.quotes.round()
    pushed(parts, context("1.02"), context("7.1"))
    await parts.quotes.feed()
    assert "NEW" not in parts.desk.view()
    del parts.venue.contexts["NEW"]
    await parts.quotes.round()
    parts.venue.contexts["NEW"] = context("7.0")
    await parts.quotes.round()
    assert "NEW" not in parts.desk.view()
    await parts.clock.advance(15)
    await parts.quotes.round()
    assert parts.risk("NEW").price == 7.0
    pushed(parts, context("1.02"), context("7.1"))
    await parts.quotes.feed()
    assert parts.risk("NEW").price == 7.1


async def test_a_new_coin_never_takes_the_ticker_of_a_listed_one(parts: Parts) -> None:
    parts.venue.contexts = {"kPEPE": context("1.0")}
    await parts.quotes.round()
    parts.venue.contexts = {"BTC": context("5.0"), "PEPE": context("1.0")}
    for _ in range(3):
        await parts.quotes.round()
    assert sorted(parts.desk.view()) == ["BTC", "PEPE"]
    assert parts.desk.view()["PEPE"].venue_symbol == "kPEPE"


async def test_while_rounds_fail_the_feed_alone_keeps_prices_fresh(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    parts.venue.faults.next = answer(500, b"down")
    parts.fallback.shows = {"BTC": (1.03, 0.0, 8.0)}
    for number in range(3):
        await parts.clock.advance(14)
        pushed(parts, context(f"1.0{number}"))
        await parts.quotes.feed()
        await parts.clock.advance(1)
        await parts.quotes.round()
    said = parts.risk("BTC")
    assert (said.price, said.venue, "price" in said._stale_fields) == (1.02, "hyperliquid", False)
    assert parts.fallback.rounds == 0
    assert {"failing": True, "venue": "hyperliquid"}.items() <= parts.desk.readiness().items()
    await parts.clock.advance(15)
    await parts.quotes.round()
    assert parts.risk("BTC").venue == "binance"


async def test_a_frame_that_was_pushed_in_another_history_is_dropped(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    pushed(parts, context("2.0"))
    parts.origin = "tomorrow"
    await parts.quotes.feed()
    assert parts.risk("BTC").price == 1.0


async def test_of_an_answer_and_a_frame_of_one_second_the_later_is_taken(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    pushed(parts, context("1.02"), at_ms=START_MS + 999)
    await parts.quotes.feed()
    parts.venue.contexts["BTC"] = context("1.03")
    await parts.quotes.round()
    assert parts.risk("BTC").price == 1.03
    assert parts.desk.risk("BTC").as_of_ms == START_MS


async def test_an_answer_that_a_frame_has_overtaken_lists_coins_and_tells_no_price(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "OLD": context("4.0")}
    await parts.quotes.round()
    await parts.clock.advance(5)
    pushed(parts, context("1.02"), context("4.1"))
    await parts.quotes.feed()
    parts.venue.ahead_ms = -2 * SECOND_MS
    parts.venue.contexts["BTC"] = context("1.03")
    parts.venue.contexts["NEW"] = context("7.0")
    await parts.quotes.round()
    await parts.quotes.round()
    assert (parts.risk("BTC").price, "price" in parts.risk("BTC")._stale_fields) == (1.02, False)
    assert parts.desk.risk("BTC").as_of_ms == START_MS + 5 * SECOND_MS
    assert parts.desk.view()["NEW"].price is None


async def test_a_clock_that_is_set_back_ends_no_refresh(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0")}
    await parts.quotes.round()
    pushed(parts, context("1.01"))
    await parts.quotes.feed()
    parts.clock.set_wall(START_MS - HOUR_MS)
    with pytest.raises(ServiceError, match="Prices are not available yet"):
        parts.desk.risk("BTC")
    pushed(parts, context("1.02"))
    await parts.quotes.feed()
    assert (parts.risk("BTC").price, parts.desk.risk("BTC").as_of_ms) == (1.02, START_MS - HOUR_MS)
    parts.clock.set_wall(START_MS - 2 * HOUR_MS)
    parts.venue.contexts = {"BTC": context("1.03")}
    await parts.quotes.round()
    assert (parts.risk("BTC").price, parts.desk.risk("BTC").as_of_ms) == (1.03, START_MS - 2 * HOUR_MS)
