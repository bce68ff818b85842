"""Views of `regime`: the market's regime, current positions, regime changes and one coin's past positions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from service import formats
from service.cli import plots
from service.cli.formatting import change, day, footer, instant, price, share
from service.cli.layout import flow, table
from service.cli.show.columns import Field, columns, strong
from service.cli.terminal import Cell, Display, Style, safe

STYLES: Final[Mapping[str, Style]] = {
    "risk-on": "good",
    "risk-off": "bad",
    "neutral": "warn",
    "long": "good",
    "short": "bad",
}
_METER: Final = 10
_ROOMY: Final = 72
"""Cells from which two halves of a table stand beside each other."""
_WIDEST: Final = 100
_DAY_MS: Final = 86_400_000
_START: Final = 100.0
"""What a history begins with, to show what became of it."""


def regime(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """Show an answer of any of the four actions."""
    shown = {"signals": _signals, "confidence": _confidence, "history": _history}
    yield from shown.get(str(chosen.get("action")), _active)(data, screen)
    yield ""
    rules = data.get("meta", {}).get("ruleset") or data.get("source")
    yield from footer(screen, meta, *([rules] if rules else []))


def state(name: str) -> Cell:
    """A regime or the side of a position, in its colour."""
    return Cell(name, STYLES.get(name))


def _active(data: Any, screen: Display) -> Iterator[str]:
    market, held = data["market"], data["positions"]
    lasting = f"since {day(market['since'])}, {formats.count(market['age_days'], 'day')}; conviction"
    yield from flow(
        screen, ["The market has been", state(market["regime"]), lasting, strong(share(market["conviction"], 0))]
    )
    yield ""
    universe = data["meta"]["universe"]
    longs = sum(one["direction"] == "long" for one in held)
    shorts, rest = len(held) - longs, universe - len(held)
    parts: list[tuple[float, Style, str]] = [(longs, "good", "█"), (shorts, "bad", "▓"), (rest, "dim", "░")]
    yield plots.shares(screen, parts, min(screen.width, _WIDEST))
    yield from flow(screen, [f"{longs} long, {shorts} short, {rest} of {universe} coins without a position"])
    yield ""
    if held:
        yield from columns(screen, POSITIONS, held)
        yield from _in_usd(screen)


def _in_usd(screen: Display) -> Iterator[str]:
    yield ""
    yield from flow(screen, [Cell("Prices are in USD.", "dim")])


def _gain(position: Any) -> Any:
    """What a position has gained since it was entered, percent of its price then; nothing is taken off for costs."""
    entry, now, side = (
        position["entryPrice"],
        position["currentPrice"],
        100 if position["direction"] == "long" else -100,
    )
    return None if now is None or not entry else side * (now / entry - 1)


POSITIONS: Final = (
    Field("COIN", "symbol"),
    Field("SIDE", "direction", state),
    Field("CONVICTION", "conviction", lambda value: share(value, 0), "r"),
    Field("SINCE", "entryDate"),
    Field("DAYS", "holdDays", side="r"),
    Field("FROM", "entryPrice", price, "r"),
    Field("NOW", "currentPrice", price, "r"),
    Field("GAIN", "", lambda one: change(_gain(one), 1), "r"),
)
"""Columns of the positions of coins."""


def _signals(data: Any, screen: Display) -> Iterator[str]:
    if not data["signals"]:
        yield "No coin's regime has turned."
    for place, one in enumerate(data["signals"]):
        if place:
            yield ""
        turned = ", ".join(filter(None, [one["regime"], one["direction"]]))
        when = f"on {day(one['firedAt'])}, conviction {share(one['conviction'], 0)}"
        yield from flow(
            screen, [strong(one["symbol"]), "turned", Cell(turned, STYLES.get(one["regime"])), Cell(when, "dim")]
        )
        yield from flow(screen, one["reasons"], indent=2)


def _confidence(data: Any, screen: Display) -> Iterator[str]:
    """A long and narrow table, in two halves beside each other if both fit."""
    yield from flow(screen, [data["summary"]])
    yield ""
    heads, right = ("COIN", "REGIME", "CONFIDENCE", ""), "lllr"
    rows: list[tuple[object, ...]] = [
        (one["symbol"], state(one["regime"]), _meter(one["confidence"]), share(one["confidence"], 0))
        for one in data["coins"]
    ]
    if screen.width < _ROOMY:
        yield from table(screen, heads, rows, right=right)
        return
    half = -(-len(rows) // 2)
    others = [*rows[half:], ("",) * len(heads)]
    pairs = [(*one, "  ", *other) for one, other in zip(rows[:half], others, strict=False)]
    yield from table(screen, (*heads, "  ", *heads), pairs, right=f"{right}l{right}")


def _meter(value: float) -> str:
    """A part of one as ten cells."""
    full = round(value * _METER)
    return "█" * full + "░" * (_METER - full)


_TRADES: Final = (
    Field("SIDE", "direction", state),
    Field("FROM", "entryDate"),
    Field("TO", "exitDate"),
    Field("DAYS", "holdDays", side="r"),
    Field("ENTRY", "entryPrice", price, "r"),
    Field("EXIT", "exitPrice", price, "r"),
    Field("RETURN", "returnPct", change, "r"),
    Field("BECAUSE", "exitReason", formats.label, "l"),
)


def _history(data: Any, screen: Display) -> Iterator[str]:
    trades, past, now = data["trades"], data["summary"], data["currentPosition"]
    said = [
        f"has had {past['total']} closed positions: {past['wins']} won, {past['losses']} lost",
        f"({share(past['winRate'])} won), a mean of",
        change(past["meanReturnPct"]),
        "each, after costs and funding.",
    ]
    yield from flow(screen, [strong(data["symbol"]), *(said if past["total"] else ["has had no closed position."])])
    if now:
        entry = "at a price to come;" if now["entryPrice"] is None else f"at {price(now['entryPrice'])};"
        lasting = f"since {now['entryDate']}, {now['holdDays']} days,"
        worth = f"the price is {price(now['currentPrice'])}:"
        yield from flow(screen, ["Now", state(now["direction"]), lasting, entry, worth, change(_gain(now))])
    if not trades:
        return
    yield ""
    yield from _strip(trades, now, screen)
    yield ""
    yield from _growth(trades, screen)
    yield ""
    yield from columns(screen, _TRADES, trades[::-1])
    yield from _in_usd(screen)
    yield ""
    standard, missing = data["meta"]["standard"], data["meta"]["missing"]
    least, *_, most = sorted(band["bps"] for band in standard["slippage"])
    costs = f"Fee {standard['fee_bps']:g}, slippage {least:g} to {most:g} basis points a fill, by the coin's volume."
    yield from flow(screen, [Cell(" ".join([standard["fills"], costs, standard["funding"], *missing]), "dim")])


def _strip(trades: Sequence[Any], now: Any, screen: Display) -> Iterator[str]:
    """When the coin was held, and on which side: a row of time."""
    width = min(screen.width, _WIDEST)
    spans = [(_at(one["entryDate"]), _at(one["exitDate"]), one["direction"]) for one in trades]
    start, end = spans[0][0], max(spans[-1][1], spans[0][0] + width * _DAY_MS)
    if now:
        end = _at(now["entryDate"]) + now["holdDays"] * _DAY_MS
        spans.append((_at(now["entryDate"]), end, now["direction"]))
    strip: list[tuple[str, Style | None]] = [("─", "dim")] * width
    for since, until, side in spans:
        first, last = (min(max((at - start) * width // (end - start), 0), width - 1) for at in (since, until))
        strip[first : last + 1] = [("▀" if side == "long" else "▄", STYLES.get(side))] * (last + 1 - first)
    yield "".join(screen.paint(style, letter) for letter, style in strip)
    first_day, last_day = safe(trades[0]["entryDate"]), "now" if now else safe(trades[-1]["exitDate"])
    available, legend = width - len(first_day) - len(last_day), "▀ long  ▄ short  ─ neither"
    beside = legend if len(legend) < available - 1 else ""
    yield screen.paint("dim", f"{first_day}{beside.center(available)}{last_day}")
    if not beside:
        yield screen.paint("dim", legend)


def _at(text: str) -> int:
    return instant(text) or 0


def _growth(trades: Sequence[Any], screen: Display) -> Iterator[str]:
    """What 100 would have become: level between positions, straight from the entry of each to its exit."""
    worth, days = [_START], [trades[0]["entryDate"]]
    for one in trades:
        days += [one["entryDate"], one["exitDate"]]
        worth += [worth[-1], worth[-1] * (1 + one["returnPct"] / 100)]
    xs = [float(_at(when)) for when in days]
    marks = [(xs[0], safe(days[0])), (xs[-1], safe(days[-1]))]
    yield from flow(screen, [Cell("What 100 became, all of it in each position", "dim")])
    yield from plots.line(screen, xs, worth, tick=lambda value: f"{value:.0f}", marks=marks)
