"""`verdict coin historical BTC`: a coin then and now, and the way between."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from service.clients.cli import plots
from service.clients.cli.figures import change, direction, footer, moment, money, signed, usd
from service.clients.cli.prose import facts, heading
from service.clients.cli.screen import Cell, Part, Screen, cells, sparkline
from service.clients.cli.tables import table

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


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """The price as a curve, both ends as a table, what was traded and paid between."""
    unit = f"{data['count']} {_UNITS.get(data['unit'], data['unit'])}"
    ends = f"{usd(data['at']['priceUSD'])} → {usd(data['now']['priceUSD'])}"
    yield from heading(
        screen, [Cell(data["symbol"], "strong"), Cell(ends, "strong"), change(data["change_pct"]), Cell(f"in {unit}")]
    )
    way = _way(data)
    if way:
        style = direction(data["change_pct"]) or "accent"
        yield ""
        yield from plots.line(screen, range(len(way)), [price for _, price in way], style, marks=_marks(way))
    yield ""
    yield from _ends(data, screen)
    rows = [*_reached(way), *_between(data["series"], screen)] if way else []
    if data["now"]["as_of"] is not None:
        rows.append(("Now", [f"price and funding of {moment(data['now']['as_of'])}"]))
    if rows:
        yield ""
        yield from facts(screen, rows)
    yield ""
    yield from footer(screen, meta)


def _way(data: Any) -> list[tuple[str, float]]:
    """When it cost what: the bars' ends, then now."""
    way = [(_time(str(point["t"]), data["unit"]), point["priceUSD"]) for point in data["series"]]
    now = data["now"]["priceUSD"]
    return [*way, ("now", now)] if way and now is not None else way


def _marks(way: Sequence[tuple[str, float]]) -> list[tuple[float, str]]:
    """Times under the curve, evenly spread."""
    places = sorted({round(mark * (len(way) - 1) / (_MARKS - 1)) for mark in range(_MARKS)})
    return [(place, way[place][0]) for place in places]


def _time(text: str, unit: str) -> str:
    month = text[5:7]
    name = _MONTHS[int(month) - 1] if month in {f"{number:02d}" for number in range(1, 13)} else month
    said = f"{text[8:10]} {name}"
    return Cell(f"{said} {text[11:16]}" if unit == "h" else said).text


def _ends(data: Any, screen: Screen) -> Iterator[str]:
    at, now = data["at"], data["now"]
    rows: list[list[Cell | object]] = [
        ["price", usd(at["priceUSD"]), usd(now["priceUSD"]), change(data["change_pct"])],
        *([title, money(at[name]), money(now[name]), change(_grown(at[name], now[name]))] for title, name in _SUMS),
        ["funding, a year", signed(at["fundingRate"]), signed(now["fundingRate"]), _points(at, now)],
    ]
    then = f"{data['count']} {data['unit'].upper()} AGO"
    yield from table(screen, ["", then, "NOW", "CHANGE"], rows, right="lrrr")


def _grown(before: float | None, after: float | None) -> float | None:
    return 100 * (after / before - 1) if before and after is not None else None


def _points(at: Any, now: Any) -> Cell:
    before, after = at["fundingRate"], now["fundingRate"]
    return Cell(None) if before is None or after is None else Cell(signed(after - before, unit=" points"))


def _reached(way: Sequence[tuple[str, float]]) -> Iterator[tuple[str, list[Part]]]:
    """The highest and the lowest on the way, and how far that is from its end."""
    last = way[-1][1]
    for title, (when, price) in (("High", max(way, key=itemgetter(1))), ("Low", min(way, key=itemgetter(1)))):
        since = [] if when == way[-1][0] else [f", {signed(_grown(price, last))} since"]
        yield title, [Cell(usd(price), "strong"), f", {when}", *since]


def _between(series: Any, screen: Screen) -> Iterator[tuple[str, list[Part]]]:
    """What was traded and paid, bar by bar, as small pictures."""
    for title, name, text in (("Volume", "volume", money), ("Funding", "fundingRate", signed)):
        values = [point[name] for point in series]
        known = [value for value in values if value is not None]
        if known:
            ends = f"{text(min(known))} to {text(max(known))}"
            room = max(min(screen.width - cells(ends) - 12, _SPARK), 1)
            yield title, [Cell(sparkline(values, room).replace(" ", "·"), "accent"), ends]
