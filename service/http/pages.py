"""Documents that never change while the service runs."""

from starlette.types import Receive, Scope, Send

from service.http.documents import Document


class Page:
    """Answers with one document.

    Args:
        document: Media type and bytes.
    """

    def __init__(self, document: Document) -> None:
        self._body = document.body
        self._headers = [
            (b"content-type", document.content_type),
            (b"content-length", b"%d" % len(document.body)),
            (b"cache-control", b"public, max-age=300"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send it; for HEAD its headers."""
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self._body})
