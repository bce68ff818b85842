"""`verdict coin risk BTC`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli.figures import change, elapsed_s, footer, money, signed, span, trend, usd
from service.clients.cli.screen import Cell, Part, Screen, facts, flow, heading

_DAYS: Final = 365
_SUM_USD: Final = 10_000
"""What a rate a year is said of, so that it can be felt."""


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Price, trends, what funding costs, sentiment."""
    stale = data["_stale_fields"]
    price = [Cell(usd(data["price"]), "strong"), *_stale("price", stale)]
    yield from heading(screen, [Cell(data["symbol"], "strong"), *price])
    yield ""
    yield from facts(
        screen,
        [
            ("Daily trend", [*_trend(data, "daily", meta), *_stale("trend_daily", stale)]),
            ("Weekly trend", [*_trend(data, "weekly", meta), *_stale("trend_weekly", stale)]),
            ("Funding", [*_funding(data), *_stale("funding_apr", stale)]),
            ("Carry", _carry(data)),
            ("Correlation", [_correlation(data["btc_correlation"]), "to BTC", *_stale("btc_correlation", stale)]),
            ("Sentiment", [Cell(data["sentiment_stance"], "strong"), *_stale("sentiment_stance", stale)]),
            ("", [data["sentiment_summary"] or ""]),
        ],
    )
    yield ""
    if stale:
        yield from flow(
            screen, [Cell("Stale:", "warn"), f"{', '.join(stale)}: the last that was known, or nothing (-)."]
        )
    yield footer(screen, meta, " ".join([data["venue"], *([data["venue_symbol"]] if "venue_symbol" in data else [])]))


def _stale(field: str, stale: list[str]) -> list[Cell]:
    return [Cell("(stale)", "warn")] if field in stale else []


def _trend(data: Any, interval: str, meta: Any) -> list[Part]:
    since = data[f"trend_{interval}_since"]
    lasting = [] if since is None else [f"for {span(elapsed_s(since, meta['ts']))}"]
    return [trend(data[f"trend_{interval}"]), *lasting]


def _funding(data: Any) -> list[Part]:
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


def _correlation(value: float | None) -> Part:
    return Cell(None if value is None else f"{value:+.2f}")
