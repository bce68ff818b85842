"""The data routes of a whole market, asked over HTTP of a process that knows all that its recording tells."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import quote

from tests.fakes.serving import PATIENCE_S, WHOLE, Serving, ended, wait_until
from tests.upstream.conftest import FIXTURES

UNBOUNDED = {"rate_per_minute": "1000000000", "rate_burst": "1000000000"}
L1 = quote("Layer 1 (L1)")

ROUTES: Mapping[str, str] = {
    "coin.risk": "coin/risk/BTC",
    "coins": "coins",
    "coin.historical": "coin/historical/BTC",
    "signal": "signal/BTC",
    "category.sentiment": f"category/sentiment/{L1}",
    "category.info": f"category/info/{L1}",
    "regime": "regime",
    "coin.lookup": "coin/lookup?symbol=BTC",
    "coin.by-id": "coin/by-id/bitcoin",
    "coin.by-name": "coin/by-name/Bitcoin",
    "coin.by-contract": "coin/by-contract/0x514910771AF9CA656af840dff83E8264EcF986CA?chain=ethereum",
    "resolve": "resolve?q=bitcoin",
    "market.prices": "market/prices",
    "market.baselines": "market/baselines",
    "market.global": "market/global",
    "rwa.asset": "rwa/asset/xyz%3AAAPL",
    "rwa.symbol": "rwa/symbol/AAPL",
    "rwa.assets": "rwa/assets",
    "market.health": "market/health",
    "market.crossing": "market/crossing",
    "funding.alerts": "funding/alerts",
    "transcripts": "transcripts",
    "wallets": "wallets",
    "coin.sentiment": "coin/sentiment/BTC",
    "sentiment": "sentiment",
    "narratives": "narratives",
}
"""Offer → a question that it answers, below `/api/cli/`: the data calls of half a cent."""

WALKFORWARD = ("walkforward", "walkforward?action=positions", "walkforward?action=outcomes")
"""Of five cents, and counted once the engine has run: a minute or more after a start, for which no test waits here."""

PRICED: Mapping[str, str] = {**ROUTES, "walkforward": "walkforward", "signal.quality": "signal-quality?asset=BTC"}
"""Every data route."""

REGIMES = (
    "regime?action=active",
    "regime?action=signals",
    "regime?action=confidence",
    "regime?action=history&symbol=BTC",
)


def category_names() -> list[str]:
    """What CoinGecko calls the recorded categories."""
    return [str(row["name"]) for row in json.loads((FIXTURES / "coingecko" / "categories.json").read_bytes())]


def escaped(name: str) -> str:
    """A category's name as it stands in a path."""
    return quote(name, safe="")


class Reply(NamedTuple):
    """One answer: the headers by lower-case name, the body as it was read and decoded (null where there is none)."""

    status: int
    fields: dict[str, str]
    raw: bytes
    body: Any

    @property
    def code(self) -> str:
        """The error's code, empty for a success."""
        return str(self.body.get("error", {}).get("code", ""))


class Caller:
    """Somebody with a token.

    Args:
        port: Where the service listens.
        token: An API key or a session.
    """

    def __init__(self, port: int, token: str) -> None:
        self.token = token
        self._port = port

    def ask(self, target: str, method: str = "GET") -> Reply:
        """Ask one of the data routes, by its path and query below `/api/cli/`, on a connection of its own."""
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)) as connection:
            connection.request(method, f"/api/cli/{target}", headers={"Authorization": f"Bearer {self.token}"})
            response = connection.getresponse()
            raw = response.read()
        told = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, told, raw, json.loads(raw, parse_constant=_not_finite) if raw else None)

    def whole(self, target: str) -> Any:
        """The envelope of a success."""
        reply = self.ask(target)
        assert reply.status == 200, (target, reply.body)
        return reply.body

    def data(self, target: str) -> Any:
        """The payload of a success."""
        return self.whole(target)["data"]


def _not_finite(number: str) -> NoReturn:
    raise AssertionError(f"{number} is no number")


class Still(Serving):
    """A `verdict serve` that does not walk forward by itself."""

    MODULE = "tests.service.still"


class Whole(NamedTuple):
    """A service that knows everything, and somebody who may ask it without end."""

    service: Serving
    pro: Caller

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.service.port}"

    def caller(self, token: str) -> Caller:
        return Caller(self.service.port, token)


def wait_for_all(whole: Whole, hours: int | None = None, payments: int | None = None) -> None:
    """Wait until every route answers, and nothing more is being fetched that is asked for: readiness omits past caps.

    Args:
        whole: Who is asked.
        hours: How many coins have hourly bars; all of them, if nothing is said.
        payments: How many have payments of funding.
    """

    def is_settled() -> bool:
        told = whole.service.ask("/readyz")[2]
        market, assets, names = told["market"], told["rwa"]["history"], told["categories"]
        return bool(
            market["history"]["known"] == market["coins"] > 0
            and market["hourly"]["known"] == (hours or market["coins"])
            and market["funding"]["known"] == (payments or market["coins"])
            and assets["known"] == assets["total"] > 0
            and names["read"] == names["categories"] > 0
        )

    def answers() -> bool:
        return all(whole.pro.ask(target).status == 200 for target in ROUTES.values())

    def are_pasts_read() -> bool:
        return all(whole.pro.data(f"coin/historical/{coin}")["at"]["marketCap"] is not None for coin in ("BTC", "ETH"))

    wait_until(lambda: is_settled() and answers() and are_pasts_read())


@contextmanager
def whole_market(
    data_dir: Path, hours: int | None = None, payments: int | None = None, **settings: str
) -> Iterator[Whole]:
    """A service over a recording, once it knows all of it, which does not walk it; arguments as of `wait_for_all`."""
    service = Still(data_dir=str(data_dir), **{**UNBOUNDED, **WHOLE, **settings})
    with ended(service):
        service.wait_for("ready")
        whole = Whole(service, Caller(service.port, service.make_key("--tier", "pro")))
        wait_for_all(whole, hours, payments)
        yield whole
