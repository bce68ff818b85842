"""Binds every offer to the function that answers it."""

from functools import partial
from typing import Protocol

from msgspec import Struct

from service.access.accounts import AccountService
from service.ask.questions import QuestionService
from service.lookup.factory import Lookups
from service.market.factory import MarketData
from service.narratives.service import NarrativeService
from service.notify.service import AlertRuleService
from service.payments.receipts import ReceiptService
from service.routes import account, alerts, datasets, manifest, signals, streaming
from service.routes import market as market_data
from service.routes.call import Bound, QuestionRoute, WaitingRoute
from service.rwa.service import RwaService
from service.sentiment.service import SentimentService
from service.sentiment.views import SentimentViews
from service.settings import Settings
from service.streams.broker import StreamBroker
from service.table.factory import CoinTables
from service.transcripts.service import TranscriptService
from service.verdict.service import VerdictService
from service.walkforward.service import WalkforwardService
from service.wallets.service import WalletService
from service.wire.offers import OFFERS


class CoinParameters(Protocol):
    """Parameters that may name a coin."""

    @property
    def symbol(self) -> str | None:
        """Its ticker, in any case."""


class RouteServices(Struct, frozen=True):
    """The services that routes call."""

    access: AccountService
    market: MarketData
    rwa: RwaService
    sentiment: SentimentService
    sentiment_views: SentimentViews
    narratives: NarrativeService
    verdict: VerdictService
    table: CoinTables
    lookup: Lookups
    walkforward: WalkforwardService
    receipts: ReceiptService
    transcripts: TranscriptService
    wallets: WalletService
    streams: StreamBroker
    alerts: AlertRuleService
    ask: QuestionService


def bind(settings: Settings, started_ms: int, services: RouteServices) -> dict[str, Bound]:
    """Bind every route to the service that answers it.

    Args:
        settings: What the manifest shows of payment.
        started_ms: When the service started, epoch milliseconds.
        services: The services that routes call.

    Returns:
        Offer id → endpoint, in the order of the offers.

    Raises:
        LookupError: If an offer has no route, or a route no offer.
    """
    access, market, walk = services.access, services.market, services.walkforward

    def known(query: CoinParameters) -> None:
        if query.symbol is not None:
            market.coins.find(query.symbol)

    bound: dict[str, Bound] = {
        "question": QuestionRoute(partial(streaming.question, services.ask)),
        "manifest": manifest.bound(settings, started_ms, services.receipts.signer.address),
        "billing.tier": partial(account.tier, access),
        "coin.risk": partial(market_data.risk, market.coins, services.sentiment),
        "coins": partial(market_data.coins, services.table.coins),
        "coin.historical": WaitingRoute(partial(market_data.historical, market.historical), known),
        "walkforward": WaitingRoute(partial(signals.walkforward, walk), walk.check),
        "signal.quality": WaitingRoute(partial(signals.signal_quality, walk, services.verdict), walk.check),
        "transcripts": WaitingRoute(partial(datasets.transcripts, services.transcripts), services.transcripts.check),
        "signal": WaitingRoute(partial(signals.signal, services.verdict), services.verdict.check),
        "wallets": partial(datasets.wallets, services.wallets),
        "category.sentiment": partial(market_data.category_sentiment, services.sentiment),
        **market_data.sentiment_routes(services.sentiment_views, services.narratives, known),
        "category.info": partial(market_data.category_info, market.categories),
        "regime": partial(market_data.regime, market.regimes),
        "rwa.symbol": partial(datasets.rwa_symbol, services.rwa),
        "rwa.asset": partial(datasets.rwa_asset, services.rwa),
        "rwa.assets": partial(datasets.rwa_assets, services.rwa),
        **market_data.bound_lookups(services.lookup),
        "market.health": partial(market_data.market_health, market.breadth),
        "market.crossing": partial(market_data.market_crossing, market.breadth),
        "funding.alerts": WaitingRoute(partial(market_data.funding_alerts, market.alerts), known),
        "watch": streaming.watch(services.streams, settings.source),
        "auth.nonce": partial(account.nonce, access),
        "auth.login": partial(account.login, access),
        "auth.logout": partial(account.logout, access),
        "keys.create": partial(account.create_key, access),
        "keys.list": partial(account.list_keys, access),
        "keys.revoke": partial(account.revoke_key, access),
        "keys.rotate": partial(account.rotate_key, access),
        **alerts.bound(services.alerts),
        "receipts.get": partial(account.get_receipt, services.receipts),
        "receipts.list": partial(account.list_receipts, services.receipts),
    }
    differing = bound.keys() ^ {offer.id for offer in OFFERS}
    if differing:
        raise LookupError(f"Offers without a route, or routes without an offer: {', '.join(sorted(differing))}")
    return {offer.id: bound[offer.id] for offer in OFFERS}
