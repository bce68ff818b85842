"""What a summary says can be counted once more from the published records and the bars, by other arithmetic."""

from functools import cache
from typing import Any

import msgspec
import pytest

from service.walkforward import gate
from service.walkforward.engine import run_walkforward
from tests.walkforward.leaks import market
from tests.walkforward.recount import Market, cost, day_of, grown, market_of, recount, tradable
from tests.walkforward.test_engine import request

ROUNDED = 0.000_051
"""What rounding to four decimals leaves open."""


@cache
def published() -> tuple[Any, Market]:
    """A run as JSON, and the market that it walked."""
    asked = request(market(8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "SURROGATES", 1)
        patch.setattr(gate, "CUT_EVERY", 100)
        told = run_walkforward(asked, lambda _done, _total: None)
    return msgspec.json.decode(msgspec.json.encode(told)), market_of(asked.histories)


def test_every_return_is_that_of_its_prices_its_funding_and_its_costs() -> None:
    told, over = published()
    again = recount(told, over)["returns"]
    assert len(told["outcomes"]) > 100
    apart = [one["id"] for one in told["outcomes"] if abs(again[one["id"]] - one["returnPct"]) > ROUNDED]
    assert apart == []


def test_every_figure_of_the_summary_follows_from_the_records() -> None:
    told, over = published()
    again = recount(told, over)
    for one in told["summary"]["strategies"]:
        figures = again[one["strategy"]]
        # The trials are published with four decimals as well, and a deflated ratio goes by their variance.
        assert {name: one[name] for name in figures} == {
            name: pytest.approx(figure, abs=2 * ROUNDED) for name, figure in figures.items()
        }


def test_the_figures_at_the_top_are_those_of_all_strategies_together() -> None:
    told, _ = published()
    summary = told["summary"]
    together = {name: figure for name, figure in summary["strategies"][0].items() if name in summary}
    assert {name: summary[name] for name in together} == together
    assert summary["trials"] == sum(len(fold["sharpes"]) for fold in told["folds"])


def test_doing_nothing_is_what_the_universe_of_the_first_eve_became() -> None:
    told, over = published()
    summary = told["summary"]
    first, last = day_of(summary["firstDay"]), day_of(summary["lastDay"])
    bought = [coin for coin in tradable(over, first - 1, 8) if first in over.bars[coin]]
    value, returns = 1.0, []
    for day in range(first, last + 1):
        parts = []
        for coin in bought:
            bars = over.bars[coin]
            parts.append(bars[max(each for each in bars if each <= day)][3] / bars[first][0])
        worth = sum(parts) / len(parts) - sum(cost(over, coin, first - 1) for coin in bought) / len(bought)
        returns.append(worth / value - 1)
        value = worth
    held = summary["buyAndHold"]
    again = grown(returns)
    assert (held["returnPct"], held["maxDrawdownPct"]) == (
        pytest.approx(again["returnPct"], abs=ROUNDED),
        pytest.approx(again["maxDrawdownPct"], abs=ROUNDED),
    )
