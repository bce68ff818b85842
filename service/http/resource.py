"""What a request asked for: its target as it was sent, and as one absolute URL, the name under which it is sold."""

from starlette.types import Scope

from service.http.exchange import Exchange


def target(scope: Scope) -> bytes:
    """Path and query, as the caller wrote them."""
    query = scope["query_string"]
    path: bytes = scope["raw_path"].partition(b"?")[0]
    return path + b"?" + query if query else path


def resource_url(scope: Scope, public_url: str | None) -> str:
    """The absolute URL that a request asked for, as its caller wrote it."""
    exchange: Exchange = scope["verdict"]
    base = public_url or f"{scope['scheme']}://{exchange.headers.get(b'host', b'').decode('latin-1')}"
    return base + target(scope).decode("latin-1")
