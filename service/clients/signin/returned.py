"""What a browser brings back from the page: `state`, `token`, `wallet`, `expiresAt`, perhaps `notice`, as a query."""

import hmac
from typing import Final, NamedTuple
from urllib.parse import parse_qs

from service.clients.sdk.client import is_token
from service.clock import iso, parse_iso

_NAMES: Final = frozenset({"state", "token", "wallet", "expiresAt"})
_NOTICE: Final = "notice"
_LONGEST: Final = 8_192


class Returned(NamedTuple):
    """A session, as the browser tells it: the service is asked whose it is before anybody believes this."""

    token: str
    wallet: str
    expires_at: str
    notice: str | None = None

    def __repr__(self) -> str:
        """Without the token: this may end up in a log."""
        return f"Returned({self.wallet}, until {self.expires_at})"


def read_returned(query: str, state: str) -> Returned:
    """Read what a browser brings.

    Args:
        query: Of the callback's URL, without the question mark.
        state: The text that this login was begun with; it is compared in constant time.

    Raises:
        ValueError: If it is another login's, or not what the page gives; what it says holds nothing of the token.
    """
    try:
        fields = parse_qs(query[:_LONGEST], strict_parsing=True, max_num_fields=len(_NAMES) + 1, errors="strict")
    except ValueError:
        raise ValueError("that is not what the page gives") from None
    if fields.keys() - {_NOTICE} != _NAMES or any(len(values) > 1 for values in fields.values()):
        raise ValueError("that is not what the page gives")
    if not hmac.compare_digest(fields["state"][0].encode(), state.encode()):
        raise ValueError("that is of another login; begin again with `verdict login`")
    token, expires_at = fields["token"][0], fields["expiresAt"][0]
    if not is_token(token):
        raise ValueError("that is not what the page gives")
    return Returned(token, fields["wallet"][0], iso(parse_iso(expires_at)), fields.get(_NOTICE, [None])[0])
