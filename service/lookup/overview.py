"""The whole market in a few numbers: CoinGecko's totals, else those of the coins that are tracked."""

from typing import Final

from service.clock import Clock, iso
from service.lookup.tokens import OVERVIEW_LIMITS, TokenDocuments
from service.market.categories.documents import UPSTREAM as GECKO
from service.market.factory import MarketData
from service.market.freshness import Freshness
from service.market.loading import raise_unavailable
from service.market.sources.coingecko import GeckoOverview
from service.wire.envelope import Answer
from service.wire.market import GlobalMarket, TotalMarketCap, TotalMarketVolume

_LARGEST: Final = 10
_DECIMALS: Final = 4
_CENTS: Final = 2


class OverviewService:
    """Answers with totals.

    Args:
        clock: Judges ages.
        market: Figures of the tracked coins.
        documents: CoinGecko's totals.
    """

    def __init__(self, clock: Clock, market: MarketData, documents: TokenDocuments) -> None:
        self._clock = clock
        self._market = market
        self._documents = documents

    def overview(self) -> Answer:
        """The whole market.

        Returns:
            As of CoinGecko's totals; without them as of the oldest figures of the tracked coins.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` if neither is known.
        """
        current, now_ms = self._documents.overview.current, self._clock.now_ms()
        found, scope = current.value, "all coins that CoinGecko tracks"
        if found is None or OVERVIEW_LIMITS.judge(found.seen_ms, now_ms) is Freshness.GONE:
            found = self._tracked()
            scope = "" if found is None else f"{len(found.shares)} tracked coins"
        if found is None or OVERVIEW_LIMITS.judge(found.seen_ms, now_ms) is Freshness.GONE:
            raise_unavailable(GECKO, current.failure, "market totals")
        is_stale = OVERVIEW_LIMITS.judge(found.seen_ms, now_ms) is Freshness.STALE
        shares = sorted(found.shares.items(), key=lambda row: -row[1])[:_LARGEST]
        overview = GlobalMarket(
            as_of=iso(found.seen_ms),
            btc_dominance_pct=None if "btc" not in found.shares else round(found.shares["btc"], _DECIMALS),
            scope=scope,
            totalMarketCap=TotalMarketCap(
                round(found.market_cap, _CENTS),
                None if found.change_24h is None else round(found.change_24h, _DECIMALS) + 0.0,
                iso(found.seen_ms),
            ),
            totalMarketVolume=TotalMarketVolume(
                None if found.volume_usd is None else round(found.volume_usd, _CENTS),
            ),
            marketCapPercentage={ticker: round(share, _DECIMALS) for ticker, share in shares},
            stale_fields=["totalMarketCap", "totalMarketVolume", "marketCapPercentage"] if is_stale else [],
        )
        return Answer(overview, found.seen_ms)

    def _tracked(self) -> GeckoOverview | None:
        """Totals of the tracked coins whose market value is known."""
        coins = self._market.gecko_coins()
        caps = {symbol.lower(): row.market_cap for symbol, row in coins.items() if row.market_cap is not None}
        total = sum(caps.values())
        if not total:
            return None
        volumes = [row.volume_usd for row in coins.values() if row.volume_usd is not None]
        return GeckoOverview(
            total,
            None,
            sum(volumes) if volumes else None,
            {ticker: cap / total * 100 for ticker, cap in caps.items()},
            min(row.seen_ms for row in coins.values() if row.market_cap is not None),
        )
