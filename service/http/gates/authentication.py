"""The authentication gate."""

from collections.abc import Coroutine
from typing import Final

from starlette.types import ASGIApp

from service.access.authenticator import Authenticator, token_digest
from service.access.caller import Caller, invalid_credential
from service.access.rate_limiter import FailedTokens
from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.request import RequestContext

LONGEST_TOKEN: Final = 4096

_SCHEME: Final = b"bearer"


class AuthenticationGate(RequestGate):
    """Sets the caller. Public routes do not have this gate.

    Args:
        app: The application behind the gate.
        authenticator: Looks tokens up.
        failed: Counts refused tokens. A valid token passes whatever else was sent.
        session_only: Whether an API key is not enough.
        optional: Whether a request without a token passes. A token that is sent must be valid all the same.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        failed: FailedTokens,
        *,
        session_only: bool,
        optional: bool = False,
    ) -> None:
        super().__init__(app)
        self._authenticator = authenticator
        self._failed = failed
        self._session_only = session_only
        self._optional = optional

    def check(self, request: RequestContext) -> Coroutine[None, None, None] | None:
        """Set the caller: from memory, or by looking the token up.

        Raises:
            ServiceError: AUTH_REQUIRED, AUTH_INVALID, RATE_LIMITED.
        """
        if request.token_digest is None:
            authorization = request.headers.get(b"authorization")
            if self._optional and authorization is None:
                return None
            request.token_digest = token_digest(_token(authorization))
        caller = self._authenticator.cached_by_digest(request.token_digest)
        if caller is None:
            token = _token(request.headers.get(b"authorization"))
            caller = self._authenticator.authenticate_now(token)
            if caller is None:
                return self._authenticate(request, token)
        self._let_in(caller, request)
        return None

    async def _authenticate(self, request: RequestContext, token: str) -> None:
        try:
            caller = await self._authenticator.authenticate(token)
        except ServiceError as error:
            self._failed.count(error, token_digest(token), request.scope)
            raise
        self._let_in(caller, request)

    def _let_in(self, caller: Caller, request: RequestContext) -> None:
        if self._session_only and caller.kind != "session":
            raise ServiceError(
                "AUTH_REQUIRED",
                "This needs a session, not an API key. Sign in with a wallet (`verdict login`), or ask the operator "
                "(`verdict admin keys`).",
            )
        request.caller = caller


def _token(authorization: bytes | None) -> str:
    if not authorization:
        raise ServiceError(
            "AUTH_REQUIRED",
            "Send an API key or a session token as `Authorization: Bearer …`. Run `verdict login` to get one.",
        )
    scheme, _, token = authorization.partition(b" ")
    if scheme.lower() != _SCHEME:
        raise invalid_credential("The Authorization header is malformed: it takes the form `Bearer <token>`.")
    token = token.strip(b" ")
    if len(token) > LONGEST_TOKEN:
        raise invalid_credential("The token is malformed: it is too long.")
    return token.decode("latin-1")
