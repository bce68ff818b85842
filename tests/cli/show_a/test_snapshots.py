"""How every answer of these rooms is shown: read at both widths, kept, and safe whatever the service writes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from service.cli.show import category, coin, market, verdicts
from service.cli.terminal import Display
from tests.cli.recorded import answer, hostile, steering
from tests.cli.snapshots import check

Show = Callable[[Any, Any, Display, Mapping[str, object]], Iterator[str]]

SHOWN: dict[str, Show] = {
    "coin.risk": coin.coin_risk,
    "coin.risk.sol": coin.coin_risk,
    "coin.historical": coin.coin_historical,
    "coin.historical.days": coin.coin_historical,
    "signal": verdicts.signal,
    "signal.btc": verdicts.signal,
    "category.info": category.category_info,
    "category.sentiment": category.category_sentiment,
    "market.health": market.market_health,
    "market.health.context": market.market_health,
    "market.crossing": market.market_crossing,
    "funding.alerts": market.funding_alerts,
    "coin.sentiment": coin.coin_sentiment,
    "sentiment.market": category.sentiment,
    "sentiment.slopes": category.sentiment,
    "narratives": category.narratives,
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_answer_is_shown_as_it_was_read_and_kept(name: str) -> None:
    data, meta = answer(name)
    check(name, lambda screen: SHOWN[name](data, meta, screen, {}))


@pytest.mark.parametrize("name", SHOWN)
def test_no_text_of_a_service_steers_the_terminal(name: str) -> None:
    data, meta = answer(name)
    asked = {"symbol": "\x1b[2J"}
    assert steering(SHOWN[name](hostile(data), hostile(meta), Display(80, colour=False), asked)) == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_narrowest_screen_shows_it_too(name: str) -> None:
    data, meta = answer(name)
    assert list(SHOWN[name](data, meta, Display(20, colour=False), {}))
