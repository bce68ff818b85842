"""Coins in the order of a figure: the front of scans, from memory."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from service.clock import Clock
from service.errors import ServiceError
from service.market.desk import MarketDesk
from service.market.freshness import CHART, QUOTE, Freshness
from service.market.observed import VENUE, CoinView, State
from service.market.quarantine import Report
from service.market.risk import was_missed
from service.market.silence import nothing_to_say
from service.units import Symbol
from service.wire.envelope import Answer
from service.wire.market import Trend
from service.wire.tools import Scan, ScanQuery, ScanRow

_CENTS: Final = 2


class ScanDesk:
    """Ranks the coins as they stand now.

    Args:
        clock: Ages are judged by it.
        market: The coins there are.
        held_back: What fails the plausibility check at this moment.
    """

    def __init__(self, clock: Clock, market: MarketDesk, held_back: Callable[[], Report]) -> None:
        self._clock = clock
        self._market = market
        self._held_back = held_back

    def scan(self, query: ScanQuery, members: Iterable[Symbol] | None = None) -> Answer:
        """Rank coins.

        Args:
            query: By what, which of them and how many. What is excluded need not be listed.
            members: Canonical tickers of the query's category; null where it names none.

        Returns:
            The coins asked for, those of equal figures by ticker; as of the oldest observation of what put the rows
            shown where they are. Where none is shown, of all coins that were looked at.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates for a coin of `symbols` that is none; `UPSTREAM_4XX`,
                `UPSTREAM_5XX` or `UNAVAILABLE` where nothing is known of any coin that was asked for.
        """
        looked_at = self._looked_at(query, members)
        wanted = [_row(coin) for coin in looked_at if query.trend in {None, _trend(coin, query)}]
        ranked = _rank([row for row in wanted if getattr(row, query.by) is not None], query)
        shown = ranked[: query.limit]
        symbols = {row.symbol for row in shown}
        seen = [coin for coin in looked_at if coin.symbol in symbols]
        as_of_ms = _oldest_ms(seen or looked_at, query) if looked_at else self._market.state.quotes_ms
        if as_of_ms is None:
            nothing_to_say(VENUE, self._market.state.failure, "prices" if not looked_at else f"{query.by} of any coin")
        scan = Scan(
            by=query.by,
            order=query.order,
            trend=query.trend,
            timeframe=query.timeframe,
            category=query.category,
            excluded=list(query.exclude),
            universe=len(looked_at),
            count=len(ranked),
            unknown=len(wanted) - len(ranked),
            coins=shown,
            _stale_fields=_stale(seen, self._market.state, self._held_back().fields(symbols), self._clock.now_ms()),
        )
        return Answer(scan, as_of_ms)

    def _looked_at(self, query: ScanQuery, members: Iterable[Symbol] | None) -> list[CoinView]:
        view = self._market.view()
        named = None if query.symbols is None else [self._market.find(symbol) for symbol in query.symbols]
        excluded = {self._known(symbol) for symbol in query.exclude}
        within = view.keys() if members is None else set(members)
        return [
            view[symbol]
            for symbol in (view if named is None else dict.fromkeys(named))
            if symbol in within and symbol not in excluded
        ]

    def _known(self, text: str) -> str:
        try:
            return self._market.find(text)
        except ServiceError:
            return text


def _trend(coin: CoinView, query: ScanQuery) -> Trend | None:
    return coin.trend_daily if query.timeframe == "daily" else coin.trend_weekly


def _rank(rows: Sequence[ScanRow], query: ScanQuery) -> list[ScanRow]:
    sign = -1 if query.order == "most" else 1
    return sorted(rows, key=lambda row: (sign * getattr(row, query.by), row.symbol))


def _oldest_ms(coins: Sequence[CoinView], query: ScanQuery) -> int | None:
    """The oldest observation of what the coins were ranked by, and of the trends that they were chosen by."""
    if query.by == "btc_correlation":
        times = [coin.through_ms for coin in coins]
    else:
        times = [coin.funding_ms if query.by == "funding_apr" else coin.price_ms for coin in coins]
    if query.trend is not None:
        times += [coin.through_ms for coin in coins]
    return min((at_ms for at_ms in times if at_ms is not None), default=None)


def _stale(coins: Sequence[CoinView], state: State, held: AbstractSet[str], now_ms: int) -> list[str]:
    """Fields of which a value shown could not be refreshed, by the rules of the risk context, or is held back."""

    def is_stale(at_ms: int | None) -> bool:
        return at_ms is not None and (QUOTE.judge(at_ms, now_ms) is Freshness.STALE or was_missed(at_ms, state))

    prices = any(is_stale(coin.price_ms) for coin in coins)
    payments = any(is_stale(coin.funding_ms) for coin in coins)
    charts = any(CHART.judge(coin.through_ms, now_ms) is Freshness.STALE for coin in coins)
    named = {
        "price": prices,
        "change_24h": prices or "previous" in held,
        "funding_apr": payments,
        "volume_usd": prices or "volume" in held,
        "open_interest_usd": prices or "interest" in held,
        "trend_daily": charts,
        "trend_weekly": charts,
        "btc_correlation": charts,
    }
    return [field for field, stale in named.items() if stale]


def _row(coin: CoinView) -> ScanRow:
    return ScanRow(
        symbol=coin.symbol,
        price=coin.price,
        change_24h=coin.change_24h,
        funding_apr=coin.funding_apr,
        # A volume without a recent price is too old to be said.
        volume_usd=None if coin.price is None else round(coin.volume_usd, _CENTS),
        open_interest_usd=coin.open_interest_usd,
        trend_daily=coin.trend_daily,
        trend_weekly=coin.trend_weekly,
        btc_correlation=coin.btc_correlation,
    )
