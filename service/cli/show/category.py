"""Views of `category`, `sentiment` and `narratives`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.cli import plots
from service.cli.formatting import (
    UNKNOWN,
    change,
    day,
    direction,
    elapsed_s,
    footer,
    money,
    signed,
    span,
    trend,
    usd,
)
from service.cli.layout import facts, flow, heading, listed, table
from service.cli.show import market
from service.cli.show.plain import rows, word
from service.cli.terminal import Cell, Display, Part, Style

_HEADERS: Final = ("COIN", "NAME", "PRICE", "24 H", "MARKET CAP", "TREND", "FOR")
_INFO_BAR: Final = 24
_ROOMY: Final = 110


def category_info(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """The category as a whole, its breadth, then a row a coin."""
    yield from heading(
        screen, [Cell(data["name"], "strong"), Cell(money(data["market_cap"]), "strong"), change(data["change_24h"])]
    )
    if data["description"]:
        yield from flow(screen, [Cell(data["description"], "dim")])
    yield ""
    yield from market.breadth_lines(screen, data["trends"])
    yield ""
    yield from facts(
        screen,
        [
            ("Volume, 24 h", [money(data["volume_24h"])]),
            ("Ahead", [", ".join(data["leaders"])]),
            ("Behind", [", ".join(data["laggards"])]),
        ],
    )
    yield ""
    yield from _coins(data["coins"], screen)
    yield ""
    yield from footer(screen, meta)


def _coins(coins: Any, screen: Display) -> Iterator[str]:
    """A table of coins; on a wide screen also the change as a bar."""
    drawn = screen.width >= _ROOMY
    changes = [coin["change_24h"] or 0.0 for coin in coins]
    low, high = min(0.0, *changes, 0.0), max(0.0, *changes, 0.0)
    rows = [[*_info_row(coin), *([_bar(coin["change_24h"], low, high)] if drawn else [])] for coin in coins]
    yield from table(screen, [*_HEADERS, *([""] if drawn else [])], rows, right="llrrrlr")


def _info_row(coin: Any) -> list[Cell | object]:
    streak = coin["streak_days"]
    return [
        Cell(coin["symbol"], "strong"),
        coin["name"],
        usd(coin["price"]),
        change(coin["change_24h"]),
        money(coin["market_cap"]),
        trend(coin["trend_daily"]),
        UNKNOWN if streak is None else f"{streak} d",
    ]


def _bar(value: float | None, low: float, high: float) -> Cell:
    return Cell(plots.bar(value, low, high, _INFO_BAR), direction(value))


_GAUGE: Final = 41
_MOOD_BAR: Final = 30
_STANCES: Final[Mapping[str, Style]] = {
    "accumulation": "good",
    "distribution": "warn",
    "euphoria": "warn",
    "capitulation": "bad",
    "exhaustion": "accent",
}


def category_sentiment(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Stance and score, what they rest on, then the coins from the best spoken of to the worst."""
    yield from heading(screen, [Cell(data["name"], "strong"), _stance(data["stance"], "strong"), _score(data["score"])])
    if data["score"] is not None:
        drawn = plots.gauge(data["score"], -1, 1, min(_GAUGE, max(screen.width - 6, 3)))
        yield f"-1 {screen.paint(direction(data['score']), drawn)} +1"
    yield ""
    yield from facts(screen, _figures(data, meta))
    yield ""
    yield from table(
        screen, ["COIN", "STANCE", "SCORE", ""], [_mood_row(coin) for coin in _ranked(data["coins"])], right="llr"
    )
    yield ""
    yield from footer(screen, meta)


def _figures(data: Any, meta: Any) -> Iterator[tuple[str, list[Part]]]:
    yield "Summary", [data["summary"]]
    yield "Change", [_score(data["slope_24h"]), "in 24 h"]
    newest, sources = data["provenance"]["newest_at"], data["provenance"]["sources"]
    ago = [] if newest is None else [f", the newest {span(elapsed_s(newest, meta['ts']))} ago"]
    by = [f", by {' and '.join(sources)}"] if sources else []
    yield "Mentions", [f"{data['mentions']:,} in 7 days", *by, *ago]
    counts = Counter(coin["stance"] for coin in data["coins"])
    yield "Coins", listed(Cell(f"{count} {stance}", _STANCES.get(stance)) for stance, count in counts.most_common())


def _stance(name: str | None, otherwise: Style | None = None) -> Cell:
    return Cell(name, _STANCES.get(name or "", otherwise))


def _score(value: float | None) -> Cell:
    return Cell(signed(value, unit=""), direction(value))


def _ranked(coins: Any) -> list[Any]:
    return sorted(coins, key=lambda coin: (coin["score"] is None, -(coin["score"] or 0.0)))


def _mood_row(coin: Any) -> list[Cell | object]:
    drawn = plots.bar(coin["score"], -1, 1, _MOOD_BAR)
    return [
        Cell(coin["symbol"], "strong"),
        _stance(coin["stance"]),
        _score(coin["score"]),
        Cell(drawn, direction(coin["score"])),
    ]


_HIDDEN: Final = frozenset({"success", "interval"})
_DAYS: Final = frozenset({"first_seen", "last_seen"})


def sentiment(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """One item in full, or a list as a table."""
    items = data.get("data", data)
    items = items if isinstance(items, list) else [items]
    if len(items) == 1 and "summary" in items[0]:
        yield from item_lines(items[0], meta, screen)
    elif "data" in data:
        yield from _lists({"items": [_short(item) for item in items]}, screen)
    else:
        yield from _lists(data, screen)
    yield ""
    yield from footer(screen, meta)


def narratives(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """A row a narrative, below how it was counted."""
    counts = ", ".join(f"{count} {name}" for name, count in data["surfaces"].items())
    yield from facts(
        screen, [("Narratives", [str(data["total_count"])]), (f"Items, {data['periods_back']} days", [counts])]
    )
    yield ""
    yield from _entries(data["narratives"], screen)
    yield ""
    yield from footer(screen, meta)


def item_lines(item: Any, meta: Any, screen: Display) -> Iterator[str]:
    """One item: what it is about, stance and score, then what they rest on."""
    about = Cell(item["entity_id"], "strong")
    yield from heading(screen, [about, _stance(item["stance"], "strong"), _score(item["score"])])
    yield from flow(screen, [item["summary"]])
    yield ""
    newest = item["newest_at"]
    ago = [] if newest is None else [f", the newest {span(elapsed_s(newest, meta['ts']))} ago"]
    yield from facts(
        screen,
        [
            ("Change", [signed(item["slope_24h"], unit=""), "in 24 h"]),
            ("Mentions", [f"{item['mentions']:,} in 7 days", *ago]),
        ],
    )


def _short(item: Any) -> dict[str, object]:
    return {name: item[name] for name in ("entity_id", "stance", "score", "slope_24h", "mentions")}


def _lists(data: Any, screen: Display) -> Iterator[str]:
    tables = {name: value for name, value in data.items() if isinstance(value, list)}
    others = {name: value for name, value in data.items() if name not in tables and name not in _HIDDEN}
    yield from facts(screen, [(name, [Cell(word(value))]) for name, value in others.items()])
    for entries in tables.values():
        yield ""
        yield from _entries(entries, screen)


def _entries(entries: Any, screen: Display) -> Iterator[str]:
    """A row for each entry of a list."""
    shown = [{name: day(value) if name in _DAYS else value for name, value in entry.items()} for entry in entries]
    names = list(dict.fromkeys(name for entry in shown for name in entry))
    yield from rows(screen, names, shown) if shown else ["None."]
