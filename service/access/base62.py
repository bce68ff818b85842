"""Base62 text: the letters keys, nonces and token ids are made of."""

import secrets
import string
from typing import Final

ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase


def draw(length: int) -> str:
    """Draw that many characters from the system's CSPRNG, 5.95 bits each."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def write(number: int, width: int) -> str:
    """Write a number with leading zeros; what does not fit into `width` characters is cut off at the front."""
    text = ""
    for _ in range(width):
        number, digit = divmod(number, len(ALPHABET))
        text = ALPHABET[digit] + text
    return text


def read(text: str) -> int:
    """Read what `write` wrote.

    Raises:
        ValueError: If a character is not of the alphabet.
    """
    number = 0
    for character in text:
        number = number * len(ALPHABET) + ALPHABET.index(character)
    return number
