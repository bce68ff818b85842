"""Keeping price and funding fresh, and honest when they are not."""

import pytest

from service.clock import SECOND_MS
from service.errors import ServiceError
from service.upstream.failure import UpstreamError
from tests.fakes.clock import START_MS
from tests.market.parts import Parts
from tests.market.venue import context
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
        (reset, "UPSTREAM_5XX", None, "connection failed (ServerDisconnectedError)"),
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


async def test_a_coin_the_venue_does_not_quote_is_the_venues_failure(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "DARK": context(None, None)}
    await parts.quotes.round()
    with pytest.raises(ServiceError) as refused:
        parts.desk.risk("DARK")
    assert refused.value.code == "UPSTREAM_5XX"
    assert refused.value.details == {
        "upstream": "hyperliquid",
        "upstreamStatus": 200,
        "upstreamBody": "neither price nor funding of DARK",
    }


async def test_a_coin_that_is_delisted_is_unknown_from_then_on(parts: Parts) -> None:
    parts.venue.contexts = {"BTC": context("1.0"), "MATIC": context("0.3")}
    await parts.quotes.round()
    assert parts.risk("MATIC").price == 0.3
    parts.venue.delisted = {"MATIC"}
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
