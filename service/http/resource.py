"""What a request asked for, as one absolute URL: the name under which it is sold."""

from starlette.types import Scope

from service.http.exchange import Exchange


def resource_url(scope: Scope, public_url: str | None) -> str:
    """The absolute URL that a request asked for, as its caller wrote it."""
    exchange: Exchange = scope["verdict"]
    base = public_url or f"{scope['scheme']}://{exchange.headers.get(b'host', b'').decode('latin-1')}"
    query = scope["query_string"]
    path: bytes = scope["raw_path"].partition(b"?")[0] + (b"?" + query if query else b"")
    return base + path.decode("latin-1")
