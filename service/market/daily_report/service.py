"""Answers from the daily report: breadth and crossings, the market's regime and that of each coin."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from service.analytics.costs import standard
from service.clock import HOUR_MS, SECOND_MS, Clock, iso
from service.errors import ServiceError
from service.market.daily_report.models import CoinTrades, DailyReport
from service.market.daily_report.serializer import CROSSING_DAYS
from service.market.daily_report.wording import missing, summarise
from service.market.freshness import CHART, Freshness
from service.market.loading import LoadProgress, raise_unavailable
from service.market.models import VENUE
from service.market.service import MarketService
from service.storage.documents import Document, DocumentState
from service.wire.envelope import Answer, encode
from service.wire.market import Crossings, MarketHealth
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


class DailyReportService(ABC):
    """Answers from the daily report, in any process.

    Args:
        clock: Judges ages.
        document: The report.
        coins: The market service: listed coins, prices, last refresh.
        load_progress: How far daily history is loaded.
    """

    def __init__(
        self,
        clock: Clock,
        document: Document[DailyReport],
        coins: MarketService,
        load_progress: Callable[[], LoadProgress] | None = None,
    ) -> None:
        self._clock = clock
        self._document = document
        self._coins = coins
        self._load_progress = load_progress
        self._forget(document.current)
        document.on_change(self._forget)

    @abstractmethod
    def _forget(self, current: DocumentState[DailyReport]) -> None:
        """Drop what was made of an earlier report."""

    def _found(self, what: str) -> DailyReport:
        """The report, if it is recent enough.

        Args:
            what: The data wanted from it, for the error message.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` if there is no report yet, or if its last day
                closed more than 48 hours ago: these payloads cannot name a field stale.
        """
        found = self._document.current.value
        if (
            found is None
            or found.regime_trades is None
            or CHART.judge(found.through_ms, self._clock.now_ms()) is Freshness.GONE
        ):
            raise_unavailable(VENUE, self._coins.state.failure, what, self._load_progress and self._load_progress())
        return found


class BreadthService(DailyReportService):
    """Breadth and its crossings. Arguments as `DailyReportService`."""

    def health(self, context: int) -> Answer:
        """Breadth of the last published day.

        Args:
            context: 1 adds velocity, regime, leadership, laggards, divergences and an interpretation.

        Returns:
            `MarketHealth`, as of the close of that day's bar.

        Raises:
            ServiceError: As `DailyReportService`.
        """
        found = self._found("breadth")
        health = found.health if context else bare(found.health)
        return self._answer(f"health {context}", health, found.through_ms)

    def crossing(self) -> Answer:
        """Breadth crossings of the last 90 days, newest first.

        Returns:
            `Crossings`, as of the close of the last published day's bar; with a message if there are none.

        Raises:
            ServiceError: As `DailyReportService`.
        """
        found = self._found("breadth crossings")
        message = UNSET if found.crossings else _none_fired(found)
        return self._answer("crossing", Crossings(found.crossings, message), found.through_ms)

    def _answer(self, key: str, payload: object, as_of_ms: int) -> Answer:
        answer = self._encoded.get(key)
        if answer is None:
            answer = self._encoded[key] = Answer(Raw(encode(payload)), as_of_ms)
        return answer

    def _forget(self, current: DocumentState[DailyReport]) -> None:  # noqa: ARG002
        self._encoded: dict[str, Answer] = {}


def bare(health: MarketHealth) -> MarketHealth:
    """The breadth figures alone."""
    return replace(
        health,
        velocity=UNSET,
        regime=UNSET,
        regime_age_days=UNSET,
        leadership=UNSET,
        laggards=UNSET,
        divergences=UNSET,
        interpretation=UNSET,
    )


def _none_fired(found: DailyReport) -> str:
    days = min(CROSSING_DAYS, len(found.breadth))
    period = "on the last closed day" if days == 1 else f"in the last {days} closed days"
    newest = found.breadth[-1]
    return (
        f"UP less DOWN has not changed its sign {period}; "
        f"on {found.health.date} it was {newest.up - newest.down:+d} ({newest.up} UP, {newest.down} DOWN)."
    )


RULESET: Final = "regime-rules/1"
"""Name and version of the rules, which `service.analytics.rules` states."""

_NOTHING_HAPPENED: Final = RegimeSummary(0, 0, 0, None, None, None)


class _Encoded(Struct, frozen=True):
    """An encoded answer and the live prices in it."""

    answer: Answer
    prices: tuple[float | None, ...]


class RegimeState(NamedTuple):
    """Regime of the market and of one coin at a close, null if unknown; `stale` once a later day is overdue."""

    through_ms: int
    stale: bool
    market: Regime | None
    coin: CoinRegime | None


class RegimeService(DailyReportService):
    """Regimes with live prices. Arguments as `DailyReportService`."""

    def regime(self, action: RegimeAction, symbol: str | None) -> Answer:
        """The answer to a regime question.

        Args:
            action: `active`, `signals`, `confidence` or `history`.
            symbol: A ticker in any case; limits the answer to that coin (market-wide parts stay). Required by
                `history`, which also knows delisted coins.

        Returns:
            The payload, as of the close of the last published day's bar; live prices in it are newer.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` if there is
                no report, its last day closed more than 48 hours ago, or the market's regime is not known yet.
        """
        found = self._found("regimes")
        coin = None if symbol is None else self._find(symbol, found, action)
        held = _held(found, action, coin)
        view = self._coins.view()
        prices = tuple(view[position.symbol].price if position.symbol in view else None for position in held)
        current = self._encoded.get((action, coin))
        if current is None or current.prices != prices:
            priced = [replace(position, currentPrice=price) for position, price in zip(held, prices, strict=True)]
            payload = _payload(found, action, coin, priced)
            current = _Encoded(Answer(Raw(encode(payload)), found.through_ms), prices)
            self._encoded[action, coin] = current
        return current.answer

    def standing(self, symbol: str) -> RegimeState:
        """Regimes of the market and a coin, for other packages.

        Args:
            symbol: Canonical ticker.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` if there is no recent report.
        """
        found = self._found("regimes")
        stale = CHART.judge(found.through_ms, self._clock.now_ms()) is Freshness.STALE
        market = None if found.regime is None else found.regime.regime
        return RegimeState(found.through_ms, stale, market, self._coin_regimes.get(symbol))

    def _find(self, symbol: str, found: DailyReport, action: RegimeAction) -> str:
        try:
            return self._coins.find(symbol)
        except ServiceError:
            ticker = self._coins.directory.delisted(symbol) or symbol.upper()
            if action == "history" and ticker in _trades(found):
                return ticker
            raise

    def _forget(self, current: DocumentState[DailyReport]) -> None:
        self._encoded: dict[tuple[RegimeAction, str | None], _Encoded] = {}
        rows = [] if current.value is None else current.value.confidence
        self._coin_regimes: dict[str, CoinRegime] = {row.symbol: row for row in rows}


def _held(found: DailyReport, action: RegimeAction, coin: str | None) -> list[RegimePosition]:
    """Open positions that an answer shows with live prices, highest conviction first."""
    if action == "history":
        own = _trades(found).get(coin or "")
        return [] if own is None or own.position is None else [own.position]
    if action != "active":
        return []
    return [position for position in found.positions if coin in {None, position.symbol}]


def _trades(found: DailyReport) -> dict[str, CoinTrades]:
    return found.regime_trades or {}


def _payload(found: DailyReport, action: RegimeAction, coin: str | None, held: list[RegimePosition]) -> Struct:
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
            "The market's regime is not known yet: it needs four months of closed daily bars of BTC. Retry in an hour.",
            headers={"Retry-After": str(HOUR_MS // SECOND_MS)},
        )
    return market
