"""Base62 text: the letters keys, nonces and token ids are made of."""

import os
import string
from typing import Final

ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_EVEN: Final = 256 - 256 % len(ALPHABET)
_CHARACTERS: Final = bytes(ord(ALPHABET[byte % len(ALPHABET)]) for byte in range(256))
_DROPPED: Final = bytes(range(_EVEN, 256))


def random_text(length: int) -> str:
    """Draw that many characters from the system's CSPRNG, 5.95 bits each."""
    text = b""
    while len(text) < length:  # bytes that would make some characters likelier than others are dropped
        text += os.urandom(2 * length).translate(_CHARACTERS, _DROPPED)
    return text[:length].decode("ascii")


def encode(number: int, width: int) -> str:
    """Write a number with leading zeros; what does not fit into `width` characters is cut off at the front."""
    text = ""
    for _ in range(width):
        number, digit = divmod(number, len(ALPHABET))
        text = ALPHABET[digit] + text
    return text


def decode(text: str) -> int:
    """Read what `encode` wrote.

    Raises:
        ValueError: If a character is not of the alphabet.
    """
    number = 0
    for character in text:
        number = number * len(ALPHABET) + ALPHABET.index(character)
    return number
