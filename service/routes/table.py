"""Which function answers which offer."""

from functools import partial

from service.access.desk import AccessDesk
from service.market.desk import MarketDesk
from service.routes import auth, keys, manifest
from service.routes.call import Endpoint
from service.routes.risk import risk
from service.routes.tier import tier
from service.settings import Settings
from service.wire.offers import OFFERS


def bind(settings: Settings, started_ms: int, access: AccessDesk, market: MarketDesk) -> dict[str, Endpoint]:
    """Give every route the desk that it asks.

    Args:
        settings: What the manifest says of payment.
        started_ms: When the service started, epoch milliseconds.
        access: Identity.
        market: Prices, funding, trends.

    Returns:
        Offer id → endpoint, in the order of the offers.

    Raises:
        LookupError: If an offer has no route, or a route no offer.
    """
    bound: dict[str, Endpoint] = {
        "manifest": manifest.bound(settings, started_ms),
        "billing.tier": partial(tier, access),
        "coin.risk": partial(risk, market),
        "auth.nonce": partial(auth.nonce, access),
        "auth.login": partial(auth.login, access),
        "auth.logout": partial(auth.logout, access),
        "keys.create": partial(keys.create, access),
        "keys.list": partial(keys.list_, access),
        "keys.revoke": partial(keys.revoke, access),
        "keys.rotate": partial(keys.rotate, access),
    }
    differing = bound.keys() ^ {offer.id for offer in OFFERS}
    if differing:
        raise LookupError(f"offered and not bound, or bound and not offered: {', '.join(sorted(differing))}")
    return {offer.id: bound[offer.id] for offer in OFFERS}
