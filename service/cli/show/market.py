"""Views of the `market` commands and `funding alerts`, and the breadth bar."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.cli import plots
from service.cli.formatting import (
    change,
    day,
    direction,
    elapsed_s,
    footer,
    money,
    percent,
    signed,
    span,
    trend,
    usd,
)
from service.cli.layout import facts, flow, heading, listed, table
from service.cli.terminal import Cell, Display, Part, Style

_WIDEST: Final = 100
_LETTERS: Final = {"UP": "█", "HODL": "▒", "DOWN": "░"}
"""Characters of the bar; they differ, so it reads without colour too."""


def breadth_lines(screen: Display, counts: Mapping[str, int]) -> Iterator[str]:
    """One bar of UP, HODL and DOWN, and what each part is."""
    total = sum(counts[state] for state in _LETTERS)
    if not total:
        yield screen.paint("dim", "No coin's trend is known.")
        return
    parts = [(counts[state], trend(state).style, letter) for state, letter in _LETTERS.items()]
    yield plots.shares(screen, parts, min(screen.width, _WIDEST))
    yield from heading(
        screen,
        [
            Cell(f"{letter} {state} {counts[state]} ({percent(100 * counts[state] / total)})", trend(state).style)
            for state, letter in _LETTERS.items()
        ],
    )


def net_breadth(counts: Mapping[str, int]) -> Cell:
    """The net share, UP less DOWN, in percent of all."""
    total = sum(counts[state] for state in _LETTERS)
    share = 100 * (counts["UP"] - counts["DOWN"]) / total if total else None
    return Cell(signed(share, 1), "strong")


_BAR: Final = 40
_REGIMES: Final[Mapping[str, Style]] = {"risk-on": "good", "neutral": "warn", "risk-off": "bad"}


def market_health(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Breadth as a bar, extremes, and the context where it was asked for."""
    yield from heading(
        screen,
        [
            Cell("Market", "strong"),
            Cell(f"{data['universe']} coins at the close of {data['date']} (UTC)"),
            Cell(f"net {net_breadth(data['trends']).text}", "strong"),
        ],
    )
    yield ""
    yield from breadth_lines(screen, data["trends"])
    yield ""
    yield from facts(screen, _figures(data))
    if "interpretation" in data:
        yield from _context(data, screen)
    yield ""
    yield from footer(screen, meta)


def _figures(data: Any) -> Iterator[tuple[str, list[Part]]]:
    if data.get("regime"):
        lasting = data.get("regime_age_days")
        since = [] if lasting is None else [f"for {lasting} day{'' if lasting == 1 else 's'}"]
        yield "Regime", [Cell(data["regime"], _REGIMES.get(data["regime"])), *since]
    if data.get("velocity") is not None:
        moved = Cell(signed(data["velocity"], unit=""), direction(data["velocity"]))
        yield "Velocity", ["the net share moved by", moved, "points a day over five days"]
    extremes = listed(
        Cell(f"{found['state']} {percent(found['share_pct'])} of all", "warn") for found in data["extremes"]
    )
    yield "Extremes", extremes or ["none: no trend holds 60 % of the coins"]


def _context(data: Any, screen: Display) -> Iterator[str]:
    movers = [*data["leadership"], *reversed(data["laggards"])]
    if movers:
        yield ""
        off = Cell(", percentage points off the median 30-day return", "dim")
        yield from flow(screen, [Cell("Ahead and behind", "strong"), off])
        yield from table(screen, ["COIN", "POINTS", "TREND", ""], list(_movers(movers, screen)), right="lr")
    if data["divergences"]:
        yield ""
        yield screen.paint("strong", "What does not fit")
        for found in data["divergences"]:
            yield from flow(screen, [found["detail"]], label="  ·", indent=4)
    yield ""
    yield screen.paint("strong", "In words")
    yield from flow(screen, [data["interpretation"]], indent=2)


def _movers(movers: Any, screen: Display) -> Iterator[list[Cell | object]]:
    values = [mover["relative_pct"] for mover in movers]
    low, high = min(0.0, *values), max(0.0, *values)
    for mover in movers:
        value = mover["relative_pct"]
        drawn = plots.bar(value, low, high, min(_BAR, max(screen.width - 40, 1)))
        yield [
            mover["symbol"],
            Cell(signed(value, 1, unit=""), direction(value)),
            trend(mover["trend_daily"]),
            Cell(drawn, direction(value)),
        ]


_CROSSING_HEADERS = ("CLOSE OF", "AGO", "CROSSED", "UP", "DOWN", "UP LESS DOWN", "COINS")


def market_crossing(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """A row a crossing, each figure before and after it."""
    yield from heading(screen, [Cell("Breadth crossings", "strong"), Cell("of the last 90 closed days")])
    yield ""
    if data["crossings"]:
        yield from table(
            screen, _CROSSING_HEADERS, [_crossing_row(found, meta) for found in data["crossings"]], right="lrlrrrr"
        )
    else:
        yield from flow(screen, [data.get("message") or "None."])
    yield ""
    yield from footer(screen, meta)


def _crossing_row(found: Any, meta: Any) -> list[Cell | object]:
    before, after = found["previous"], found["current"]
    upward = found["direction"] == "UP over DOWN"
    return [
        day(found["at"]),
        span(elapsed_s(found["at"], meta["ts"])),
        Cell(f"{'▲' if upward else '▼'} {found['direction']}", "good" if upward else "bad"),
        f"{before['UP']} → {after['UP']}",
        f"{before['DOWN']} → {after['DOWN']}",
        f"{before['UP'] - before['DOWN']:+} → {after['UP'] - after['DOWN']:+}",
        found["universe"],
    ]


_ALERT_HEADERS: Final = ("AGO", "COIN", "ZONE", "A YEAR", "RANK", "PRICE", "STATE")
_ZONES: Final[Mapping[str, tuple[str, Style]]] = {
    "very-hot": ("▲▲", "bad"),
    "hot": ("▲", "warn"),
    "cold": ("▼", "accent"),
    "very-cold": ("▼▼", "good"),
}


def funding_alerts(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """What is still on, then a row an event, newest first."""
    events, page = data["events"], data["meta"]
    of = [Cell(f"of {str(chosen['symbol']).upper()}")] if chosen.get("symbol") else []
    yield from heading(screen, [Cell("Funding alerts", "strong"), *of, Cell(f"{len(events)} of {page['total']:,}")])
    yield ""
    if events:
        yield from facts(screen, [("Still on", _open(events))])
        yield ""
        yield from table(screen, _ALERT_HEADERS, [_alert_row(event, meta) for event in events], right="rllrrr")
        yield ""
        yield from flow(
            screen, [Cell("A YEAR: funding when it fired. RANK: its percentile in the coin's last 30 days.", "dim")]
        )
    else:
        yield from flow(screen, ["None: no coin's funding entered a zone."])
        yield ""
    if page["next_cursor"]:
        yield from flow(screen, [Cell(f"Older ones: --cursor {page['next_cursor']}", "dim")])
    yield from footer(screen, meta)


def _zone(name: str) -> Cell:
    sign, style = _ZONES.get(name, ("", None))
    return Cell(f"{sign:<2} {name}", style)


def _open(events: Any) -> list[Part]:
    """How many of those shown are not cleared yet, by zone."""
    counts = Counter(event["triggerZone"] for event in events if event["clearedAt"] is None)
    return listed(Cell(f"{counts[name]} {name}", _ZONES[name][1]) for name in _ZONES if counts[name]) or ["none"]


def _alert_row(event: Any, meta: Any) -> list[Cell | object]:
    cleared = event["clearedAt"]
    lasted = span(elapsed_s(event["firedAt"], cleared))
    return [
        span(elapsed_s(event["firedAt"], meta["ts"])),
        Cell(event["asset"], "strong"),
        _zone(event["triggerZone"]),
        signed(event["fundingAtTrigger"]),
        percent(event["percentile"]),
        usd(event["price"]),
        Cell("on", "warn") if cleared is None else Cell(f"cleared after {lasted}", "dim"),
    ]


def market_prices(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Prices now, in the past, or both, a coin a line."""
    prices, past = data.get("prices", {}), data.get("baselines", {})
    stale = set(data["_stale_fields"])
    horizons = [name for name in ("b4h", "b24h", "b7d") if any(name in row for row in past.values())]
    rows = []
    for key in prices or past:
        now = prices.get(key)
        quoted = [] if now is None else [Cell(usd(now["price"]), "strong"), Cell(now["source"], "dim")]
        before = {name: past[key].get(name) for name in horizons}
        shown = [f"prices.{key}", *(f"baselines.{key}.{name}" for name, price in before.items() if price is not None)]
        mark = Cell("" if stale.isdisjoint(shown) else "stale", "warn")
        symbol = key if now is None else now["symbol"]
        rows.append([Cell(symbol, "strong"), *quoted, *map(usd, before.values()), mark])
    heads = [*(("PRICE", "SOURCE") if prices else ()), *(f"{name[1:]} AGO" for name in horizons)]
    yield from table(screen, ("COIN", *heads, ""), rows, right="l" + "r" * len(heads))
    if "missing" in data:
        yield ""
        yield from flow(screen, [Cell(f"Without a price: {', '.join(data['missing'])}.", "warn")])
    yield ""
    yield from footer(screen, meta)


def market_global(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Totals, and shares of the largest coins."""
    total = data["totalMarketCap"]
    stale = [Cell("stale", "warn")] if data["_stale_fields"] else []
    yield from facts(
        screen,
        [
            ("Market value", [Cell(money(total["market_cap_usd"]), "strong"), *stale]),
            ("Change, 24 h", [change(total["change_24h_pct"])]),
            ("Volume, 24 h", [Cell(money(data["totalMarketVolume"]["volume_24h_usd"]))]),
            *((ticker.upper(), [Cell(percent(share))]) for ticker, share in data["marketCapPercentage"].items()),
        ],
    )
    yield ""
    yield from footer(screen, meta, data["scope"])
