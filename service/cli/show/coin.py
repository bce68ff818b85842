"""Views of `coin risk` and `coin historical`."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor
from operator import itemgetter
from typing import Any, Final

from service import formats
from service.cli import plots
from service.cli.formatting import change, direction, elapsed_s, footer, instant, moment, money, signed, trend, usd
from service.cli.layout import facts, flow, heading, table
from service.cli.show.columns import strong
from service.cli.terminal import Cell, Display, Part, cells
from service.clock import iso

_DAYS: Final = 365
_BARS: Final = {"daily": (86_400, "day"), "weekly": (7 * 86_400, "week")}
_SUM_USD: Final = 10_000
"""What a rate a year is said of, so that it can be felt."""


def coin_risk(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Price, trends, what funding costs, sentiment."""

    def marked(field: str, *parts: Part) -> list[Part]:
        """Whether a field is one that could not be refreshed, or is not known, behind it."""
        said = "(not known)" if data[field] is None else "(stale)"
        return [*parts, *([Cell(said, "warn")] if field in data["_stale_fields"] else [])]

    yield from heading(screen, [strong(data["symbol"]), *marked("price", strong(usd(data["price"])))])  # type: ignore[list-item]
    yield ""
    to_btc = None if data["btc_correlation"] is None else f"{data['btc_correlation']:+.2f} to BTC"
    yield from facts(
        screen,
        [
            ("Daily trend", marked("trend_daily", *_trend(data, "daily", meta))),
            ("Weekly trend", marked("trend_weekly", *_trend(data, "weekly", meta))),
            ("Funding", marked("funding_apr", *_funding(data))),
            ("Carry", _carry(data)),
            ("Correlation", marked("btc_correlation", Cell(to_btc))),
            ("Sentiment", marked("sentiment_stance", strong(data["sentiment_stance"]))),
            ("", [data["sentiment_summary"] or ""]),
        ],
    )
    yield ""
    kept = [field for field in data["_stale_fields"] if data.get(field) is not None]
    if kept:
        said = f"{', '.join(kept)} could not be refreshed; the last that is known is shown."
        yield from flow(screen, [Cell("Stale:", "warn"), said])
        yield ""
    yield from footer(screen, meta, " ".join(data[name] for name in ("venue", "venue_symbol") if name in data))


def _trend(data: Any, interval: str, meta: Any) -> list[Part]:
    elapsed, (bar_s, bar) = elapsed_s(data[f"trend_{interval}_since"], meta["ts"]), _BARS[interval]
    state = trend(data[f"trend_{interval}"])
    # The first bar closed at the instant from which the trend lasts.
    return [state] if elapsed is None else [state, f"for {formats.count(floor(elapsed / bar_s) + 1, bar)}"]


def _funding(data: Any) -> list[Part]:
    if data["funding_apr"] is None:
        return [Cell(None)]
    paying, receiving = data["funding_paying_side"], data["funding_receiving_side"]
    said = [f", {paying} pay {receiving}"] if paying and receiving else []
    return [strong(signed(data["funding_apr"])), "a year", *said]


def _carry(data: Any) -> list[Part]:
    """What holding costs or earns, and what that comes to in a day."""
    long, short = data["carry_if_long"], data["carry_if_short"]
    if long is None or short is None:
        return []
    a_day = money(abs(long) / 100 / _DAYS * _SUM_USD)
    return ["long", change(long), ", short", change(short), f"a year, {a_day} a day on {usd(_SUM_USD)}"]


_UNITS: Final = {"h": "hours", "d": "days"}
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MARKS: Final = 4
_SPARK: Final = 60
_SUMS: Final = (
    ("market cap", "marketCap"),
    ("volume, 24 h", "volume"),
    ("open interest", "openInterest"),
    ("futures volume, 24 h", "futuresVolume24h"),
)


def coin_historical(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """The price as a curve, both ends as a table, what was traded and paid between."""
    at, now = data["at"], data["now"]
    ends, moved = f"{usd(at['priceUSD'])} → {usd(now['priceUSD'])}", data["change_pct"]
    unit = _UNITS.get(data["unit"], data["unit"])
    yield from heading(
        screen, [strong(data["symbol"]), strong(ends), change(moved), Cell(f"in {data['count']} {unit}")]
    )
    way = _way(data)
    if way:
        yield ""
        prices = [price for _, price in way]
        yield from plots.line(screen, range(len(way)), prices, direction(moved) or "accent", marks=_marks(way))
    yield ""
    before, after = at["fundingRate"], now["fundingRate"]
    points = None if before is None or after is None else signed(after - before, unit=" points")
    rows: list[list[Cell | object]] = [
        ["price", usd(at["priceUSD"]), usd(now["priceUSD"]), change(moved)],
        *([title, money(at[name]), money(now[name]), change(_grown(at[name], now[name]))] for title, name in _SUMS),
        ["funding, a year", signed(before), signed(after), points],
    ]
    # A space keeps the label of the second column where rows become lists.
    yield from table(screen, [" ", f"{data['count']} {data['unit'].upper()} AGO", "NOW", "CHANGE"], rows, right="wrrr")
    said = [*_reached(way), *_between(data["series"], screen)] if way else []
    if now["as_of"] is not None:
        said.append(("Now", [f"price and funding of {moment(now['as_of'])}"]))
    if said:
        yield ""
        yield from facts(screen, said)
    yield ""
    yield from footer(screen, meta)


def _way(data: Any) -> list[tuple[str, float]]:
    """When it cost what: at the start, at the bars' ends, then now."""
    at, now, series = data["at"], data["now"]["priceUSD"], data["series"]
    way = [(_time(_ended(str(point["t"]), data["unit"]), data["unit"]), point["priceUSD"]) for point in series]
    if way and at["priceUSD"] is not None and at["as_of"] is not None and at["as_of"] < series[0]["t"]:
        way.insert(0, (_time(str(at["as_of"]), data["unit"]), at["priceUSD"]))
    return [*way, ("now", now)] if way and now is not None else way


def _ended(end: str, unit: str) -> str:
    """The instant that names a bar: a day's bar ends at the midnight after the day."""
    at_ms = instant(end)
    return iso(at_ms - 1) if unit == "d" and at_ms else end


def _marks(way: Sequence[tuple[str, float]]) -> list[tuple[float, str]]:
    """Times under the curve, evenly spread."""
    places = sorted({round(mark * (len(way) - 1) / (_MARKS - 1)) for mark in range(_MARKS)})
    return [(place, way[place][0]) for place in places]


def _time(text: str, unit: str) -> str:
    month = text[5:7]
    name = _MONTHS[int(month) - 1] if month in {f"{number:02d}" for number in range(1, 13)} else month
    return Cell(f"{text[8:10]} {name} {text[11:16] if unit == 'h' else ''}".rstrip()).text


def _grown(before: float | None, after: float | None) -> float | None:
    return 100 * (after / before - 1) if before and after is not None else None


def _reached(way: Sequence[tuple[str, float]]) -> Iterator[tuple[str, list[Part]]]:
    """The highest and the lowest on the way, and how far that is from its end."""
    end, last = way[-1]
    for title, (when, price) in (("High", max(way, key=itemgetter(1))), ("Low", min(way, key=itemgetter(1)))):
        since = [] if when == end else [f", {signed(_grown(price, last))} since"]
        yield title, [strong(usd(price)), f", {when}", *since]


def _between(series: Any, screen: Display) -> Iterator[tuple[str, list[Part]]]:
    """What was traded and paid, bar by bar, as small pictures."""
    for title, name, text in (("Volume", "volume", money), ("Funding", "fundingRate", signed)):
        values = [point[name] for point in series]
        known = [value for value in values if value is not None]
        if known:
            ends = f"{text(min(known))} to {text(max(known))}"
            available = max(min(screen.width - cells(ends) - 12, _SPARK), 1)
            yield title, [Cell(plots.sparkline(values, available).replace(" ", "·"), "accent"), ends]
