"""Answers about real-world assets from memory. An answer is encoded once and reused while it is valid."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

from msgspec import Raw

from service.clock import SECOND_MS, Clock
from service.errors import ServiceError
from service.market.freshness import Freshness
from service.market.loading import LoadProgress, raise_unavailable, raise_unconfirmed
from service.market.models import VENUE, CoinChart, Quote
from service.market.past_prices import PastPrices
from service.market.plausibility.quarantine import QuarantineReport
from service.market.symbols import MOST_CANDIDATES, closest
from service.rwa.asset import QUOTE, assess_asset
from service.rwa.documents import AssetCharts, AssetListing, ListedAsset, RwaDocuments
from service.rwa.listing import DEX
from service.storage.documents import Document, FetchFailure
from service.wire.envelope import Answer, encode
from service.wire.rwa import AssetType, RwaAssets, RwaListing

_OK: Final = 200


class _Entry:
    """One asset and its cached answer, valid from `since_ms` to `until_ms`; null where there is no value to show."""

    __slots__ = ("answer", "chart", "listed", "past", "quote", "since_ms", "until_ms")

    def __init__(self, listed: ListedAsset, quote: Quote | None, chart: CoinChart) -> None:
        self.listed = listed
        self.quote = quote
        self.chart = chart
        self.answer: Answer | None = None
        self.past: PastPrices | None = None
        self.since_ms = self.until_ms = 0


class RwaService:
    """Answers questions about real-world assets.

    Args:
        clock: Judges ages.
        documents: The documents, whose changes are followed.
        past: Prices that changes are measured from.

    Attributes:
        quarantine: The quarantine's document.
    """

    def __init__(self, clock: Clock, documents: RwaDocuments, past: Callable[[], PastPrices]) -> None:
        self.quarantine: Document[QuarantineReport] = documents.quarantine
        self._clock = clock
        self._documents = documents
        self._past = past
        self._entries: dict[str, _Entry] = {}
        self._lists: dict[tuple[AssetType | None, int], Answer] = {}
        documents.listing.on_change(lambda _: self._read())
        documents.quotes.on_change(lambda _: self._read())
        documents.charts.on_change(lambda _: self._read())
        documents.quarantine.on_change(lambda _: self._read())

    def symbol(self, text: str) -> Answer:
        """One asset.

        Args:
            text: `AAPL` or `xyz:AAPL`, in any case.

        Returns:
            The encoded payload, and the time of its price.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with the closest tickers; `UPSTREAM_4XX` or `UPSTREAM_5XX` if an upstream
                failed and there is neither price nor funding; `UNAVAILABLE` before the first data, and while no value
                of the asset passed the plausibility check.
        """
        entry = self._find(text)
        now_ms, past = self._clock.now_ms(), self._past()
        is_valid = entry.past is past and entry.since_ms <= now_ms < entry.until_ms
        if entry.quote is not None and not is_valid:
            entry.past = past
            current = self._documents.quotes.current
            newest_ms = None if current.failure else current.observed_ms
            held = (self.quarantine.current.value or QuarantineReport()).fields({entry.listed.symbol})
            assessed = assess_asset(entry.listed, entry.quote, entry.chart, past, newest_ms, now_ms, held)
            entry.since_ms, entry.until_ms = assessed.since_ms, assessed.until_ms
            entry.answer = None if assessed.asset is None else Answer(Raw(encode(assessed.asset)), assessed.as_of_ms)
        if entry.answer is None:
            self._raise_no_data(entry.listed.symbol)
        return entry.answer

    def assets(self, type_: AssetType | None, top: int) -> Answer:
        """List the assets, the most traded first.

        Args:
            type_: Only this type; null for all.
            top: Maximum number.

        Returns:
            The encoded payload, and the time of the listing.

        Raises:
            ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` if no listing is known.
        """
        answer = self._lists.get((type_, top))
        if answer is None:
            current = self._documents.listing.current
            if current.value is None:
                raise_unavailable(VENUE, current.failure, "list of real-world assets")
            found = [asset for asset in current.value.assets if type_ in {None, asset.type}]
            rows = [RwaListing(asset.id, asset.symbol, asset.name, asset.type, VENUE) for asset in found[:top]]
            answer = self._lists[type_, top] = Answer(Raw(encode(RwaAssets(len(found), rows))), current.observed_ms)
        return answer

    @property
    def listed(self) -> Sequence[ListedAsset]:
        """All listed assets, the most traded first; the same object while the list does not change."""
        listing = self._documents.listing.current.value
        return () if listing is None else listing.assets

    def load_progress(self) -> LoadProgress:
        """Number of assets whose daily history is known."""
        known = sum(entry.chart.through_ms is not None for entry in self._entries.values())
        return LoadProgress(known, len(self._entries), "assets")

    def readiness(self) -> Mapping[str, object]:
        """Details for `/readyz`: assets, age of the quotes in seconds, history, failure, quarantined values.

        `ready` is true once listing and quotes are known with a confirmed price, or were requested without success.
        """
        listing, quotes = self._documents.listing.current, self._documents.quotes.current
        age_s = None if quotes.observed_ms is None else max(0, self._clock.now_ms() - quotes.observed_ms) // SECOND_MS
        known = sum(entry.chart.through_ms is not None for entry in self._entries.values())
        return {
            "ready": all(current.value is not None or current.failure is not None for current in (listing, quotes))
            and (quotes.failure is not None or not self._is_unconfirmed()),
            "assets": len(self._entries),
            "prices_age_seconds": age_s,
            "history": {"known": known, "total": len(self._entries)},
            "failing": quotes.failure is not None,
            "quarantined": (self.quarantine.current.value or QuarantineReport()).summary(),
        }

    def _read(self) -> None:
        listing, quotes, charts = (
            self._documents.listing.current,
            self._documents.quotes.current,
            self._documents.charts.current,
        )
        shown = {quote.venue_symbol: quote for quote in quotes.value.quotes} if quotes.value else {}
        read = (charts.value or AssetCharts()).charts
        self._entries = {
            asset.symbol: _Entry(asset, shown.get(asset.id), read.get(asset.id, CoinChart()))
            for asset in (listing.value or AssetListing()).assets
        }
        self._lists.clear()

    def _is_unconfirmed(self) -> bool:
        """Whether prices are held back and none was accepted yet."""
        held = (self.quarantine.current.value or QuarantineReport()).fields(self._entries)
        return "price" in held and not any(entry.quote and entry.quote.price for entry in self._entries.values())

    def _find(self, text: str) -> _Entry:
        if not self._entries:
            raise_unavailable(VENUE, self._documents.listing.current.failure, "list of real-world assets")
        dex, _, ticker = text.upper().rpartition(":")
        entry = self._entries.get(ticker) if dex in {"", DEX.upper()} else None
        if entry is None:
            candidates = self._candidates(ticker)
            verb = "is" if len(candidates) == 1 else "are"
            hint = f" The closest {verb} {', '.join(candidates)}." if candidates else ""
            raise ServiceError(
                "UNKNOWN_SYMBOL", f"No real-world asset {text!r} is listed.{hint}", details={"candidates": candidates}
            )
        return entry

    def _candidates(self, ticker: str) -> list[str]:
        """Assets with that name, then those with a similar ticker."""
        named = [symbol for symbol, entry in self._entries.items() if ticker in entry.listed.name.upper().split()]
        return list(dict.fromkeys([*named, *closest(ticker, self._entries)]))[:MOST_CANDIDATES]

    def _raise_no_data(self, symbol: str) -> NoReturn:
        """Raise why there is no data: the upstream failed, nothing passed the check, or nothing was requested yet."""
        current, now_ms = self._documents.quotes.current, self._clock.now_ms()
        failure = current.failure
        if failure is None and (self.quarantine.current.value or QuarantineReport()).fields({symbol}):
            raise_unconfirmed(VENUE, symbol)
        if failure is None and QUOTE.judge(current.observed_ms, now_ms) is not Freshness.GONE:
            failure = FetchFailure(now_ms, _OK, f"neither price nor funding of {symbol}")
        raise_unavailable(VENUE, failure, f"prices of {symbol}")
