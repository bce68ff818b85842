"""What a query may call: the services behind the data routes, and the few tools that only questions have.

No tool computes anything itself: a row names a method of a service, and its arguments are validated by the struct of
its route. To give the engine another route, add its row.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from service.access.accounts import AccountService
from service.access.caller import Caller
from service.access.meter import Meter
from service.ask.glossary import define
from service.clock import Clock, iso
from service.errors import ServiceError
from service.market.factory import MarketData
from service.rwa.service import RwaService
from service.sentiment.service import SentimentService
from service.table.factory import CoinTables
from service.transcripts.service import TranscriptService
from service.validation_errors import explain_invalid
from service.verdict.service import VerdictService
from service.walkforward.service import WalkforwardService
from service.wallets.service import WalletService
from service.wire.envelope import Answer, encode
from service.wire.offers import OFFERS
from service.wire.queries import NoParameters, SignalQualityQuery
from service.wire.tools import GlossaryQuery, QuotaStanding, RecentQuery

_OFFERS: Final = {offer.id: offer for offer in OFFERS}


def path_of(tool: str, args: Mapping[str, Any]) -> str | None:
    """Path and query of the route that gives a tool's payload; null where no route does.

    Args:
        tool: Its id.
        args: Its arguments: the route's parameters.
    """
    if tool not in _OFFERS:
        return None
    path = _OFFERS[tool].path
    query = {}
    for name, value in args.items():
        place = f"{{{name}}}"
        if place in path:
            path = path.replace(place, quote(str(value), safe=""))
        elif value is not None:
            query[name] = value
    return f"{path}?{urlencode(query)}" if query else path


class AskDependencies(Struct, frozen=True):
    """The services that are asked. `manifest` is the public manifest's answer, written once at start."""

    access: AccountService
    meter: Meter
    market: MarketData
    rwa: RwaService
    sentiment: SentimentService
    verdict: VerdictService
    table: CoinTables
    walkforward: WalkforwardService
    transcripts: TranscriptService
    wallets: WalletService
    manifest: Answer
    clock: Clock


Run = Callable[[Any, Caller | None], Answer | Coroutine[object, object, Answer]]
"""Given the arguments and who asks."""


class Tool(Struct, frozen=True):
    """A tool: what its arguments are decoded into, and what runs it."""

    id: str
    query: type[Struct]
    run: Run


class Toolbox:
    """Every tool by its id.

    Args:
        tools: Their rows.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.id: tool for tool in tools}

    async def run(self, id_: str, args: Mapping[str, Any], caller: Caller | None) -> Answer:
        """Run a tool.

        Args:
            id_: Which one.
            args: Its arguments.
            caller: Who asks; null: nobody known.

        Returns:
            What the service answers; `data` is encoded.

        Raises:
            KeyError: If there is no such tool.
            ServiceError: What the service raises; `BAD_REQUEST` for arguments that its route would refuse.
        """
        tool = self._tools[id_]
        try:
            query = msgspec.convert(dict(args), tool.query)
        except msgspec.ValidationError as error:
            raise ServiceError(
                "BAD_REQUEST",
                f"{id_} does not take that: {explain_invalid(error, tool.query).sentence('it')}.",
            ) from error
        answer = tool.run(query, caller)
        found = answer if isinstance(answer, Answer) else await answer
        return found if isinstance(found.data, msgspec.Raw) else msgspec.structs.replace(found, data=_raw(found.data))


def open_toolbox(rooms: AskDependencies) -> Toolbox:
    """Make every tool.

    Args:
        rooms: The services that are asked.
    """
    market, access = rooms.market, rooms.access
    coins, categories = market.coins, market.categories

    async def quota(caller: Caller) -> Answer:
        standing = await rooms.meter.committed_quota_status(caller)
        resets_at = None if standing.reset_ms is None else iso(standing.reset_ms)
        left = (standing.used, standing.limit, standing.remaining, standing.period, resets_at)
        return Answer(QuotaStanding(standing.tier, *left))

    def quality(query: SignalQualityQuery) -> Coroutine[object, object, Answer]:
        if query.signal_type == "verdict":
            return rooms.verdict.quality(query.asset)
        return rooms.walkforward.signal_quality(query.asset, query.signal_type)

    routes: dict[str, Run] = {
        "coin.risk": lambda query, _: coins.risk(query.symbol, rooms.sentiment.mood),
        "signal": lambda query, _: rooms.verdict.signal(query),
        "regime": lambda query, _: market.regimes.regime(query.action, query.symbol),
        "market.health": lambda query, _: market.breadth.health(query.context),
        "market.crossing": lambda _, __: market.breadth.crossing(),
        "funding.alerts": lambda query, _: market.alerts.alerts(query),
        "category.info": lambda query, _: categories.info(query.name),
        "category.sentiment": lambda query, _: rooms.sentiment.category(query.name),
        "rwa.symbol": lambda query, _: rooms.rwa.symbol(query.symbol),
        "rwa.assets": lambda query, _: rooms.rwa.assets(query.type, query.top),
        "walkforward": lambda query, _: rooms.walkforward.walkforward(query),
        "signal.quality": lambda query, _: quality(query),
        "transcripts": lambda query, _: rooms.transcripts.transcripts(query),
        "wallets": lambda query, _: rooms.wallets.wallets(query),
        "billing.tier": lambda _, caller: Answer(access.entitlement(_known(caller))),
        "manifest": lambda _, __: rooms.manifest,
    }
    own = (
        Tool("wallets.recent", RecentQuery, lambda query, _: rooms.wallets.recent(query)),
        Tool("billing.quota", NoParameters, lambda _, caller: quota(_known(caller))),
        Tool("glossary", GlossaryQuery, lambda query, _: Answer(define(query.term))),
    )
    offered = (Tool(id_, _OFFERS[id_].parameters, run) for id_, run in routes.items())
    return Toolbox((*offered, *own))


def _known(caller: Caller | None) -> Caller:
    if caller is None:
        raise ServiceError("AUTH_REQUIRED", "A caller without a token has no account. Run `verdict login`.")
    return caller


def _raw(data: object) -> msgspec.Raw:
    return data if isinstance(data, msgspec.Raw) else msgspec.Raw(encode(data))
