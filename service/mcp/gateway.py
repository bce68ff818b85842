"""Sends requests to the service over pooled connections: of tools, paid for if configured, and to confirm tokens."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Final, Literal, NamedTuple, TypeVar

from msgspec import UNSET, Struct

from service.client.answer import RawAnswer, RefusedError, UnreachableError, UnreadableAnswerError
from service.client.calls import request_of
from service.client.connection import is_token
from service.client.paying.buyer import Buyer
from service.client.pool import CallThreads, ConnectionPool
from service.clock import Clock
from service.mcp.tools import ToolRequest

CONFIRMED_S: Final = 60
"""How long a token that the service accepted is taken without asking again."""

REFUSED_S: Final = 10
"""How long a token that the service refused is refused without asking again."""

OUTAGE_S: Final = 3_600
"""How long an accepted token is taken while the service does not say."""

MOST_REMEMBERED: Final = 4_096
"""Accepted tokens, and refused ones, that are remembered."""

_CONFIRMING_S: Final = 10.0
"""Longest wait for what the service says of a token."""

_TIER_PATH: Final = "/api/cli/billing/tier"

T = TypeVar("T")


class Gateway:
    """Calls one service for the callers of the MCP server.

    Args:
        url: The service.
        token_of: The token for a call, by the headers of its HTTP request (None over standard input).
        buyer: Pays for requests refused with 402; None never pays.

    Attributes:
        pool: The connections.
        close: Closes them.
    """

    def __init__(
        self, url: str, token_of: Callable[[Mapping[str, str] | None], str | None], buyer: Buyer | None = None
    ) -> None:
        self.pool = ConnectionPool(url)
        self.close = self.pool.close
        self.pays = buyer is not None
        self._token_of = token_of
        self._buyer = buyer

    def ask(self, asked: ToolRequest, headers: Mapping[str, str] | None) -> RawAnswer:
        """Send one request, and pay for it if configured. Blocks; called from threads.

        Args:
            asked: The request.
            headers: Headers of the call's HTTP request.

        Raises:
            RefusedError: If the service refuses.
            UnreachableError: If no answer arrived.
            UnreadableAnswerError: If the answer is not one of this API.
            UnpaidError: If payment is required and was not made.
            OpenPaymentError: If the outcome of the payment is not known yet.
        """
        request = request_of(asked.offer, {name: value for name, value in asked.values.items() if value is not UNSET})
        with self.pool.connection(self._token_of(headers)) as client:
            return client.ask(*request) if self._buyer is None else self._buyer.ask(client, request)

    def read(self, offer: str, headers: Mapping[str, str] | None) -> Any:
        """The whole answer of a route without parameters.

        Raises:
            RefusedError: As `ask`.
            UnreachableError: As `ask`.
            UnreadableAnswerError: As `ask`.
        """
        return self.ask(ToolRequest(offer, {}), headers).document


def bearer(headers: Mapping[str, str] | None) -> str | None:
    """The bearer token of an HTTP request (RFC 6750 §2.1), or None."""
    scheme, _, token = (headers or {}).get("authorization", "").partition(" ")
    token = token.strip(" ")
    return token if scheme.lower() == "bearer" and is_token(token) else None


class TokenStatus(NamedTuple):
    """What is known of a token.

    Args:
        kind: `limited` if the service refuses to say for now; `unknown` if it could not be asked.
        retry_after: Seconds until a `limited` token may be tried again.
    """

    kind: Literal["accepted", "refused", "limited", "unknown"]
    retry_after: str = ""


_ACCEPTED: Final = TokenStatus("accepted")
_REFUSED: Final = TokenStatus("refused")
_UNKNOWN: Final = TokenStatus("unknown")


class _Accepted(Struct):
    """When the service accepted a token, and when it is asked again."""

    at_s: float
    again_s: float


class Confirmations:
    """Asks the service whether tokens are valid, and remembers what it said for a bounded time.

    Refused tokens are remembered apart from accepted ones, so that invented ones displace none.

    Args:
        url: The service.
        clock: Its monotonic time counts.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        self._pool = ConnectionPool(url, _CONFIRMING_S)
        self.close = self._pool.close
        self._threads = CallThreads()
        self._now = clock.monotonic
        self._accepted: dict[bytes, _Accepted] = {}
        self._refused: dict[bytes, float] = {}
        self._asking: dict[bytes, asyncio.Task[TokenStatus]] = {}

    async def token_status(self, token: str) -> TokenStatus:
        """What the service says of a token. Calls about one token share one request."""
        token_digest = digest(token)
        known = self._accepted.get(token_digest)
        if known is not None and self._now() < known.again_s:
            return _ACCEPTED
        if self._now() < self._refused.get(token_digest, 0.0):
            return _REFUSED
        asking = self._asking.get(token_digest)
        if asking is None:
            asking = asyncio.create_task(self._ask(token_digest, token))
            self._asking[token_digest] = asking
            asking.add_done_callback(lambda _: self._asking.pop(token_digest, None))
        return await asyncio.shield(asking)

    async def _ask(self, token_digest: bytes, token: str) -> TokenStatus:
        try:
            await self._threads.run(partial(self._look_up, token))
        except RefusedError as error:
            if error.status == HTTPStatus.UNAUTHORIZED:
                self._accepted.pop(token_digest, None)
                _remember(self._refused, token_digest, self._now() + REFUSED_S)
                return _REFUSED
            limited = error.status == HTTPStatus.TOO_MANY_REQUESTS
            found = TokenStatus("limited", _seconds(error.headers.get("retry-after", ""))) if limited else _UNKNOWN
        except (UnreachableError, UnreadableAnswerError):
            found = _UNKNOWN
        else:
            now = self._now()
            _remember(self._accepted, token_digest, _Accepted(now, now + CONFIRMED_S))
            return _ACCEPTED
        return self._without_answer(token_digest, found)

    def _without_answer(self, token_digest: bytes, found: TokenStatus) -> TokenStatus:
        """An earlier confirmation, if there is one, while the service does not say."""
        known = self._accepted.get(token_digest)
        now = self._now()
        if known is None or now >= known.at_s + OUTAGE_S:
            return found
        known.again_s = now + REFUSED_S
        return _ACCEPTED

    def _look_up(self, token: str) -> None:
        with self._pool.connection(token) as client:
            client.ask("GET", _TIER_PATH)


def digest(token: str) -> bytes:
    """What stands for a token where it is remembered."""
    return hashlib.sha256(token.encode()).digest()


def _seconds(text: str) -> str:
    return text if text.isascii() and text.isdigit() else "1"


def _remember(known: dict[bytes, T], token_digest: bytes, value: T) -> None:
    """Remember a value, and forget the oldest where there are too many."""
    known.pop(token_digest, None)
    known[token_digest] = value
    if len(known) > MOST_REMEMBERED:
        del known[next(iter(known))]
