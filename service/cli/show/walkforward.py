"""Views of `walkforward`: signals, positions and outcomes, with the figures of the run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from service import formats
from service.cli import plots
from service.cli.formatting import change, day, footer, moment, number, price, share, signed
from service.cli.layout import flow, table
from service.cli.show.columns import Field, columns, ending
from service.cli.show.regime import state
from service.cli.terminal import Cell, Display

_NAMES: Final = {
    "trend-following": "trend",
    "cross-sectional-momentum": "momentum",
    "funding-reversion": "funding",
    "all": "all three",
}
_ROWS: Final = 9


def walkforward(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """Show an answer of any of the three actions."""
    run = data["meta"]
    if run["message"]:
        yield from flow(screen, [run["message"]])
        return
    shown = {"positions": _positions, "outcomes": _outcomes}.get(str(chosen.get("action")), _signals)
    yield from shown(data, screen)
    yield ""
    yield from ending(data, {}, screen)
    origin = f"run {run['run_id']} of {moment(run['ran_at'])}, engine {run['engine']}"
    yield from flow(screen, [Cell(origin, "dim")])
    yield from footer(screen, meta)


def _strategy(name: str) -> str:
    return _NAMES.get(name, name)


_COIN: Final = (
    Field("COIN", "symbol"),
    Field("SIDE", "direction", state),
    Field("STRATEGY", "strategy", _strategy, "l"),
)
_SIGNALS: Final = (
    Field("DAY", "scanDate"),
    *_COIN,
    Field("SCORE", "score", lambda value: signed(value, 3, ""), "r"),
    Field("FOLD", "fold", side="r"),
    Field("NEXT OPEN", "entryPrice", lambda value: "to come" if value is None else price(value), "r"),
)
_POSITIONS: Final = (
    *_COIN,
    Field("SINCE", "entryDate"),
    Field("FROM", "entryPrice", price, "r"),
    Field("NOW", "currentPrice", price, "r"),
    Field("GAIN, %", "unrealizedPct", lambda value: change(value, unit=""), "r"),
    Field("STOP", "stop", price, "r"),
)
_OUTCOMES: Final = (
    Field("ENDED", "exitDate"),
    *_COIN,
    Field("RETURN", "returnPct", change, "r"),
    Field("FUNDING", "fundingPct", lambda value: signed(value, 2, ""), "r"),
    Field("COSTS", "costPct", lambda value: number(-value), "r"),
    Field("BECAUSE", "exitReason", formats.label, "l"),
)


def _signals(data: Any, screen: Display) -> Iterator[str]:
    if not data["signals"]:
        yield "No decision is recorded for this."
        return
    yield from flow(screen, ["Decisions to enter, made at the close of a day, out of sample"])
    yield ""
    yield from columns(screen, _SIGNALS, data["signals"])


def _positions(data: Any, screen: Display) -> Iterator[str]:
    held = data["positions"]
    if not held:
        yield from flow(screen, ["The engine holds no position. That says nothing of the market."])
        return
    gains = [one["unrealizedPct"] for one in held if one["unrealizedPct"] is not None]
    up = sum(gain > 0 for gain in gains)
    shown = f"{len(held)} of {data['meta']['total']} positions held"
    yield from flow(screen, [f"{shown}: {up} gained, {len(gains) - up} did not, by price alone"])
    yield ""
    yield from columns(screen, _POSITIONS, held)


def _outcomes(data: Any, screen: Display) -> Iterator[str]:
    if data["summary"]:
        yield from _summary(data["summary"], screen)
    if not data["outcomes"]:
        yield "No position has ended."
        return
    yield ""
    yield from _returns(data["outcomes"], screen)
    yield ""
    yield from columns(screen, _OUTCOMES, data["outcomes"])


_LUCK: Final = (
    "P(Sharpe > luck): the probability that it is better than the best that so many trials show by luck; under 95 % it "
    "has not been shown."
)


def _summary(run: Any, screen: Display) -> Iterator[str]:
    tested = f"{run['firstDay']} to {run['lastDay']}, {run['folds']} folds, {run['coins']} coins,"
    yield from flow(
        screen,
        [
            f"Out of sample {tested} {run['trials']} trials in training:",
            change(run["returnPct"]),
            "after costs and funding; only to hold:",
            change(run["buyAndHold"]["returnPct"]),
        ],
    )
    yield ""
    yield from _strategies(run["strategies"], run["buyAndHold"], screen)
    for one in run["strategies"]:
        if one["refused"]:
            yield from flow(screen, [Cell(f"Not published: {one['strategy']} ({one['refused']}).", "warn")])
    yield ""
    yield from flow(screen, [Cell(_LUCK, "dim")])
    yield from flow(screen, [Cell(f"{run['method']['surrogates']} {run['method']['embargo']}", "dim")])


_FIGURES: Final = (
    Field("trades", "total", lambda value: f"{value:,}"),
    Field("won", "winRate", share),
    Field("mean of a trade", "meanReturnPct", change),
    Field("return", "returnPct", change),
    Field("Sharpe, annualised", "sharpe", number),
    Field("P(Sharpe > 0)", "probabilisticSharpe", share),
    Field("P(Sharpe > luck)", "deflatedSharpe", share),
    Field("deepest drawdown", "maxDrawdownPct", formats.percent),
    Field("exposure", "exposure", share),
    Field("turnover a year", "turnover", lambda value: f"{number(value, 1)} x"),
    Field("funding recorded", "fundingKnown", share),
)


def _strategies(runs: Sequence[Any], idle: Any, screen: Display) -> Iterator[str]:
    """One column a strategy, beside doing nothing."""
    # A space keeps the label of the second column where rows become lists.
    heads = [" ", *(_strategy(run["strategy"]).upper() for run in runs), "HOLDING"]
    rows = [
        (
            one.label,
            *(one.write(run[one.path]) if run["published"] else "refused" for run in runs),
            one.write(idle[one.path]) if one.path in idle else "",
        )
        for one in _FIGURES
    ]
    yield from table(screen, heads, rows, right="w" + "r" * (len(runs) + 1))


def _returns(outcomes: Sequence[Any], screen: Display) -> Iterator[str]:
    """The returns of the trades shown, summed up in the order in which they ended."""
    ended, sums = outcomes[::-1], [0.0]
    for one in ended:
        sums.append(sums[-1] + one["returnPct"])
    won = sum(one["returnPct"] > 0 for one in ended)
    caption = f"Sum of the returns of these {len(ended)} trades, in the order of their ends; {won} won"
    yield from flow(screen, [Cell(caption, "dim")])
    marks = [(0.0, day(ended[0]["exitDate"])), (float(len(ended)), day(ended[-1]["exitDate"]))]
    yield from plots.line(screen, range(len(sums)), sums, rows=_ROWS, tick=lambda value: signed(value, 0), marks=marks)
