"""GET /api/cli/manifest: routes, prices, freshness, and how to pay."""

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from service import __version__
from service.access.quota import PER_DAY, STARTER
from service.routes.call import Call
from service.settings import Settings
from service.wire.envelope import Answer, encode
from service.wire.manifest import FreePlan, FreeTier, Manifest, ManifestAuth, RouteRow, TierRow
from service.wire.offer import Offer
from service.wire.offers import OFFERS
from service.wire.schema import body_rows, parameter_rows


def write(settings: Settings, receipt_signer: str) -> Manifest:
    """Write the manifest: every route that is counted as a question, with the terms of payment.

    Args:
        settings: Network, payee, and how payments are settled.
        receipt_signer: Address whose key signs receipts.
    """
    return Manifest(
        service="verdict",
        version=__version__,
        currency="USDC",
        networks=[settings.network],
        pay_to=settings.pay_to,
        settlement=settings.settlement,
        receipt_signer=receipt_signer,
        anonymous=settings.anonymous,
        free=FreePlan(starter=STARTER, per_day=PER_DAY["free"] or 0, resets_at="00:00Z"),
        tiers=[TierRow(tier, per_day) for tier, per_day in PER_DAY.items()],
        routes=[_row(offer) for offer in OFFERS if offer.counted],
    )


def bound(settings: Settings, started_ms: int, receipt_signer: str) -> Callable[[Call[Any, Any]], Answer]:
    """Bind the route. Its bytes are encoded once.

    Args:
        settings: As `write` reads them.
        started_ms: When the service started, epoch milliseconds: the manifest's `as_of`.
        receipt_signer: As `write` takes it.
    """
    auth = ManifestAuth(FreeTier(STARTER, PER_DAY["free"] or 0))
    answer = Answer(Raw(encode(write(settings, receipt_signer))), as_of_ms=started_ms, auth=Raw(encode(auth)))

    def manifest(_: Call[Any, Any]) -> Answer:
        return answer

    return manifest


def _row(offer: Offer) -> RouteRow:
    return RouteRow(
        id=offer.id,
        method=offer.method,
        path=offer.path,
        price_usdc=offer.price_usdc,
        price_atomic=str(offer.price),
        refresh_seconds=offer.refresh_seconds,
        streaming=offer.streaming,
        payable=offer.payable,
        summary=offer.summary,
        parameters=[*parameter_rows(offer), *body_rows(offer)],
    )
