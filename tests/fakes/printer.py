"""What a person sees of an answer at a terminal: the rules by which the clients in the field print `data`.

Tables are rows of cells divided by two spaces, a line each; colours are left out.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

LISTS: Final = [
    "items",
    "data",
    "results",
    "rows",
    "signals",
    "positions",
    "movements",
    "events",
    "highlights",
    "suggestions",
    "watchlist",
    "snapshots",
    "outcomes",
    "matches",
    "categories",
    "narratives",
    "sources",
    "log",
    "history",
    "assets",
    "coins",
    "trades",
    "active",
    "resolved",
]
FIRST_COLUMNS: Final = ("symbol", "name", "id", "asset", "ticker", "pair")
COLUMNS, CELL, ROWS, KEYS = 6, 32, 50, 20
MOST_IN_HEADER, MOST_LINES = 6, 14
_WEEK_S: Final = 7 * 86_400


def printed(route: str, data: Any, now_ms: int = 0) -> str:
    """What is printed of the `data` of a route (`coin/lookup`); `now_ms` is the clock of the client."""
    by_hand = {
        "coin/lookup": _coin,
        "coin/by-id": _coin,
        "coin/by-name": _coin,
        "market/prices": _prices,
        "funding/momentum": _momentum,
        "resolve": _matches,
    }.get("/".join(route.split("/")[:2]))
    return generic(data, now_ms) if by_hand is None else by_hand(data, now_ms)


def generic(data: Any, now_ms: int = 0) -> str:
    """What the generic printer makes of `data`."""
    if isinstance(data, list):
        return _list(data, now_ms)
    return "\n".join(_object(data, now_ms)) if isinstance(data, dict) else _cell("", data, now_ms)


def table(rows: Sequence[Mapping[str, Any]], now_ms: int = 0) -> str:
    """At most six scalar columns of at most 50 rows: known names first, then the most frequent, then as sent."""
    seen = Counter(key for row in rows for key, value in row.items() if _is_scalar(value))
    first = [name for name in FIRST_COLUMNS if name in seen]
    others = sorted((name for name in seen if name not in first), key=lambda name: -seen[name])
    columns = [*first, *others][:COLUMNS]
    lines = ["  ".join(columns)]
    lines += ["  ".join(_cell(name, row.get(name), now_ms)[:CELL] for name in columns) for row in rows[:ROWS]]
    return "\n".join(lines)


def _list(values: list[Any], now_ms: int) -> str:
    if not values:
        return "(empty)"
    if all(_is_scalar(value) for value in values):
        return "\n".join(_cell("", value, now_ms) for value in values[:ROWS])
    if all(isinstance(value, dict) for value in values):
        return table(values, now_ms)
    return _raw(values)


def _object(data: Mapping[str, Any], now_ms: int) -> list[str]:
    scalars = {key: value for key, value in data.items() if _is_scalar(value)}
    listed = _list_key(data)
    if listed is None:
        if not 1 <= len(scalars) <= MOST_LINES:
            return [_raw(data)]
        lines = [f"{key}  {_cell(key, value, now_ms)}" for key, value in scalars.items()]
    else:
        lines = []
        if 1 <= len(scalars) <= MOST_IN_HEADER:
            lines.append("  ".join(f"{key} {_cell('', value, now_ms)}" for key, value in scalars.items()))
        lines.append(_list(data[listed], now_ms))
    for key, value in data.items():
        if isinstance(value, dict):
            lines += [key.upper(), *_section(value, now_ms)]
        elif isinstance(value, list) and listed is None:
            lines += [f"{key}  {len(value)} items" if len(value) > KEYS else f"{key}  {_raw(value)}"]
    return lines


def _section(value: Mapping[str, Any], now_ms: int) -> list[str]:
    return [f"{len(value)} keys"] if len(value) > KEYS and _list_key(value) is None else _object(value, now_ms)


def _list_key(data: Mapping[str, Any]) -> str | None:
    named = (key for key in LISTS if isinstance(data.get(key), list))
    of_objects = (
        key for key, value in data.items() if isinstance(value, list) and value and isinstance(value[0], dict)
    )
    return next(named, None) or next(of_objects, None)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _raw(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode()


def _cell(key: str, value: Any, now_ms: int = 0) -> str:
    """One value as the words of its key have it shown."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _ago(value, now_ms) if "time" in key.lower() or "at" in key.lower() else value
    return _number(key, value)


def _ago(text: str, now_ms: int) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = int(now_ms / 1_000 - moment.timestamp())
    return f"{_span(seconds)} ago ({text})" if 0 <= seconds < _WEEK_S else text


def _span(seconds: int) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


_PARTS_OF_ONE: Final = frozenset({"win", "hit", "success", "loss", "fail", "error"})
"""With `rate`: a share between 0 and 1."""


def _number(key: str, value: float) -> str:
    words = set(re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).lower().split("_"))
    share = f"{value * 100 if 0 <= value <= 1 else value:.1f}"
    is_share = "accuracy" in words or ("rate" in words and words & _PARTS_OF_ONE)
    is_large = words & {"cap", "mcap", "marketcap", "volume"} or {"open", "interest"} <= words
    kinds = (
        ("ratio" in words, f"{value:.4g}"),
        ("price" in words or key == "usd", f"${value:,.2f}" if abs(value) >= 1 else f"${value:.6g}"),
        ("percentile" in words, share),
        (is_share, f"{share}%"),
        (words & {"apr", "pct", "percent", "rate"}, f"{value:.2f}%"),
        (is_large, compact(value)),
        (words & {"correlation", "corr"}, f"{value:.2f}"),
        ("score" in words, f"{value:.1f}"),
        (isinstance(value, int) and abs(value) < 1e6, f"{value:.0f}"),
        (abs(value) >= 1e9, compact(value)),
    )
    return next((shown for is_kind, shown in kinds if is_kind), f"{value:.6g}")


def compact(value: float) -> str:
    """`4.04T`, `13.20K`: three digits behind the point at most, with K, M, B or T."""
    for letter, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.2f}{letter}"
    return f"{value:.6g}"


def _coin(data: dict[str, Any], now_ms: int) -> str:
    lines = []
    current = data.get("currentTrend")
    if current is not None:
        line = f"current trend  {current['trend']} since {current['since']} ({current['days']} days, as of "
        weekly = data.get("currentTrendWeekly")
        line += f"{current['asOf']})" + (f"   weekly {weekly['trend']} since {weekly['since']}" if weekly else "")
        lines.append(line)
    shown = {key: value for key, value in data.items() if key not in {"currentTrend", "currentTrendWeekly"}}
    return "\n".join([*lines, generic(shown, now_ms)])


def _prices(data: dict[str, Any], now_ms: int) -> str:
    lines, baselines = [], data.get("baselines") or {}
    for coin, value in list(data["prices"].items())[:ROWS]:
        moment = value["ts"]
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment).timestamp()
        seconds = int(now_ms / 1_000 - (moment / 1_000 if moment >= 1e12 else moment))
        cells = [coin.upper(), f"${value['price']:,.6g}", value["source"], f"{_span(seconds)} ago"]
        cells += ["—" if base is None else f"{base:.4e}" for base in baselines.get(coin, {}).values()]
        lines.append("  ".join(cells))
    return "\n".join(lines)


def _momentum(data: dict[str, Any], _: int) -> str:
    def market(value: Any) -> str:
        if not isinstance(value, dict):
            return "undefined"
        return (
            f"market {value['temperature']}  avg {value['avgApr']:.2f}%  "
            f"{value['positive']} positive, {value['negative']} negative of {value['total']}"
        )

    if "symbol" in data:
        percentile = math.floor(data["percentile"] * 100 + 0.5)
        return (
            f"{data['symbol']}  {data['apr']:.2f}% APR  percentile {percentile}  {data['tier']}  "
            f"size x{data['sizeMult']:g}\n{market(data.get('market'))}"
        )
    spread = data["distribution"]
    return f"{market(data.get('market'))}\n" + "  ".join(f"{key} {spread[key]:.2f}%" for key in ("p10", "p50", "p90"))


def _matches(data: dict[str, Any], now_ms: int) -> str:
    if not data["matches"]:
        return f"No match for {data['query']} (tried: {', '.join(data['tried'])})"
    names = ("symbol", "name", "via", "rank", "assetType")
    rows = [
        {**{name: row.get(name) for name in names}, "assetType": row.get("assetType", "crypto")}
        for row in data["matches"]
    ]
    lines = [table(rows, now_ms)]
    return "\n".join([data["note"], *lines] if data.get("note") else lines)
