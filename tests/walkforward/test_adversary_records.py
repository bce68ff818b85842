"""What a summary says can be counted once more from the published records and the bars, by other arithmetic."""

from functools import cache
from typing import Any

import msgspec
import pytest

from service.walkforward import gate
from service.walkforward.engine import run_walkforward
from tests.walkforward.leaks import market
from tests.walkforward.recount import Held, Market, carried, date_of, day_of, grown, market_of, recount, tradable
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
    held = []
    for coin in bought:
        ends = next((day for day in range(first, last) if day + 1 not in over.bars[coin]), last)
        record = {
            "id": coin, "symbol": coin, "direction": "long", "entryDate": date_of(first), "exitDate": date_of(ends),
            "entryPrice": over.bars[coin][first][0], "exitPrice": over.bars[coin][ends][3], "exitReason": "delisted",
        }  # fmt: skip
        held.append(Held(record, 1 / len(bought), over, last))
    again = grown([day.net for day in carried(held, first, last)])
    assert (summary["buyAndHold"]["returnPct"], summary["buyAndHold"]["maxDrawdownPct"]) == (
        pytest.approx(again["returnPct"], abs=ROUNDED),
        pytest.approx(again["maxDrawdownPct"], abs=ROUNDED),
    )
