"""Views of `regime`: the market's regime, current positions, regime changes and one coin's past positions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from service.cli import plots
from service.cli.formatting import change, day, footer, instant, price, share
from service.cli.layout import flow, table
from service.cli.terminal import Cell, Display, Style, safe

STYLES: Final[Mapping[str, Style]] = {
    "risk-on": "good",
    "risk-off": "bad",
    "neutral": "warn",
    "long": "good",
    "short": "bad",
}
_WITH_METER: Final = 84
_METER: Final = 10
_ROOMY: Final = 72
"""Cells from which two halves of a table stand beside each other."""
_DAY_MS: Final = 86_400_000
_START: Final = 100.0
"""What a history begins with, to show what became of it."""


def regime(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """Show an answer of any of the four actions."""
    shown = {"signals": _signals, "confidence": _confidence, "history": _history}
    yield from shown.get(str(chosen.get("action")), _active)(data, screen)
    yield ""
    yield from footer(screen, meta, *_rules(data))


def _rules(data: Any) -> list[str]:
    text = data.get("meta", {}).get("ruleset") or data.get("source")
    return [text] if text else []


def _active(data: Any, screen: Display) -> Iterator[str]:
    market, held, age = data["market"], data["positions"], data["market"]["age_days"]
    yield from flow(
        screen,
        [
            "The market is",
            Cell(market["regime"], STYLES.get(market["regime"])),
            f"since {day(market['since'])}, {age} day{'' if age == 1 else 's'}; conviction",
            Cell(share(market["conviction"], 0), "strong"),
        ],
    )
    yield ""
    universe = data["meta"]["universe"]
    longs = sum(one["direction"] == "long" for one in held)
    parts = ((longs, "good", "█"), (len(held) - longs, "bad", "▓"), (universe - len(held), "dim", "░"))
    yield plots.shares(screen, parts, min(screen.width, 100))  # type: ignore[arg-type]
    rest = f"{universe - len(held)} of {universe} coins without a position"
    yield from flow(screen, [f"{longs} long, {len(held) - longs} short, {rest}"])
    yield ""
    if held:
        yield from positions(held, screen)


def positions(held: Sequence[Any], screen: Display) -> Iterator[str]:
    """Positions of coins, as they come."""
    rows = [
        (
            one["symbol"],
            Cell(one["direction"], STYLES.get(one["direction"])),
            *([meter(one["conviction"])] if screen.width >= _WITH_METER else []),
            share(one["conviction"], 0),
            one["entryDate"],
            one["holdDays"],
            price(one["entryPrice"]),
            price(one["currentPrice"]),
            change(gain(one["direction"], one["entryPrice"], one["currentPrice"]), 1),
        )
        for one in held
    ]
    is_wide = screen.width >= _WITH_METER
    heads = (*(("CONVICTION", "") if is_wide else ("SURE",)), "SINCE", "DAYS", "FROM", "NOW", "GAIN")
    yield from table(screen, ("COIN", "SIDE", *heads), rows, right="lllrlrrrr" if is_wide else "llrlrrrr")


def gain(direction: str, entry: float | None, now: float | None) -> float | None:
    """What a position has gained since it was entered, percent of its price then; nothing is taken off for costs."""
    if now is None or not entry:
        return None
    return (now / entry - 1) * (100 if direction == "long" else -100)


def meter(value: float) -> str:
    """A part of one as ten cells."""
    full = round(value * _METER)
    return "█" * full + "░" * (_METER - full)


def _signals(data: Any, screen: Display) -> Iterator[str]:
    if not data["signals"]:
        yield "No coin's regime has turned."
    for place, one in enumerate(data["signals"]):
        if place:
            yield ""
        aim = f", {one['direction']}" if one["direction"] else ""
        turned = Cell(f"{one['regime']}{aim}", STYLES.get(one["regime"]))
        text = f"on {day(one['firedAt'])}, conviction {share(one['conviction'], 0)}"
        yield from flow(screen, [Cell(one["symbol"], "strong"), "turned", turned, Cell(text, "dim")])
        yield from flow(screen, one["reasons"], indent=2)


def _confidence(data: Any, screen: Display) -> Iterator[str]:
    yield from flow(screen, [data["summary"]])
    yield ""
    rows = [
        (
            one["symbol"],
            Cell(one["regime"], STYLES.get(one["regime"])),
            meter(one["confidence"]),
            share(one["confidence"], 0),
        )
        for one in data["coins"]
    ]
    yield from beside(screen, ("COIN", "REGIME", "CONFIDENCE", ""), rows, "lllr")


def beside(screen: Display, heads: Sequence[str], rows: Sequence[Sequence[Any]], right: str) -> Iterator[str]:
    """A long and narrow table in two halves beside each other, if both fit."""
    if screen.width < _ROOMY:
        yield from table(screen, heads, rows, right=right)
        return
    half = -(-len(rows) // 2)
    blank = [""] * len(heads)
    pairs = [
        (*rows[place], "  ", *(rows[half + place] if half + place < len(rows) else blank)) for place in range(half)
    ]
    yield from table(screen, (*heads, "  ", *heads), pairs, right=f"{right}l{right}")


def _history(data: Any, screen: Display) -> Iterator[str]:
    trades, summary, now = data["trades"], data["summary"], data["currentPosition"]
    yield from flow(screen, _past(data["symbol"], summary))
    if now:
        yield from flow(
            screen,
            [
                "Now",
                Cell(now["direction"], STYLES.get(now["direction"])),
                f"since {now['entryDate']}, {now['holdDays']} days,",
                "at a price to come;" if now["entryPrice"] is None else f"at {price(now['entryPrice'])};",
                f"the price is {price(now['currentPrice'])}:",
                change(gain(now["direction"], now["entryPrice"], now["currentPrice"])),
            ],
        )
    if not trades:
        return
    yield ""
    yield from _strip(trades, now, screen)
    yield ""
    yield from _growth(trades, screen)
    yield ""
    rows = [
        (
            Cell(one["direction"], STYLES.get(one["direction"])),
            one["entryDate"],
            one["exitDate"],
            one["holdDays"],
            price(one["entryPrice"]),
            price(one["exitPrice"]),
            change(one["returnPct"]),
            one["exitReason"].replace("-", " "),
        )
        for one in reversed(trades)
    ]
    heads = ("SIDE", "FROM", "TO", "DAYS", "ENTRY", "EXIT", "RETURN", "BECAUSE")
    yield from table(screen, heads, rows, right="lllrrrrl")
    yield ""
    standard, missing = data["meta"]["standard"], data["meta"]["missing"]
    least, *_, most = sorted(band["bps"] for band in standard["slippage"])
    costs = f"Fee {standard['fee_bps']:g}, slippage {least:g} to {most:g} basis points a fill, by the coin's volume."
    yield from flow(screen, [Cell(" ".join([standard["fills"], costs, standard["funding"], *missing]), "dim")])


def _past(symbol: str, summary: Any) -> list[str | Cell]:
    if not summary["total"]:
        return [Cell(symbol, "strong"), "has had no closed position."]
    return [
        Cell(symbol, "strong"),
        f"has had {summary['total']} closed positions: {summary['wins']} won, {summary['losses']} lost",
        f"({share(summary['winRate'])} won), a mean of",
        change(summary["meanReturnPct"]),
        "each, after costs and funding.",
    ]


def _strip(trades: Iterable[Any], now: Any, screen: Display) -> Iterator[str]:
    """When the coin was held, and on which side: a row of time."""
    spans = [(one["entryDate"], one["exitDate"], one["direction"]) for one in trades]
    width = min(screen.width, 100)
    start = instant(spans[0][0]) or 0
    end = max(instant(spans[-1][1]) or 0, start + width * _DAY_MS)
    if now:
        end = (instant(now["entryDate"]) or 0) + now["holdDays"] * _DAY_MS
        spans.append((now["entryDate"], None, now["direction"]))
    cells: list[tuple[str, Style | None]] = [("─", "dim")] * width
    for since, until, side in spans:
        first = _column(instant(since) or start, start, end, width)
        last = width - 1 if until is None else _column(instant(until) or end, start, end, width)
        letter = "▀" if side == "long" else "▄"
        cells[first : last + 1] = [(letter, STYLES.get(side))] * (last + 1 - first)
    yield "".join(screen.paint(style, letter) for letter, style in cells)
    first_day, last_day = safe(spans[0][0]), "now" if now else safe(spans[-1][1])
    available, legend = width - len(first_day) - len(last_day), "▀ long  ▄ short  ─ neither"
    beside = legend if len(legend) < available - 1 else ""
    yield screen.paint("dim", f"{first_day}{beside.center(available)}{last_day}")
    if not beside:
        yield screen.paint("dim", legend)


def _column(at_ms: int, start: int, end: int, width: int) -> int:
    return min(max((at_ms - start) * width // (end - start), 0), width - 1)


def _growth(trades: Sequence[Any], screen: Display) -> Iterator[str]:
    """What 100 would have become: level between positions, straight from the entry of each to its exit."""
    worth, days = [_START], [trades[0]["entryDate"]]
    for one in trades:
        days += [one["entryDate"], one["exitDate"]]
        worth += [worth[-1], worth[-1] * (1 + one["returnPct"] / 100)]
    xs = [float(instant(when) or 0) for when in days]
    yield from flow(screen, [Cell("What 100 became, all of it in each position", "dim")])
    yield from plots.line(
        screen, xs, worth, tick=lambda value: f"{value:.0f}", marks=[(xs[0], safe(days[0])), (xs[-1], safe(days[-1]))]
    )
