"""What is said of the market's regime and of each coin's: four actions, each of the whole market or of one coin."""

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec import Raw, Struct
from msgspec.structs import replace

from service.analytics.costs import standard
from service.clock import HOUR_MS, SECOND_MS, Clock, iso
from service.errors import ServiceError
from service.market.conclusions.concluded import CoinTrades, Conclusions
from service.market.conclusions.desk import ConclusionsDesk
from service.market.conclusions.wording import missing, summarise
from service.market.desk import MarketDesk
from service.market.filling import Filling
from service.market.freshness import CHART, Freshness
from service.market.shelf import Drawer, Kept
from service.wire.envelope import Answer, encode
from service.wire.queries import RegimeAction
from service.wire.regime import (
    ActiveRegime,
    CoinRegime,
    MarketRegime,
    Regime,
    RegimeConfidence,
    RegimeHistory,
    RegimeHistoryMeta,
    RegimeMeta,
    RegimePosition,
    RegimeSignals,
    RegimeSummary,
)

RULESET: Final = "regime-rules/1"
"""Name and version of the rules, which `service.analytics.rules` states."""

_NOTHING_HAPPENED: Final = RegimeSummary(0, 0, 0, None, None, None)


class _Encoded(Struct, frozen=True):
    """An answer, and the live prices in it."""

    answer: Answer
    prices: tuple[float | None, ...]


class Standing(NamedTuple):
    """The market's regime and one coin's through a close, null where not known; `stale` once a later day is overdue."""

    through_ms: int
    stale: bool
    market: Regime | None
    coin: CoinRegime | None


class RegimeDesk(ConclusionsDesk):
    """Tells regimes, with live prices. Arguments: as `ConclusionsDesk`."""

    def __init__(
        self, clock: Clock, drawer: Drawer[Conclusions], coins: MarketDesk, filling: Callable[[], Filling] | None = None
    ) -> None:
        super().__init__(clock, drawer, coins, filling)
        self._encoded: dict[tuple[RegimeAction, str | None], _Encoded] = {}
        self._coin_regimes: dict[str, CoinRegime] = {}
        drawer.on_change(self._forget)

    def regime(self, action: RegimeAction, symbol: str | None) -> Answer:
        """Tell the regime.

        Args:
            action: `active`, `signals`, `confidence` or `history`.
            symbol: A ticker in any case; narrows the answer down to that coin (what is said of the whole market stays).
                Needed by `history`, which alone also knows coins that have been delisted.

        Returns:
            The payload, as of the close of the last published day's bar; live prices in it are newer.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` where
                nothing was concluded, the last published day closed more than 48 hours ago, or the market's regime
                is not known yet.
        """
        found = self._found("regimes")
        coin = None if symbol is None else self._find(symbol, found, action)
        held = _held(found, action, coin)
        view = self._coins.view()
        prices = tuple(view[position.symbol].price if position.symbol in view else None for position in held)
        kept = self._encoded.get((action, coin))
        if kept is None or kept.prices != prices:
            priced = [replace(position, currentPrice=price) for position, price in zip(held, prices, strict=True)]
            payload = _payload(found, action, coin, priced)
            kept = _Encoded(Answer(Raw(encode(payload)), found.through_ms), prices)
            self._encoded[action, coin] = kept
        return kept.answer

    def standing(self, symbol: str) -> Standing:
        """Tell where the market and a coin stand, for other rooms.

        Args:
            symbol: Canonical ticker.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` where nothing may be said (any more).
        """
        found = self._found("regimes")
        stale = CHART.judge(found.through_ms, self._clock.now_ms()) is Freshness.STALE
        market = None if found.regime is None else found.regime.regime
        return Standing(found.through_ms, stale, market, self._coin_regimes.get(symbol))

    def _find(self, symbol: str, found: Conclusions, action: RegimeAction) -> str:
        try:
            return self._coins.find(symbol)
        except ServiceError:
            ticker = symbol.upper()
            if action == "history" and ticker in _trades(found):
                return ticker
            raise

    def _forget(self, kept: Kept[Conclusions]) -> None:
        self._encoded = {}
        self._coin_regimes = {} if kept.value is None else {row.symbol: row for row in kept.value.confidence}


def _held(found: Conclusions, action: RegimeAction, coin: str | None) -> list[RegimePosition]:
    """The open positions that an answer shows with their live prices, the surest first."""
    if action == "history":
        own = _trades(found).get(coin or "")
        return [] if own is None or own.position is None else [own.position]
    if action != "active":
        return []
    return [position for position in found.positions if coin in {None, position.symbol}]


def _trades(found: Conclusions) -> dict[str, CoinTrades]:
    return found.regime_trades or {}


def _payload(found: Conclusions, action: RegimeAction, coin: str | None, held: list[RegimePosition]) -> Struct:
    if action == "history":
        own = _trades(found).get(coin or "") or CoinTrades([], _NOTHING_HAPPENED, None)
        lacking = missing(own.summary, own.position)
        about = RegimeHistoryMeta(iso(found.through_ms), RULESET, standard(), lacking)
        return RegimeHistory(coin or "", own.trades, own.summary, held[0] if held else None, about)
    meta = RegimeMeta(found.health.universe, iso(found.through_ms), RULESET)
    if action == "signals":
        return RegimeSignals([signal for signal in found.signals if coin in {None, signal.symbol}], meta)
    market = _known(found.regime)
    if action == "active":
        return ActiveRegime(market, held, meta)
    coins = [row for row in found.confidence if coin in {None, row.symbol}]
    return RegimeConfidence(RULESET, iso(found.through_ms), summarise(market, found.confidence), coins)


def _known(market: MarketRegime | None) -> MarketRegime:
    if market is None:
        raise ServiceError(
            "UNAVAILABLE",
            "the market's regime is not known yet: it needs four months of closed daily bars of BTC; try again later",
            headers={"Retry-After": str(HOUR_MS // SECOND_MS)},
        )
    return market
