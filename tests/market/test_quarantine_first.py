"""The first price of a coin whose bars ended long ago, and how a wait for a confirmation is logged."""

import logging

import pytest

from service.clock import DAY_MS
from service.market.models import Bar
from tests.market.parts import TODAY, Parts
from tests.market.test_quarantine import cold


async def keep_old_bar(parts: Parts, coin: str, close: float) -> None:
    """Store one closed bar of ninety days ago."""
    day = TODAY - 90
    bars = [Bar(day * DAY_MS, close, close, close, close, 1.0, 1)]
    await parts.store.put_bars(parts.origin, coin, bars, (TODAY - 1) * DAY_MS)


@pytest.mark.promise("quarantine.cold-start")
@pytest.mark.parametrize(("close", "is_accepted"), [(5.0, True), (0.5, False)])
async def test_a_coin_whose_bars_ended_long_ago_has_a_price_at_once_where_its_last_bar_confirms_it(
    parts: Parts, close: float, *, is_accepted: bool
) -> None:
    await cold(parts, {"OLD": 5.0})
    assert parts.desk.view()["OLD"].price is None
    await keep_old_bar(parts, "OLD", close)
    await parts.quotes.recheck()
    assert parts.desk.view()["OLD"].price == (5.0 if is_accepted else None)


async def test_a_first_price_that_waits_for_its_bars_is_no_warning(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "verdict.market"):
        await cold(parts, {"NEW": 5.0})
    logged = {(record.levelname, record.message) for record in caplog.records if hasattr(record, "reason")}
    assert logged == {("DEBUG", "A first value waits for confirmation.")}
