"""Views of `coins`, `coin risk`, `coin historical`, `coin lookup` and `resolve`."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor
from operator import itemgetter
from typing import Any, Final

from service import formats
from service.cli import plots
from service.cli.formatting import (
    UNKNOWN,
    change,
    direction,
    elapsed_s,
    footer,
    moment,
    money,
    percent,
    signed,
    trend,
    usd,
)
from service.cli.layout import facts, flow, heading, table
from service.cli.show.category import item_lines
from service.cli.show.plain import next_page
from service.cli.terminal import Cell, Display, Part, cells, sparkline

_HEADERS: Final = ("COIN", "PRICE", "24 H", "7 D", "VOLUME", "FUNDING", "TREND", "VERDICT")
_WIDE_HEADERS: Final = ("30 D", "CAP")
_ROOMY: Final = 110
_RUNS: Final = 8
"""Runs of a coin's trend that are shown, the newest first."""


def coins(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """A row per coin, and how to get the next page."""
    coins, page = data["coins"], data["meta"]
    yield from flow(screen, [Cell(f"{len(coins)} of {page['total']} coins", "strong"), "· prices in USD, changes in %"])
    if coins:
        yield ""
        is_wide = screen.width >= _ROOMY
        rows = [[*_row(coin), *(_wide(coin) if is_wide else ())] for coin in coins]
        yield from table(
            screen,
            [*_HEADERS, *(_WIDE_HEADERS if is_wide else ())],
            rows,
            right="lrrrrrllrr"[: len(_HEADERS) + 2 * is_wide],
        )
        if any(_is_stale(coin) for coin in coins):
            yield from flow(screen, [Cell("* Not all values of this coin could be refreshed.", "dim")])
    yield ""
    yield from next_page(screen, page)
    yield from footer(screen, meta)


def _row(coin: Any) -> list[Cell | object]:
    return [
        Cell(f"{coin['symbol']}{'*' * _is_stale(coin)}", "strong"),
        usd(coin["price"]),
        change(coin["change_24h"], unit=""),
        change(coin["change_7d"], unit=""),
        money(coin["volume_24h_usd"]),
        signed(coin["funding_apr"]),
        trend(coin["trend_daily"]),
        UNKNOWN if coin["verdict"] is None else coin["verdict"],
    ]


def _is_stale(coin: Any) -> bool:
    """Whether a value that is shown could not be refreshed; unknown values are shown as such."""
    return any(coin[name] is not None for name in coin["_stale_fields"])


def _wide(coin: Any) -> list[Cell | object]:
    return [change(coin["change_30d"], unit=""), money(coin["market_cap"])]


_DAYS: Final = 365
_BARS_S: Final = {"daily": 86_400, "weekly": 7 * 86_400}
_BAR_NAMES: Final = {"daily": "day", "weekly": "week"}
_SUM_USD: Final = 10_000
"""What a rate a year is said of, so that it can be felt."""


def coin_risk(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Price, trends, what funding costs, sentiment."""
    yield from heading(
        screen, [Cell(data["symbol"], "strong"), Cell(usd(data["price"]), "strong"), *_mark(data, "price")]
    )
    yield ""
    yield from facts(
        screen,
        [
            ("Daily trend", [*_trend(data, "daily", meta), *_mark(data, "trend_daily")]),
            ("Weekly trend", [*_trend(data, "weekly", meta), *_mark(data, "trend_weekly")]),
            ("Funding", [*_funding(data), *_mark(data, "funding_apr")]),
            ("Carry", _carry(data)),
            ("Correlation", [*_correlation(data["btc_correlation"]), *_mark(data, "btc_correlation")]),
            ("Sentiment", [Cell(data["sentiment_stance"], "strong"), *_mark(data, "sentiment_stance")]),
            ("", [data["sentiment_summary"] or ""]),
        ],
    )
    yield ""
    kept = [field for field in data["_stale_fields"] if data.get(field) is not None]
    if kept:
        said = f"{', '.join(kept)} could not be refreshed; the last that is known is shown."
        yield from flow(screen, [Cell("Stale:", "warn"), said])
        yield ""
    yield from footer(
        screen, meta, " ".join([data["venue"], *([data["venue_symbol"]] if "venue_symbol" in data else [])])
    )


def _mark(data: Any, field: str) -> list[Cell]:
    """Whether a field is one that could not be refreshed, or is not known."""
    if field not in data["_stale_fields"]:
        return []
    return [Cell("(not known)" if data[field] is None else "(stale)", "warn")]


def _trend(data: Any, interval: str, meta: Any) -> list[Part]:
    elapsed = elapsed_s(data[f"trend_{interval}_since"], meta["ts"])
    if elapsed is None:
        return [trend(data[f"trend_{interval}"])]
    bars = floor(elapsed / _BARS_S[interval]) + 1  # the first of them closed at that instant
    return [trend(data[f"trend_{interval}"]), f"for {formats.count(bars, _BAR_NAMES[interval])}"]


def _funding(data: Any) -> list[Part]:
    if data["funding_apr"] is None:
        return [Cell(None)]
    paying, receiving = data["funding_paying_side"], data["funding_receiving_side"]
    said = [f", {paying} pay {receiving}"] if paying and receiving else []
    return [Cell(signed(data["funding_apr"]), "strong"), "a year", *said]


def _carry(data: Any) -> list[Part]:
    """What holding costs or earns, and what that comes to in a day."""
    long, short = data["carry_if_long"], data["carry_if_short"]
    if long is None or short is None:
        return []
    a_day = money(abs(long) / 100 / _DAYS * _SUM_USD)
    return ["long", change(long), ", short", change(short), f"a year, {a_day} a day on {usd(_SUM_USD)}"]


def _correlation(value: float | None) -> list[Part]:
    return [Cell(None)] if value is None else [f"{value:+.2f} to BTC"]


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
    """When it cost what: at the start, at the bars' ends, then now."""
    way = [(_time(str(point["t"]), data["unit"]), point["priceUSD"]) for point in data["series"]]
    at, now = data["at"], data["now"]["priceUSD"]
    if way and at["priceUSD"] is not None and at["as_of"] is not None and at["as_of"] < data["series"][0]["t"]:
        way.insert(0, (_time(str(at["as_of"]), data["unit"]), at["priceUSD"]))
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


def _ends(data: Any, screen: Display) -> Iterator[str]:
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


def _between(series: Any, screen: Display) -> Iterator[tuple[str, list[Part]]]:
    """What was traded and paid, bar by bar, as small pictures."""
    for title, name, text in (("Volume", "volume", money), ("Funding", "fundingRate", signed)):
        values = [point[name] for point in series]
        known = [value for value in values if value is not None]
        if known:
            ends = f"{text(min(known))} to {text(max(known))}"
            available = max(min(screen.width - cells(ends) - 12, _SPARK), 1)
            yield title, [Cell(sparkline(values, available).replace(" ", "·"), "accent"), ends]


def coin_lookup(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Who it is, its present trends, bands, and the newest runs."""
    coin, now, weekly = data["coin"], data["currentTrend"], data["currentTrendWeekly"]
    bands, place = data["latestBands"], data["band_position"]["percent"]
    stale = set(data["_stale_fields"])

    def marked(field: str, *parts: Part) -> list[Part]:
        return [*parts, Cell("stale", "warn")] if field in stale else list(parts)

    yield from flow(screen, [Cell(coin["name"] or coin["symbol"], "strong"), Cell(f"· {coin['symbol']}", "dim")])
    if "note" in data:
        yield from flow(screen, [Cell(data["note"], "warn")])
    yield ""
    yield from facts(
        screen,
        [
            ("Price", marked("price", Cell(usd(coin["price"]), "strong"))),
            ("Change, 24 h", marked("change_24h_pct", change(coin["change_24h_pct"]))),
            ("Market value", marked("marketCap", Cell(money(coin["marketCap"])), _rank(coin["rank"]))),
            ("Trend, daily", marked("currentTrend", trend(now and now["trend"]), _since(now, "days"))),
            ("Trend, weekly", marked("currentTrendWeekly", trend(weekly and weekly["trend"]), _since(weekly, "weeks"))),
            ("Bands", marked("latestBands", f"{usd(bands['lower'])} to {usd(bands['upper'])}" if bands else "-")),
            ("In the bands", marked("band_position", percent(place))),
            ("CoinGecko", [Cell(coin["id"] or "-", "dim")]),
        ],
    )
    if data["trends"]:
        yield ""
        rows = [
            (trend(run["trend"]), run["start"], run["end"], str(run["streak"])) for run in data["trends"][-_RUNS:][::-1]
        ]
        yield from table(screen, ("TREND", "FROM", "TO", "DAYS"), rows, right="lllr")
    yield ""
    yield from footer(screen, meta, "trends from closed bars")


def _since(run: Any, unit: str) -> str:
    return f"since {run['since']}, {run[unit]} {unit}" if run else ""


def _rank(rank: int | None) -> str:
    return f"(number {rank})" if rank else ""


def resolve(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Show the matches, the best first."""
    matches = data["matches"]
    if not matches:
        yield from flow(screen, [Cell(f"No match for {data['query']}."), f"Tried: {', '.join(data['tried'])}."])
    else:
        rows = [
            (
                Cell(one["symbol"], "strong"),
                one["name"] or "-",
                one["assetType"],
                str(one["rank"] or "-"),
                one["via"],
                f"{one['score']:.2f}",
                one["id"] or "-",
            )
            for one in matches
        ]
        yield from table(screen, ("SYMBOL", "NAME", "TYPE", "RANK", "VIA", "SCORE", "ID"), rows, right="lllrlrl")
    if "note" in data:
        yield ""
        yield from flow(screen, [Cell(data["note"], "warn")])
    yield ""
    yield from footer(screen, meta)


def coin_sentiment(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Stance and score of one coin, and what they rest on."""
    yield from item_lines(data["data"], meta, screen)
    yield ""
    yield from footer(screen, meta)
