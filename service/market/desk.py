"""The room's front: answers from memory, encoded once for as long as they hold."""

from collections.abc import Mapping
from typing import Final, NoReturn

from msgspec import Raw

from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.market.freshness import QUOTE, Freshness
from service.market.observed import MAJORS, VENUE, Chart, Quote, Snapshot, State
from service.market.risk import assess_risk
from service.market.symbols import canonical, closest
from service.wire.envelope import Answer, encode

_RETRY_AFTER_S: Final = 5
_BAD_REQUEST: Final = 400
_INTERNAL_SERVER_ERROR: Final = 500


class _Entry:
    """One coin, and its answer while that holds: from `since_ms` until `until_ms`, null where nothing can be said."""

    __slots__ = ("answer", "chart", "quote", "since_ms", "until_ms")

    def __init__(self, quote: Quote, chart: Chart) -> None:
        self.quote = quote
        self.chart = chart
        self.answer: Answer | None = None
        self.since_ms = self.until_ms = 0


class MarketDesk:
    """Answers what is asked of the market, from the last snapshot it was shown.

    Args:
        clock: Ages are judged by it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._state = State(origin="", revision=0)
        self._entries: dict[str, _Entry] = {}

    @property
    def revision(self) -> int:
        """Of the snapshot answered from."""
        return self._state.revision

    def show(self, snapshot: Snapshot) -> None:
        """Answer from this snapshot from now on."""
        self._state = snapshot.state
        self._entries = {quote.symbol: _Entry(quote, chart) for quote, chart in snapshot.coins}

    def risk(self, symbol: str) -> Answer:
        """Bundle the risk context of a coin.

        Args:
            symbol: Ticker in any case.

        Returns:
            The encoded payload, and the observation time of the older of price and funding.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with the closest tickers; `UPSTREAM_4XX` or `UPSTREAM_5XX` where an upstream
                failed and neither price nor funding is left to say; `UNAVAILABLE` before the first data.
        """
        entry = self._entries.get(symbol) or self._find(symbol)
        now_ms = self._clock.now_ms()
        if not entry.since_ms <= now_ms < entry.until_ms:
            risk = assess_risk(entry.quote, entry.chart, self._state, now_ms)
            entry.since_ms, entry.until_ms = risk.since_ms, risk.until_ms
            entry.answer = None if risk.context is None else Answer(Raw(encode(risk.context)), risk.as_of_ms)
        if entry.answer is None:
            self._give_up(entry.quote.symbol)
        return entry.answer

    def readiness(self) -> Mapping[str, object]:
        """What can be said of the room's readiness: coins, age of the prices in seconds, history, last failure.

        `ready` once prices are known and BTC's and ETH's history has been had, or tried for.
        """
        state, entries = self._state, self._entries
        charted = [symbol for symbol, entry in entries.items() if entry.chart.through_ms is not None]
        age_s = None if state.quotes_ms is None else max(0, self._clock.now_ms() - state.quotes_ms) // SECOND_MS
        tried = state.history_ms is not None or all(major in charted for major in MAJORS if major in entries)
        return {
            "ready": bool(entries) and tried,
            "coins": len(entries),
            "prices_age_seconds": age_s,
            "history": {"known": len(charted), "total": len(entries)},
            "failing": state.failure is not None,
        }

    def _find(self, symbol: str) -> _Entry:
        if not self._entries:
            self._give_up(symbol)
        ticker = canonical(symbol)
        entry = self._entries.get(ticker)
        if entry is None:
            candidates = closest(ticker, self._entries)
            verb = "is" if len(candidates) == 1 else "are"
            hint = f"; the closest {verb} {', '.join(candidates)}" if candidates else ""
            raise ServiceError(
                "UNKNOWN_SYMBOL", f"no coin {symbol!r} is listed{hint}", details={"candidates": candidates}
            )
        return entry

    def _give_up(self, symbol: str) -> NoReturn:
        """Say why nothing can be said: the upstream's failure, its silence about a coin, or that we have just begun."""
        failure, status, body = self._state.failure, None, ""
        if failure is not None:
            status, body = failure.status, failure.body
        elif QUOTE.judge(self._state.quotes_ms, self._clock.now_ms()) is not Freshness.GONE:
            status, body = 200, f"neither price nor funding of {symbol}"
        else:
            raise ServiceError(
                "UNAVAILABLE",
                "there are no recent prices yet: they are being fetched; try again in a few seconds "
                "(if this lasts, the clock of the service's machine may be wrong)",
                headers={"Retry-After": str(_RETRY_AFTER_S)},
            )
        refused = status is not None and _BAD_REQUEST <= status < _INTERNAL_SERVER_ERROR
        raise ServiceError(
            "UPSTREAM_4XX" if refused else "UPSTREAM_5XX",
            f"{VENUE} has given no price and no funding of {symbol} for too long",
            details={"upstream": VENUE, "upstreamStatus": status, "upstreamBody": body},
        )
