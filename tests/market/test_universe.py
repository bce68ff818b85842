"""Which coins answers list: what was never confirmed is not known, and a smaller universe is believed in time."""

import pytest

from service.market.plausibility.rules import RejectReason
from tests.market.parts import Parts
from tests.market.test_quarantine import PRICES, begin, poll, reasons, rounds, rows, show, stale

HALF = dict(list(PRICES.items())[:20])


def listed(parts: Parts) -> set[str]:
    return set(parts.desk.view())


def invented(count: int) -> dict[str, float]:
    return {f"NEW{number}": 7.0 + number for number in range(count)}


@pytest.mark.promise("quarantine.universe")
async def test_a_start_on_invented_coins_does_not_lock_the_honest_answer_out(parts: Parts) -> None:
    parts.fallback.agrees_with = None
    show(parts, PRICES)
    parts.venue.contexts = rows(PRICES | invented(40))
    await parts.quotes.round()
    assert len(listed(parts)) == 80
    parts.venue.contexts = rows(PRICES)
    await rounds(parts, 15)
    assert not stale(parts, "C7")
    assert listed(parts) == set(PRICES)


@pytest.mark.promise("quarantine.universe")
async def test_a_start_on_renamed_coins_does_not_lock_the_honest_answer_out(parts: Parts) -> None:
    parts.fallback.agrees_with = None
    show(parts, PRICES)
    parts.venue.contexts = rows({f"X{coin}": price for coin, price in PRICES.items()})
    await parts.quotes.round()
    assert {coin.price for coin in parts.desk.view().values()} == {None}
    parts.venue.contexts = rows(PRICES)
    await rounds(parts, 15)
    assert {symbol: coin.price for symbol, coin in parts.desk.view().items()} == PRICES


@pytest.mark.promise("quarantine.universe")
async def test_many_new_coins_that_the_second_venue_confirms_are_listed_with_the_second_answer(parts: Parts) -> None:
    await begin(parts, HALF)
    show(parts, PRICES)
    parts.venue.contexts = rows(PRICES)
    await rounds(parts, 15)
    assert listed(parts) == set(HALF)
    await rounds(parts, 15)
    assert {symbol: coin.price for symbol, coin in parts.desk.view().items()} == PRICES


async def test_many_new_coins_that_nobody_confirms_are_listed_within_three_minutes(parts: Parts) -> None:
    await begin(parts, second=True)
    parts.venue.contexts = rows(PRICES | invented(10))
    await rounds(parts, 150)
    assert listed(parts) == set(PRICES)
    await rounds(parts, 15)
    assert len(listed(parts)) == 50


@pytest.mark.promise("quarantine.universe")
async def test_a_smaller_universe_is_accepted_within_three_minutes_and_the_others_stay_listed(parts: Parts) -> None:
    await begin(parts)
    parts.venue.contexts = rows(HALF)
    await rounds(parts, 150)
    assert reasons(parts) == {RejectReason.COINS_MISSING}
    assert stale(parts, "C7")
    await rounds(parts, 15)
    assert not stale(parts, "C7")
    assert (parts.risk("C30").price, stale(parts, "C30")) == (PRICES["C30"], True)
    parts.venue.contexts = rows(PRICES)
    await rounds(parts, 15)
    assert not stale(parts, "C30")


async def test_a_universe_that_lacks_other_coins_or_pauses_begins_again(parts: Parts) -> None:
    await begin(parts)
    for first in (0, 10):
        parts.venue.contexts = rows(dict(list(PRICES.items())[first : first + 20]))
        await rounds(parts, 150)
        assert parts.desk.state.failure is not None
    await parts.clock.advance(150)
    await rounds(parts, 135)
    assert parts.desk.state.failure is not None
    await rounds(parts, 30)
    assert parts.desk.state.failure is None


async def test_a_coin_of_which_nothing_was_accepted_is_forgotten_when_it_is_not_named(parts: Parts) -> None:
    await begin(parts)
    parts.venue.contexts = rows(PRICES | {"NEW": 5.0})
    await rounds(parts, 30)
    assert parts.desk.view()["NEW"].price is None
    parts.venue.contexts = rows(PRICES)
    assert await poll(parts)
    assert listed(parts) == set(PRICES)
    assert {coin.venue_symbol for coin in await parts.store.coins()} == set(PRICES)
