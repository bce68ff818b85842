"""The configuration of a user: `config.json`.

Unknown names are errors, because a misspelt limit would have no effect.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from service.client.address import read_address
from service.client.files import config_dir, read_document, write_document

URL: Final = "http://127.0.0.1:8402"
"""Where `make run` puts a service."""

MAX_PRICE_MICRO_USD: Final = 100_000
"""Default limit for one call: twice the highest price."""

MAX_DAY_MICRO_USD: Final = 1_000_000
"""Default limit for the calls of one UTC day."""

PRIVATE_KEY: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}\Z")

_MOST_MICRO_USD: Final = 1_000_000_000
"""1,000 USDC: a higher limit is a mistaken unit."""

_AMOUNT: Final = re.compile(r"\d{1,20}(\.\d{1,6})?\Z", re.ASCII)


class Config(NamedTuple):
    """The configured values; None if not set. `keystore` is the wallet's file (Web3 Secret Storage)."""

    url: str | None = None
    keystore: str | None = None
    max_price_micro_usd: int | None = None
    max_day_micro_usd: int | None = None


class Choice(NamedTuple):
    """One setting: its field of `Config`, and its default as it is typed (`otherwise`), if there is one.

    `read` parses the text, or raises `ValueError`; `show` writes the value as the text that `read` takes.
    """

    field: str
    otherwise: str | None
    read: Callable[[str], str | int]
    show: Callable[[int], str] = str


def read_usdc(text: str) -> int:
    """Parse decimal USDC into millionths: `0.10` → 100000. Raises `ValueError` for anything else, or above 1,000."""
    if not _AMOUNT.match(text):
        raise ValueError(f"{text!r} is not an amount of USDC. Write it like 0.10, with at most six decimals.")
    whole, _, fraction = text.partition(".")
    amount = int(whole) * 1_000_000 + int(fraction.ljust(6, "0"))
    if amount > _MOST_MICRO_USD:
        raise ValueError(f"{text} USDC is above the highest possible limit, 1,000 USDC.")
    return amount


def show_usdc(micro_usd: int) -> str:
    """Write millionths of a dollar as USDC, two decimals at least: 100000 → `0.10`."""
    whole, fraction = divmod(micro_usd, 1_000_000)
    return f"{whole}.{f'{fraction:06}'.rstrip('0'):0<2}"


def _path(text: str) -> str:
    if not text.strip():
        raise ValueError("The path is empty.")
    if PRIVATE_KEY.match(text):
        raise ValueError(
            "This is a private key, not the path of a file. It stays in the shell's history, so use another wallet."
        )
    return str(Path(text).expanduser().absolute())


CHOICES: Final[Mapping[str, Choice]] = {
    "url": Choice("url", URL, lambda text: str(read_address(text))),
    "keystore": Choice("keystore", None, _path),
    "max-price": Choice("max_price_micro_usd", show_usdc(MAX_PRICE_MICRO_USD), read_usdc, show_usdc),
    "max-day": Choice("max_day_micro_usd", show_usdc(MAX_DAY_MICRO_USD), read_usdc, show_usdc),
}
"""Settings by their name in the file and on the command line."""


def path(environment: Mapping[str, str]) -> Path:
    """Path of the file; it need not exist."""
    return config_dir(environment) / "config.json"


def read(environment: Mapping[str, str]) -> Config:
    """Read the configuration; empty without a file. Raises `RefusalError` if it cannot be read or understood."""
    return read_document(path(environment), _understood, _advice) or Config()


def write(environment: Mapping[str, str], config: Config) -> None:
    """Write the configuration. Raises `RefusalError` if it cannot be written."""
    write_document(path(environment), shown(config))


def shown(config: Config) -> dict[str, str]:
    """The configured values by name, each as it is typed."""
    values = {name: getattr(config, choice.field) for name, choice in CHOICES.items()}
    return {name: CHOICES[name].show(value) for name, value in values.items() if value is not None}


def _understood(document: Any) -> Config:
    if not isinstance(document, dict):
        raise ValueError("It does not contain an object of names and values.")  # noqa: TRY004 - a file is at fault, not a caller
    chosen: dict[str, Any] = {}
    for name, value in document.items():
        if name not in CHOICES:
            raise ValueError(f"There is no setting {name!r}. The settings are {', '.join(CHOICES)}.")
        if not isinstance(value, str):
            raise ValueError(f"The value of {name} is not a text in quotation marks.")  # noqa: TRY004 - the same
        chosen[CHOICES[name].field] = CHOICES[name].read(value)
    return Config(**chosen)


def _advice(error: Exception) -> str:
    is_text = not isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError)
    return f"{error if is_text else 'It is not JSON.'} Correct the file, or delete it to reset all settings."
