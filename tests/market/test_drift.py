"""The second venue is asked once a minute, and a price that drifts away from it is held back."""

import pytest

from service.market.plausibility.rules import RejectReason
from service.upstream.failures import UpstreamError
from tests.market.parts import Parts
from tests.market.test_quarantine import PRICES, begin, reasons, rounds, row, show, stale
from tests.upstream.faults import answer


async def drift(parts: Parts, factor: float, times: int) -> None:
    """Let the first venue's price of one coin move by one factor a round."""
    price = float(parts.venue.contexts["C7"]["markPx"])
    for _ in range(times):
        price *= factor
        parts.venue.contexts["C7"] = row(price, 7)
        await rounds(parts, 15)


@pytest.mark.slow
@pytest.mark.promise("plausibility.slow-drift")
@pytest.mark.parametrize("factor", [1.01, 0.99])
async def test_a_slow_drift_away_from_the_second_venue_is_held_back(parts: Parts, factor: float) -> None:
    await begin(parts, second=True)
    await drift(parts, factor, 6)
    assert reasons(parts) == {RejectReason.PRICE_SECOND_VENUE}
    await drift(parts, factor, 24)
    assert parts.risk("C7").price == pytest.approx(PRICES["C7"], rel=0.041)
    assert stale(parts, "C7")
    assert not stale(parts, "C8")
    assert parts.risk("C7").venue == "hyperliquid"
    parts.venue.contexts["C7"] = row(PRICES["C7"], 7)
    await rounds(parts, 15)
    assert (parts.risk("C7").price, stale(parts, "C7")) == (PRICES["C7"], False)


@pytest.mark.promise("plausibility.slow-drift")
async def test_a_drift_that_the_second_venue_shows_too_is_served(parts: Parts) -> None:
    await begin(parts, second=True)
    for number in range(1, 30):
        moved = PRICES["C7"] * 1.01**number
        show(parts, PRICES | {"C7": moved})
        parts.venue.contexts["C7"] = row(moved, 7)
        await rounds(parts, 15)
        assert (parts.risk("C7").price, stale(parts, "C7")) == (moved, False)


async def test_while_nothing_is_held_back_the_second_venue_is_asked_once_a_minute(parts: Parts) -> None:
    await begin(parts, second=True)
    await rounds(parts, 60)
    asked = parts.fallback.confirmations
    await rounds(parts, 600)
    assert parts.fallback.confirmations - asked == 10


async def test_a_second_venue_that_leaps_holds_nothing_back(parts: Parts) -> None:
    await begin(parts, second=True)
    await rounds(parts, 75)
    show(parts, {coin: price * 1.2 for coin, price in PRICES.items()})
    await rounds(parts, 300)
    assert not any(stale(parts, coin) for coin in PRICES)


@pytest.mark.promise("plausibility.slow-drift")
async def test_where_all_prices_of_one_venue_drift_the_other_does_not_stand_in(parts: Parts) -> None:
    await begin(parts, second=True)
    was_stale = False
    for number in range(1, 13):
        show(parts, {coin: price * 1.01**number for coin, price in PRICES.items()})
        await rounds(parts, 15)
        was_stale |= all(stale(parts, coin) for coin in PRICES)
        assert {coin: parts.risk(coin).price for coin in PRICES} == PRICES
    assert was_stale


async def test_another_history_begins_without_earlier_agreement(parts: Parts) -> None:
    await begin(parts, second=True)
    await rounds(parts, 75)
    parts.origin = "tomorrow"
    await rounds(parts, 15)
    show(parts, PRICES | {"C7": PRICES["C7"] * 1.06})
    await rounds(parts, 60)
    assert parts.risk("C7").price == PRICES["C7"]
    parts.venue.faults.next = answer(500, b"down")
    parts.fallback.shows = {}
    with pytest.raises(UpstreamError):
        await parts.quotes.round()
