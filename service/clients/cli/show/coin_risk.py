"""`verdict coin risk BTC`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli.figures import change, elapsed_s, footer, money, signed, span, trend, usd
from service.clients.cli.prose import facts, flow, heading
from service.clients.cli.screen import Cell, Part, Screen

_DAYS: Final = 365
_SUM_USD: Final = 10_000
"""What a rate a year is said of, so that it can be felt."""


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
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
    since = data[f"trend_{interval}_since"]
    lasting = [] if since is None else [f"for {span(elapsed_s(since, meta['ts']))}"]
    return [trend(data[f"trend_{interval}"]), *lasting]


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
