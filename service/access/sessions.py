"""Session tokens: JSON Web Tokens of one fixed form. The session's row decides whether it is valid."""

import re
from typing import Annotated, Final

import msgspec

from service.access.caller import invalid_credential
from service.clock import DAY_MS, LATEST_MS, SECOND_MS, iso

SESSION_MS: Final = 30 * DAY_MS
LEEWAY_MS: Final = 30 * SECOND_MS
"""How far the clocks of two nodes may be apart."""

_ISSUER: Final = "verdict"
_ALGORITHM: Final = "HS256"
_TOKEN_PATTERN: Final = re.compile(r"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.[A-Za-z0-9_-]{1,1024}\.[A-Za-z0-9_-]{43}\Z")
"""The only header a session has, `{"alg":"HS256","typ":"JWT"}`, a payload, and 32 bytes of signature."""


_Seconds = Annotated[int, msgspec.Meta(ge=0, le=LATEST_MS // SECOND_MS)]


class SessionClaims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """RFC 7519 claims of a session; times in epoch seconds, `sub` the user's number in decimal."""

    iss: str
    aud: str
    sub: str
    iat: _Seconds
    exp: _Seconds
    jti: str


class SessionTokens:
    """Signs and reads session tokens.

    Args:
        key: The 32-byte secret they are signed with.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, user_id: int, jti: str, issued_ms: int, expires_ms: int) -> str:
        """Write a token, valid in whole seconds."""
        import jwt  # noqa: PLC0415 - brings cryptography: 40 ms of a start, which only the first session needs

        claims = SessionClaims(_ISSUER, _ISSUER, str(user_id), issued_ms // SECOND_MS, expires_ms // SECOND_MS, jti)
        return jwt.encode(msgspec.to_builtins(claims), self._key, _ALGORITHM)

    def read(self, token: str, now_ms: int) -> SessionClaims:
        """Verify a token against our key and the clock.

        Raises:
            ServiceError: `AUTH_INVALID` if it is malformed, not ours, not yet valid or expired.
        """
        if not _TOKEN_PATTERN.match(token):
            raise invalid_credential("The session token is malformed.")
        import jwt  # noqa: PLC0415 - as above

        try:
            content = jwt.decode(
                token,
                self._key,
                algorithms=[_ALGORITHM],
                audience=_ISSUER,
                issuer=_ISSUER,
                options={"verify_exp": False, "verify_iat": False, "verify_nbf": False, "strict_aud": True},
            )
            claims = msgspec.convert(content, SessionClaims)
        except jwt.InvalidSignatureError as error:
            raise invalid_credential(
                "The session token was not signed by this service. Run `verdict login`."
            ) from error
        except (jwt.InvalidTokenError, msgspec.ValidationError, UnicodeEncodeError) as error:
            raise invalid_credential("The session token is malformed.") from error
        if now_ms >= claims.exp * SECOND_MS + LEEWAY_MS:
            raise invalid_credential(f"The session expired at {iso(claims.exp * SECOND_MS)}. Run `verdict login`.")
        if now_ms + LEEWAY_MS < claims.iat * SECOND_MS:
            raise invalid_credential("The session token is not valid yet.")
        return claims
