"""The first gate: who is asking."""

from collections.abc import Awaitable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from service.access.caller import Caller
from service.access.doorkeeper import Doorkeeper, mark_of
from service.access.refusal import invalid
from service.errors import ServiceError
from service.http.exchange import Exchange
from service.http.throttle import FailedTokens

LONGEST_TOKEN: Final = 4096

_SCHEME: Final = b"bearer"


class Auth:
    """Writes the caller into the exchange. Public routes do not have this gate.

    Args:
        app: What stands behind the gate.
        doorkeeper: Knows the tokens.
        failed: Counts tokens that were refused. A good token is looked up and let through whatever else was sent.
        session_only: Whether an API key is not enough.
        optional: Whether those may pass who show no token. A token that is shown must be good all the same.
    """

    def __init__(
        self, app: ASGIApp, doorkeeper: Doorkeeper, failed: FailedTokens, *, session_only: bool, optional: bool = False
    ) -> None:
        self.app = app
        self._doorkeeper = doorkeeper
        self._failed = failed
        self._session_only = session_only
        self._optional = optional

    def read(self, scope: Scope, exchange: Exchange) -> bool:  # noqa: ARG002 -- the form of every gate's checks
        """Find the token.

        Returns:
            True: nothing here takes waiting.

        Raises:
            ServiceError: AUTH_REQUIRED, AUTH_INVALID.
        """
        if not self._optional or b"authorization" in exchange.headers:
            exchange.mark = mark_of(_token(exchange.headers.get(b"authorization")))
        return True

    def check(self, scope: Scope, exchange: Exchange) -> bool:  # noqa: ARG002 -- as above
        """Know the caller by heart.

        Returns:
            Whether it does. A token that is not known has to be looked up, and who shows none takes the stack.

        Raises:
            ServiceError: AUTH_REQUIRED.
        """
        if exchange.mark is None:
            return False
        caller = self._doorkeeper.recall_marked(exchange.mark)
        if caller is None:
            return False
        self._let_in(caller, exchange)
        return True

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Let a caller with a good token through.

        Raises:
            ServiceError: AUTH_REQUIRED, AUTH_INVALID, RATE_LIMITED.
        """
        exchange: Exchange = scope["verdict"]
        self.read(scope, exchange)
        if exchange.mark is None or self.check(scope, exchange):
            return self.app(scope, receive, send)
        return self._admit(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange: Exchange = scope["verdict"]
        token = _token(exchange.headers.get(b"authorization"))
        try:
            caller = await self._doorkeeper.admit(token)
        except ServiceError as error:
            self._failed.count(error, mark_of(token), scope)
            raise
        self._let_in(caller, exchange)
        await self.app(scope, receive, send)

    def _let_in(self, caller: Caller, exchange: Exchange) -> None:
        if self._session_only and caller.kind != "session":
            raise ServiceError("AUTH_REQUIRED", "this route takes a session, not an API key: run `verdict login` first")
        exchange.caller = caller


def _token(authorization: bytes | None) -> str:
    if not authorization:
        raise ServiceError(
            "AUTH_REQUIRED", "send a key or a session as `Authorization: Bearer …`; `verdict login` gets you one"
        )
    scheme, _, token = authorization.partition(b" ")
    if scheme.lower() != _SCHEME:
        raise invalid("The Authorization header is malformed: it takes the form `Bearer <token>`.")
    token = token.strip(b" ")
    if len(token) > LONGEST_TOKEN:
        raise invalid("The token is malformed: it is too long.")
    return token.decode("latin-1")
