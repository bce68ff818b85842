"""Views of `walkforward`: signals, positions and outcomes, with the figures of the run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from service.cli import plots
from service.cli.formatting import UNKNOWN, change, day, footer, moment, price, share, signed
from service.cli.layout import flow, table
from service.cli.show.plain import next_page
from service.cli.terminal import Cell, Display, Style

_SIDES: Final[Mapping[str, Style]] = {"long": "good", "short": "bad"}
_HEADS: Final[Mapping[str, str]] = {
    "all": "ALL THREE",
    "trend-following": "TREND",
    "cross-sectional-momentum": "MOMENTUM",
    "funding-reversion": "FUNDING",
}
_NAMES: Final[Mapping[str, str]] = {
    "trend-following": "trend",
    "cross-sectional-momentum": "momentum",
    "funding-reversion": "funding",
}
_ROWS: Final = 9


def walkforward(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """Show an answer of any of the three actions."""
    run = data["meta"]
    if run["message"]:
        yield from flow(screen, [run["message"]])
        return
    action = str(chosen.get("action"))
    shown = {"positions": _positions, "outcomes": _outcomes}.get(action, _signals)
    yield from shown(data, screen)
    yield ""
    yield from next_page(screen, run)
    origin = f"run {run['run_id']} of {moment(run['ran_at'])}, engine {run['engine']}"
    yield from flow(screen, [Cell(origin, "dim")])
    yield from footer(screen, meta)


def _signals(data: Any, screen: Display) -> Iterator[str]:
    if not data["signals"]:
        yield "No decision is recorded for this."
        return
    rows = [
        (
            one["scanDate"],
            one["symbol"],
            _side(one),
            _strategy(one),
            signed(one["score"], 3, ""),
            one["fold"],
            "to come" if one["entryPrice"] is None else price(one["entryPrice"]),
        )
        for one in data["signals"]
    ]
    yield from flow(screen, ["Decisions to enter, made at the close of a day, out of sample"])
    yield ""
    yield from table(screen, ("DAY", "COIN", "SIDE", "STRATEGY", "SCORE", "FOLD", "NEXT OPEN"), rows, right="llllrrr")


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
    rows = [
        (
            one["symbol"],
            _side(one),
            _strategy(one),
            one["entryDate"],
            price(one["entryPrice"]),
            price(one["currentPrice"]),
            change(one["unrealizedPct"]),
            price(one["stop"]),
        )
        for one in held
    ]
    heads = ("COIN", "SIDE", "STRATEGY", "SINCE", "FROM", "NOW", "GAIN", "STOP")
    yield from table(screen, heads, rows, right="llllrrrr")


def _outcomes(data: Any, screen: Display) -> Iterator[str]:
    summary = data["summary"]
    if summary:
        yield from _summary(summary, screen)
    if not data["outcomes"]:
        yield "No position has ended."
        return
    yield ""
    yield from _returns(data["outcomes"], screen)
    yield ""
    rows = [
        (
            one["exitDate"],
            one["symbol"],
            _side(one),
            _strategy(one),
            change(one["returnPct"]),
            signed(one["fundingPct"], 2, ""),
            f"{-one['costPct']:.2f}",
            one["exitReason"].replace("-", " "),
        )
        for one in data["outcomes"]
    ]
    heads = ("ENDED", "COIN", "SIDE", "STRATEGY", "RETURN", "FUNDING", "COSTS", "BECAUSE")
    yield from table(screen, heads, rows, right="llllrrrl")


def _summary(run: Any, screen: Display) -> Iterator[str]:
    yield from flow(
        screen,
        [
            "Out of sample",
            f"{run['firstDay']} to {run['lastDay']}, {run['folds']} folds, {run['coins']} coins,",
            f"{run['trials']} trials in training:",
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
    yield from flow(
        screen,
        [
            Cell(
                "P(Sharpe > luck): the probability that it is better than the best that so many trials show by luck; "
                "under 95 % it has not been shown.",
                "dim",
            )
        ],
    )
    yield from flow(screen, [Cell(f"{run['method']['surrogates']} {run['method']['embargo']}", "dim")])


def _strategies(columns: Sequence[Any], idle: Any, screen: Display) -> Iterator[str]:
    """One column a strategy, beside doing nothing."""
    rows: list[tuple[str, Callable[[Any], Cell | str], Cell | str]] = [
        ("trades", lambda run: f"{run['total']:,}", ""),
        ("won", lambda run: share(run["winRate"]), ""),
        ("mean of a trade", lambda run: change(run["meanReturnPct"]), ""),
        ("return", lambda run: change(run["returnPct"]), change(idle["returnPct"])),
        ("Sharpe, annualised", lambda run: _ratio(run["sharpe"]), _ratio(idle["sharpe"])),
        ("P(Sharpe > 0)", lambda run: share(run["probabilisticSharpe"]), ""),
        ("P(Sharpe > luck)", lambda run: share(run["deflatedSharpe"]), ""),
        ("deepest drawdown", lambda run: share(run["maxDrawdownPct"] / 100), share(idle["maxDrawdownPct"] / 100)),
        ("exposure", lambda run: share(run["exposure"]), ""),
        ("turnover a year", lambda run: f"{run['turnover']:.1f} x", ""),
        ("funding recorded", lambda run: share(run["fundingKnown"]), ""),
    ]
    heads = ["", *(_HEADS.get(run["strategy"], run["strategy"]) for run in columns), "HOLDING"]
    grid = [
        (label, *(cell(run) if run["published"] else "refused" for run in columns), held) for label, cell, held in rows
    ]
    yield from table(screen, heads, grid, right="l" + "r" * (len(columns) + 1))


def _returns(outcomes: Sequence[Any], screen: Display) -> Iterator[str]:
    """The returns of the trades shown, summed up in the order in which they ended."""
    ended = list(reversed(outcomes))
    total, sums = 0.0, [0.0]
    for one in ended:
        total += one["returnPct"]
        sums.append(total)
    won = sum(one["returnPct"] > 0 for one in ended)
    caption = f"Sum of the returns of these {len(ended)} trades, in the order of their ends; {won} won"
    yield from flow(screen, [Cell(caption, "dim")])
    first, last = day(ended[0]["exitDate"]), day(ended[-1]["exitDate"])
    xs = [float(place) for place in range(len(sums))]
    yield from plots.line(
        screen, xs, sums, rows=_ROWS, tick=lambda value: signed(value, 0), marks=[(xs[0], first), (xs[-1], last)]
    )


def _side(one: Any) -> Cell:
    return Cell(one["direction"], _SIDES.get(one["direction"]))


def _strategy(one: Any) -> str:
    return _NAMES.get(one["strategy"], one["strategy"])


def _ratio(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"
