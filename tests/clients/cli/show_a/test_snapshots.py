"""How every answer of these rooms is shown: read at both widths, kept, and safe whatever the service writes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from service.clients.cli.screen import Screen
from service.clients.cli.show import (
    category_info,
    category_sentiment,
    coin_historical,
    coin_risk,
    funding_alerts,
    market_crossing,
    market_health,
    signal,
)
from tests.clients.cli.recorded import answer, hostile, steering
from tests.clients.cli.snapshots import check

Show = Callable[[Any, Any, Screen, Mapping[str, object]], Iterator[str]]

SHOWN: dict[str, Show] = {
    "coin.risk": coin_risk.lines,
    "coin.risk.sol": coin_risk.lines,
    "coin.historical": coin_historical.lines,
    "coin.historical.days": coin_historical.lines,
    "signal": signal.lines,
    "signal.btc": signal.lines,
    "category.info": category_info.lines,
    "category.sentiment": category_sentiment.lines,
    "market.health": market_health.lines,
    "market.health.context": market_health.lines,
    "market.crossing": market_crossing.lines,
    "funding.alerts": funding_alerts.lines,
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_answer_is_shown_as_it_was_read_and_kept(name: str) -> None:
    data, meta = answer(name)
    check(name, lambda screen: SHOWN[name](data, meta, screen, {}))


@pytest.mark.parametrize("name", SHOWN)
def test_no_text_of_a_service_steers_the_terminal(name: str) -> None:
    data, meta = answer(name)
    asked = {"symbol": "\x1b[2J"}
    assert steering(SHOWN[name](hostile(data), hostile(meta), Screen(80, colour=False), asked)) == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_narrowest_screen_shows_it_too(name: str) -> None:
    data, meta = answer(name)
    assert list(SHOWN[name](data, meta, Screen(20, colour=False), {}))
