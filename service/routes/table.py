"""Which function answers which offer."""

from functools import partial
from typing import Protocol

from msgspec import Struct

from service.access.desk import AccessDesk
from service.ask.questions import QuestionService
from service.market.room import Market
from service.payments.receipts import ReceiptDesk
from service.routes import auth, keys, manifest, receipts, rwa
from service.routes.alerts import alerts
from service.routes.call import Asking, Bound, Waiting
from service.routes.category import info
from service.routes.coins import coins
from service.routes.crossing import crossing
from service.routes.health import health
from service.routes.historical import historical
from service.routes.quality import signal_quality
from service.routes.question import question
from service.routes.regime import regime
from service.routes.risk import risk
from service.routes.sentiment import category_sentiment
from service.routes.signal import signal
from service.routes.tier import tier
from service.routes.transcripts import transcripts
from service.routes.walkforward import walkforward
from service.routes.wallets import wallets
from service.routes.watch import watching
from service.rwa.desk import RwaDesk
from service.sentiment.desk import SentimentDesk
from service.settings import Settings
from service.streams.hub import Hub
from service.table.factory import Table
from service.transcripts.desk import TranscriptDesk
from service.verdict.desk import VerdictDesk
from service.walkforward.desk import WalkforwardDesk
from service.wallets.desk import WalletDesk
from service.wire.offers import OFFERS


class OfACoin(Protocol):
    """Parameters that may name a coin."""

    @property
    def symbol(self) -> str | None:
        """Its ticker, in any case."""


class Desks(Struct, frozen=True):
    """Who is asked: the fronts of the rooms."""

    access: AccessDesk
    market: Market
    rwa: RwaDesk
    sentiment: SentimentDesk
    verdict: VerdictDesk
    table: Table
    walkforward: WalkforwardDesk
    receipts: ReceiptDesk
    transcripts: TranscriptDesk
    wallets: WalletDesk
    streams: Hub
    ask: QuestionService


def bind(settings: Settings, started_ms: int, desks: Desks) -> dict[str, Bound]:
    """Give every route the desk that it asks.

    Args:
        settings: What the manifest says of payment.
        started_ms: When the service started, epoch milliseconds.
        desks: The rooms' fronts.

    Returns:
        Offer id → endpoint, in the order of the offers.

    Raises:
        LookupError: If an offer has no route, or a route no offer.
    """
    access, market = desks.access, desks.market

    def known(query: OfACoin) -> None:
        if query.symbol is not None:
            market.coins.find(query.symbol)

    bound: dict[str, Bound] = {
        "question": Asking(partial(question, desks.ask)),
        "manifest": manifest.bound(settings, started_ms, desks.receipts.signer.address),
        "billing.tier": partial(tier, access),
        "coin.risk": partial(risk, market.coins, desks.sentiment),
        "coins": partial(coins, desks.table.coins),
        "coin.historical": Waiting(partial(historical, market.historical), known),
        "walkforward": Waiting(partial(walkforward, desks.walkforward), desks.walkforward.check),
        "signal.quality": Waiting(partial(signal_quality, desks.walkforward, desks.verdict), desks.walkforward.check),
        "transcripts": Waiting(partial(transcripts, desks.transcripts), desks.transcripts.check),
        "signal": Waiting(partial(signal, desks.verdict), desks.verdict.check),
        "wallets": partial(wallets, desks.wallets),
        "category.sentiment": partial(category_sentiment, desks.sentiment),
        "category.info": partial(info, market.categories),
        "regime": partial(regime, market.regimes),
        "rwa.symbol": partial(rwa.symbol, desks.rwa),
        "rwa.assets": partial(rwa.assets, desks.rwa),
        "market.health": partial(health, market.breadth),
        "market.crossing": partial(crossing, market.breadth),
        "funding.alerts": Waiting(partial(alerts, market.alerts), known),
        "watch": watching(desks.streams, settings.source),
        "auth.nonce": partial(auth.nonce, access),
        "auth.login": partial(auth.login, access),
        "auth.logout": partial(auth.logout, access),
        "keys.create": partial(keys.create, access),
        "keys.list": partial(keys.list_, access),
        "keys.revoke": partial(keys.revoke, access),
        "keys.rotate": partial(keys.rotate, access),
        "receipts.get": partial(receipts.get, desks.receipts),
        "receipts.list": partial(receipts.list_, desks.receipts),
    }
    differing = bound.keys() ^ {offer.id for offer in OFFERS}
    if differing:
        raise LookupError(f"offered and not bound, or bound and not offered: {', '.join(sorted(differing))}")
    return {offer.id: bound[offer.id] for offer in OFFERS}
