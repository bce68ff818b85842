"""What comes back: an answer, a refusal, or nothing."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


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
        try:
            return json.loads(self.body)
        except ValueError:
            raise UnreadableError("the answer is not JSON: is that address a Verdict service?") from None

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
    """The service said no.

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
        self.code = str(told.get("code") or f"HTTP_{status}")
        self.message = str(told.get("message") or f"the service answered {status} without saying why")
        details = told.get("details")
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}
        super().__init__(self.message)


class UnreachableError(Exception):
    """No answer came: no connection, a broken one, or none within the time given; the message says what to look at."""


class UnreadableError(Exception):
    """An answer came that is none of this interface."""
