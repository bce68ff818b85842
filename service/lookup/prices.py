"""Answers with prices of many coins, now and in the past."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from service.clock import MINUTE_MS, SECOND_MS, Clock
from service.errors import ServiceError
from service.market.coin_state import was_missed
from service.market.factory import MarketData
from service.market.freshness import QUOTE, Freshness
from service.market.loading import raise_still_loading, raise_unavailable
from service.market.models import VENUE, CoinView
from service.market.past_prices import SPANS, PastPrices, instants_of
from service.wire.envelope import Answer
from service.wire.market import Baselines, LivePrice, LivePrices, PriceBaselines
from service.wire.queries import BaselinesQuery, PricesQuery

HORIZONS: Final = ("4h", "24h", "7d")
"""Spans of the past prices in an answer, each in the field of its name with a `b` before it."""

_MOST_CACHED: Final = 256


class _Chosen(NamedTuple):
    """Coins by key, the largest first, and what was asked for in vain."""

    coins: Mapping[str, CoinView]
    missing: list[str]


class PriceService:
    """Prices of coins by CoinGecko's id, or by ticker where it has none.

    Args:
        clock: Judges ages.
        market: Current values, past prices, and CoinGecko's ids.
    """

    def __init__(self, clock: Clock, market: MarketData) -> None:
        self._clock = clock
        self._market = market
        self._inputs: tuple[Mapping[str, CoinView], PastPrices | None, tuple[object, ...]] = ({}, None, ())
        self._prices: dict[PricesQuery, tuple[LivePrices, int]] = {}
        self._baselines: dict[BaselinesQuery, tuple[Baselines, int]] = {}

    def prices(self, query: PricesQuery) -> Answer:
        """Prices of the coins asked for.

        Returns:
            As of the oldest price.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates if no ticker is known; `UPSTREAM_4XX`, `UPSTREAM_5XX` or
                `UNAVAILABLE` if no price is known.
        """
        now_ms = self._forget_outdated()
        if query not in self._prices:
            self._prices[query] = self._quote(query, now_ms)
        prices, as_of_ms = self._prices[query]
        return Answer(replace(prices, ts=now_ms), as_of_ms)

    def baselines(self, query: BaselinesQuery) -> Answer:
        """Past prices of the coins asked for.

        Returns:
            As of the minute that the horizons are counted from.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates if no ticker is known; `UPSTREAM_4XX`, `UPSTREAM_5XX` or
                `UNAVAILABLE` if no coin or no past price is known.
        """
        now_ms = self._forget_outdated()
        if query not in self._baselines:
            self._baselines[query] = self._look_back(query, now_ms)
        baselines, as_of_ms = self._baselines[query]
        return Answer(replace(baselines, ts=now_ms), as_of_ms)

    def _forget_outdated(self) -> int:
        """Drop the cached answers if their inputs have changed or a second has passed; the present time."""
        now_ms, market = self._clock.now_ms(), self._market
        view, past = market.coins.view(), market.past_prices.now
        stamp = (now_ms // SECOND_MS, market.coins.state.revision, market.categories.revisions)
        known_view, known_past, known_stamp = self._inputs
        is_full = len(self._prices) + len(self._baselines) >= _MOST_CACHED
        if is_full or known_view is not view or known_past is not past or known_stamp != stamp:
            self._inputs = view, past, stamp
            self._prices.clear()
            self._baselines.clear()
        return now_ms

    def _quote(self, query: PricesQuery, now_ms: int) -> tuple[LivePrices, int]:
        market = self._market
        coins, missing = self._choose(query.symbols)
        ids, state = market.gecko_coins(), market.coins.state
        prices: dict[str, LivePrice] = {}
        stale: list[str] = []
        for key, coin in coins.items():
            if coin.price is None or coin.price_ms is None:
                missing = [*missing, coin.symbol]
                continue
            coin_id = ids[coin.symbol].id if coin.symbol in ids else None
            prices[key] = LivePrice(coin_id, coin.symbol, coin.price, coin.venue, coin.price_ms)
            if QUOTE.judge(coin.price_ms, now_ms) is Freshness.STALE or was_missed(coin.price_ms, state):
                stale.append(f"prices.{key}")
        if not prices:
            raise_unavailable(VENUE, state.failure, "prices")
        past, accepted = self._past({key: coins[key] for key in prices} if query.baselines else {}, HORIZONS, now_ms)
        answer = LivePrices(
            prices,
            now_ms,
            past if query.baselines else UNSET,
            accepted if query.baselines else UNSET,
            missing or UNSET,
            [*stale, *_unknown(past)],
        )
        return answer, min(price.ts for price in prices.values())

    def _look_back(self, query: BaselinesQuery, now_ms: int) -> tuple[Baselines, int]:
        coins, missing = self._choose(query.symbols)
        wanted = [horizon for horizon in (query.horizons or "").split(",") if horizon] or HORIZONS
        past, accepted = self._past(coins, wanted, now_ms)
        if not self._market.past_prices.now.prices:
            raise_still_loading("past prices", None)
        minute_ms = now_ms // MINUTE_MS * MINUTE_MS
        return Baselines(past, accepted, now_ms, missing or UNSET, _unknown(past)), minute_ms

    def _past(
        self, coins: Mapping[str, CoinView], horizons: Collection[str], now_ms: int
    ) -> tuple[dict[str, PriceBaselines], dict[str, dict[str, str]]]:
        """Past prices of coins, and when they were accepted, by the keys of the coins."""
        prices: dict[str, PriceBaselines] = {}
        accepted: dict[str, dict[str, str]] = {}
        for key, coin in coins.items():
            found = {
                span: self._market.past_prices.now.before(coin.venue_symbol, now_ms, SPANS[span]) for span in horizons
            }
            prices[key] = PriceBaselines(
                **{f"b{span}": None if past is None else past.usd for span, past in found.items()}
            )
            accepted[key] = instants_of({span: None if past is None else past.at_ms for span, past in found.items()})
        return prices, accepted

    def _choose(self, symbols: str | None) -> _Chosen:
        """The coins that a list names; all coins if it names none.

        Raises:
            ServiceError: As `prices`.
        """
        market, view = self._market, self._market.coins.view()
        if not view:
            raise_unavailable(VENUE, market.coins.state.failure, "prices")
        names = list(dict.fromkeys(name.strip() for name in (symbols or "").split(",") if name.strip()))
        found: dict[str, None] = {}
        missing: list[str] = []
        refusal: ServiceError | None = None
        for name in names:
            try:
                found[market.coins.find(name)] = None
            except ServiceError as error:
                refusal = refusal or error
                missing.append(name)
        if refusal is not None and not found:
            raise refusal
        known = market.gecko_coins()
        caps = {symbol: known[symbol].market_cap or 0.0 if symbol in known else 0.0 for symbol in found or view}
        ranked = sorted(caps, key=lambda symbol: (-caps[symbol], symbol))
        return _Chosen({known[symbol].id if symbol in known else symbol: view[symbol] for symbol in ranked}, missing)


def _unknown(past: Mapping[str, PriceBaselines]) -> list[str]:
    """Past prices that are not known."""
    return [
        f"baselines.{key}.b{span}"
        for key, prices in past.items()
        for span in HORIZONS
        if getattr(prices, f"b{span}") is None
    ]
