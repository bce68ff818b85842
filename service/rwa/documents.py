"""The four documents about real-world assets, read from memory by every process."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from service.market.models import VENUE, CoinChart, Quote, Quotes
from service.market.plausibility.quarantine import QuarantineReport
from service.market.plausibility.rules import RejectReason
from service.storage.documents import Document, DocumentStore
from service.upstream.failures import UpstreamError
from service.wire.rwa import AssetType

_OK: Final = 200

QUARANTINE: Final = "rwa.quarantine"
"""Name of the document with quarantined values."""


class ListedAsset(Struct, frozen=True):
    """One asset: the venue's symbol (`xyz:AAPL`), ticker, common name, type."""

    id: str
    symbol: str
    name: str
    type: AssetType


class AssetListing(Struct, frozen=True):
    """All listed assets, the most traded first."""

    assets: Sequence[ListedAsset] = ()


class AssetCharts(Struct, frozen=True):
    """Trends of each asset, by the venue's symbol."""

    charts: dict[str, CoinChart] = {}


class RwaDocuments(Struct, frozen=True):
    """Listing, newest quotes of the whole dex, trends, quarantined values."""

    listing: Document[AssetListing]
    quotes: Document[Quotes]
    charts: Document[AssetCharts]
    quarantine: Document[QuarantineReport]

    @classmethod
    def open(cls, document_store: DocumentStore) -> "RwaDocuments":
        """Open them in a document store, whose `refresh` reads them."""
        return cls(
            listing=document_store.document("rwa.listing", AssetListing),
            quotes=document_store.document("rwa.quotes", Quotes),
            charts=document_store.document("rwa.charts", AssetCharts),
            quarantine=document_store.document(QUARANTINE, QuarantineReport),
        )


def accepted_quotes(documents: RwaDocuments, origin: str) -> dict[str, Quote]:
    """The last accepted quotes of a dataset, by ticker."""
    current = documents.quotes.current
    return {quote.symbol: quote for quote in current.value.quotes} if current.value and current.origin == origin else {}


def refusal(reason: RejectReason) -> UpstreamError:
    """The error for an answer that is rejected as a whole."""
    return UpstreamError(VENUE, _OK, f"quarantined: {reason}".encode())
