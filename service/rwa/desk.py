"""The room's front: answers from memory, encoded once for as long as they hold."""

from collections.abc import Mapping
from typing import Final, NoReturn

from msgspec import Raw

from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.market.filling import Filling
from service.market.freshness import Freshness
from service.market.observed import VENUE, Chart, Failure, Quote
from service.market.quarantine import Report
from service.market.shelf import Drawer
from service.market.silence import nothing_to_say, refuse_until_confirmed
from service.market.symbols import MOST_CANDIDATES, closest
from service.rwa.asset import QUOTE, tell
from service.rwa.drawers import Charts, Drawers
from service.rwa.listing import DEX, Listed, Listing
from service.wire.envelope import Answer, encode
from service.wire.rwa import AssetType, RwaAssets, RwaListing

_OK: Final = 200


class _Entry:
    """One asset, and its answer while that holds: from `since_ms` until `until_ms`, null where nothing can be said."""

    __slots__ = ("answer", "chart", "listed", "quote", "since_ms", "until_ms")

    def __init__(self, listed: Listed, quote: Quote | None, chart: Chart) -> None:
        self.listed = listed
        self.quote = quote
        self.chart = chart
        self.answer: Answer | None = None
        self.since_ms = self.until_ms = 0


class RwaDesk:
    """Answers what is asked of real-world assets, from the room's documents.

    Args:
        clock: Ages are judged by it.
        drawers: The documents; the desk follows their changes.

    Attributes:
        quarantine: What is held back.
    """

    def __init__(self, clock: Clock, drawers: Drawers) -> None:
        self.quarantine: Drawer[Report] = drawers.quarantine
        self._clock = clock
        self._drawers = drawers
        self._entries: dict[str, _Entry] = {}
        self._lists: dict[tuple[AssetType | None, int], Answer] = {}
        drawers.listing.on_change(lambda _: self._read())
        drawers.quotes.on_change(lambda _: self._read())
        drawers.charts.on_change(lambda _: self._read())
        drawers.quarantine.on_change(lambda _: self._read())

    def symbol(self, text: str) -> Answer:
        """Tell one asset.

        Args:
            text: `AAPL` or `xyz:AAPL`, in any case.

        Returns:
            The encoded payload, and when its price was observed.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with the closest tickers; `UPSTREAM_4XX` or `UPSTREAM_5XX` where an upstream
                failed and neither price nor funding is left to say; `UNAVAILABLE` before the first data, and while
                nothing of the asset has passed the plausibility check.
        """
        entry = self._find(text)
        now_ms = self._clock.now_ms()
        if entry.quote is not None and not entry.since_ms <= now_ms < entry.until_ms:
            kept = self._drawers.quotes.now
            newest_ms = None if kept.failure else kept.observed_ms
            held = (self.quarantine.now.value or Report()).fields({entry.listed.symbol})
            told = tell(entry.listed, entry.quote, entry.chart, newest_ms, now_ms, held)
            entry.since_ms, entry.until_ms = told.since_ms, told.until_ms
            entry.answer = None if told.asset is None else Answer(Raw(encode(told.asset)), told.as_of_ms)
        if entry.answer is None:
            self._give_up(entry.listed.symbol)
        return entry.answer

    def assets(self, type_: AssetType | None, top: int) -> Answer:
        """List the assets, the most traded first.

        Args:
            type_: Only these; null is all.
            top: How many at most.

        Returns:
            The encoded payload, and when the listing was read.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` where no listing is known.
        """
        answer = self._lists.get((type_, top))
        if answer is None:
            kept = self._drawers.listing.now
            if kept.value is None:
                nothing_to_say(VENUE, kept.failure, "list of real-world assets")
            found = [asset for asset in kept.value.assets if type_ in {None, asset.type}]
            rows = [RwaListing(asset.id, asset.symbol, asset.name, asset.type, VENUE) for asset in found[:top]]
            answer = self._lists[type_, top] = Answer(Raw(encode(RwaAssets(len(found), rows))), kept.observed_ms)
        return answer

    def filling(self) -> Filling:
        """Of how many assets the daily history is known."""
        known = sum(entry.chart.through_ms is not None for entry in self._entries.values())
        return Filling(known, len(self._entries), "assets")

    def readiness(self) -> Mapping[str, object]:
        """What can be said of the room's readiness: assets, age of the quotes in seconds, trends known, failing.

        `quarantined` says what is held back. `ready` once the listing and quotes are known, and a price among them is
        confirmed, or once they were asked for in vain.
        """
        listing, quotes = self._drawers.listing.now, self._drawers.quotes.now
        age_s = None if quotes.observed_ms is None else max(0, self._clock.now_ms() - quotes.observed_ms) // SECOND_MS
        known = sum(entry.chart.through_ms is not None for entry in self._entries.values())
        return {
            "ready": all(kept.value is not None or kept.failure is not None for kept in (listing, quotes))
            and (quotes.failure is not None or not self._is_unconfirmed()),
            "assets": len(self._entries),
            "prices_age_seconds": age_s,
            "history": {"known": known, "total": len(self._entries)},
            "failing": quotes.failure is not None,
            "quarantined": (self.quarantine.now.value or Report()).summary(),
        }

    def _read(self) -> None:
        listing, quotes, charts = self._drawers.listing.now, self._drawers.quotes.now, self._drawers.charts.now
        shown = {quote.venue_symbol: quote for quote in quotes.value.quotes} if quotes.value else {}
        read = (charts.value or Charts()).charts
        self._entries = {
            asset.symbol: _Entry(asset, shown.get(asset.id), read.get(asset.id, Chart()))
            for asset in (listing.value or Listing()).assets
        }
        self._lists.clear()

    def _is_unconfirmed(self) -> bool:
        """Whether prices are held back and none has been accepted yet: bars or the second venue are still awaited."""
        held = (self.quarantine.now.value or Report()).fields(self._entries)
        return "price" in held and not any(entry.quote and entry.quote.price for entry in self._entries.values())

    def _find(self, text: str) -> _Entry:
        if not self._entries:
            nothing_to_say(VENUE, self._drawers.listing.now.failure, "list of real-world assets")
        dex, _, ticker = text.upper().rpartition(":")
        entry = self._entries.get(ticker) if dex in {"", DEX.upper()} else None
        if entry is None:
            candidates = self._candidates(ticker)
            verb = "is" if len(candidates) == 1 else "are"
            hint = f"; the closest {verb} {', '.join(candidates)}" if candidates else ""
            raise ServiceError(
                "UNKNOWN_SYMBOL", f"no real-world asset {text!r} is listed{hint}", details={"candidates": candidates}
            )
        return entry

    def _candidates(self, ticker: str) -> list[str]:
        """The asset that is called so, then those whose ticker is like it."""
        named = [symbol for symbol, entry in self._entries.items() if ticker in entry.listed.name.upper().split()]
        return list(dict.fromkeys([*named, *closest(ticker, self._entries)]))[:MOST_CANDIDATES]

    def _give_up(self, symbol: str) -> NoReturn:
        """Say why: the upstream failed, holds nothing that passes the check, gave nothing, or was not asked yet."""
        kept, now_ms = self._drawers.quotes.now, self._clock.now_ms()
        failure = kept.failure
        if failure is None and (self.quarantine.now.value or Report()).fields({symbol}):
            refuse_until_confirmed(VENUE, symbol)
        if failure is None and QUOTE.judge(kept.observed_ms, now_ms) is not Freshness.GONE:
            failure = Failure(now_ms, _OK, f"neither price nor funding of {symbol}")
        nothing_to_say(VENUE, failure, f"prices of {symbol}")
