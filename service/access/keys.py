"""The form of API keys: how they are drawn, recognised and fingerprinted. `credentials` stores what is kept of them."""

import hmac
import re
import zlib
from typing import Final

from service.access import base62
from service.access.refusal import invalid

SECRET_LENGTH: Final = 30
CHECKSUM_LENGTH: Final = 6
SHOWN_LENGTH: Final = 8


class KeyForm:
    """Keys of one service.

    Args:
        prefix: What every key starts with; ends in `_sk_`.
        pepper: Server secret under which keys are fingerprinted: a copy of the database alone tests no guess.
    """

    def __init__(self, prefix: str, pepper: bytes) -> None:
        self.prefix: Final = prefix
        self._pepper = pepper
        length = SECRET_LENGTH + CHECKSUM_LENGTH
        self._form = re.compile(rf"{re.escape(prefix)}[0-9A-Za-z]{{{length}}}\Z")

    def draw(self) -> str:
        """Make a new key, 178 bits."""
        body = self.prefix + base62.draw(SECRET_LENGTH)
        return body + _checksum(body)

    def check(self, token: str) -> None:
        """Recognise a key without looking it up, so that typing errors and guesses cost no read.

        Raises:
            ServiceError: `AUTH_INVALID` if the form or the checksum is wrong.
        """
        if not self._form.match(token):
            raise invalid(
                f"The API key is malformed: it is {self.prefix} and {SECRET_LENGTH + CHECKSUM_LENGTH} characters."
            )
        if not hmac.compare_digest(_checksum(token[:-CHECKSUM_LENGTH]), token[-CHECKSUM_LENGTH:]):
            raise invalid("The API key is malformed: its checksum does not match. Was it copied whole?")

    def fingerprint(self, key: str) -> bytes:
        """What is stored in place of a key: HMAC-SHA256 under the pepper, 32 bytes."""
        return hmac.digest(self._pepper, key.encode(), "sha256")

    def display_prefix(self, key: str) -> str:
        """The part of a key that may be shown again."""
        return key[: len(self.prefix) + SHOWN_LENGTH]


def _checksum(body: str) -> str:
    return base62.write(zlib.crc32(body.encode()), CHECKSUM_LENGTH)
