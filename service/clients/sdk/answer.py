"""What comes back: an answer, a refusal, or nothing."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

_REDIRECTS: Final = range(300, 400)


class Answer:
    """A success.

    Args:
        status: HTTP status, 200 to 299.
        headers: By lower-case name.
        body: As it came.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def document(self) -> Any:
        """The body as JSON.

        Raises:
            UnreadableError: If it is none.
        """
        return read_json(self.body)

    @property
    def data(self) -> Any:
        """`data` of the envelope.

        Raises:
            UnreadableError: If the answer is not in an envelope.
        """
        return self._part("data")

    @property
    def meta(self) -> Any:
        """`meta` of the envelope.

        Raises:
            UnreadableError: If the answer is not in an envelope.
        """
        return self._part("meta")

    def _part(self, name: str) -> Any:
        document = self.document
        if not isinstance(document, dict) or name not in document:
            raise UnreadableError("the answer is in no envelope: is that address a Verdict service?")
        return document[name]


class Asked(NamedTuple):
    """A request as it was sent.

    Attributes:
        url: The service: scheme, host, perhaps a port.
        request: Method, one space, path with query, one line feed, body: what receipts have the SHA-256 of.
        caller: SHA-256 of its `Authorization`, in hex: tells callers apart without their secret.
    """

    url: str
    request: bytes
    caller: str


class RefusedError(Exception):
    """The service said no, or sends elsewhere, where nobody follows.

    Args:
        status: HTTP status, 300 and above.
        headers: By lower-case name.
        document: The body: the envelope of a failure, or the bare `{"error": text}` of the question route.
        asked: What it said no to.
    """

    def __init__(self, status: int, headers: Mapping[str, str], document: Any, asked: Asked | None = None) -> None:
        self.asked = asked
        self.status = status
        self.headers = headers
        self.document = document
        error = document.get("error") if isinstance(document, dict) else None
        told = error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}
        self.code = _text(told.get("code")) or f"HTTP_{status}"
        self.message = _text(told.get("message")) or self._without_a_word()
        details = told.get("details")
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}
        super().__init__(self.message)

    def _without_a_word(self) -> str:
        target = self.headers.get("location")
        if self.status in _REDIRECTS and target:
            return f"that address sends on to {target}; ask there (--url) if you trust it"
        return f"the service answered {self.status} without saying why"


def _text(told: object) -> str:
    # What is no text is not made one: Python reads lists that are nested deeper than it can write them.
    return told if isinstance(told, str) else ""


class UnreachableError(Exception):
    """No answer came: no connection, a broken one, or none within the time given.

    Args:
        message: What to look at.
        sent: Whether the request may have arrived: False only where it surely did not.
    """

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent


class UnreadableError(Exception):
    """An answer came that is none of this interface."""


@contextmanager
def reading() -> Iterator[None]:
    """Take parts out of an answer, which may lack them.

    Raises:
        UnreadableError: If one is not there, or not what it should be.
    """
    try:
        yield
    except (LookupError, TypeError, AttributeError):
        raise UnreadableError("the answer lacks what it should hold: is that address a Verdict service?") from None


def read_json(body: bytes) -> Any:
    """Read an answer's body.

    Raises:
        UnreadableError: If it is no JSON, or nested deeper than anybody means.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UnreadableError("the answer is not JSON: is that address a Verdict service?") from None
