"""An answer that is whole before any of it leaves: for an application as messages, for a connection as bytes.

What such answers share is joined and looked over once, however often they are given.
"""

from collections.abc import Iterable

from msgspec import Struct
from starlette.types import Message, Send

Field = tuple[bytes, bytes]


class Whole(Struct, frozen=True):
    """Status, response headers and body. `lines` are the headers as they are written, each with its line's end."""

    status: int
    fields: tuple[Field, ...]
    lines: bytes
    body: bytes

    def head(self) -> Message:
        """The message that begins it, with a list of its own: gates add to it."""
        return {"type": "http.response.start", "status": self.status, "headers": list(self.fields)}

    async def send(self, send: Send, *, bodiless: bool = False) -> None:
        """Send it; for HEAD without its body."""
        await send(self.head())
        await send({"type": "http.response.body", "body": b"" if bodiless else self.body})


def whole(status: int, fields: Iterable[Field], body: bytes) -> Whole:
    """An answer of these response headers, and of its `Content-Length`."""
    every = (*fields, (b"content-length", b"%d" % len(body)))
    return Whole(status, every, lines_of(every), body)


def lines_of(fields: Iterable[Field]) -> bytes:
    """Response headers as they are written.

    Raises:
        RuntimeError: If one of them smuggles a line break or a NUL.
    """
    joined = [b": ".join(field) for field in fields]
    lines = b"\r\n".join([*joined, b""])
    if lines.count(b"\n") != len(joined) or lines.count(b"\r") != len(joined) or b"\0" in lines:
        raise RuntimeError("a header holds a line break or a NUL")
    return lines
