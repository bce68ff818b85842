"""What questions ask of single data routes: which service answers, and which of its fields are shown.

To add a topic: a table in `routes.toml`, words in `parser/lexicon.toml`, a template in `answers.toml`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from service.ask.load import load
from service.ask.measure_table import Unit


class Shown(Struct, frozen=True, array_like=True):
    """A field that is shown: its column, its unit, and its name in the payload."""

    label: str
    unit: Unit
    field: str


class Topic(Struct, frozen=True, kw_only=True):
    """One list that a data route answers.

    Attributes:
        tool: Id of the service's tool.
        noun: What its rows are, in the plural.
        items: Name of the list in the payload.
        subject: Field that says what a row is about.
        columns: What is shown of it.
        args: Parameters that are always given.
        coin: Parameter that narrows it to a coin; null: it takes none.
        category: Parameter that narrows it to a category.
        show: Parameter that narrows it to a show.
        since: Whether the tool takes `since`.
        at: Field with the instant of a row; null: rows have none, so no time can be asked.
        options: Options of a question to the field that their values are compared with.
        given: Options that are parameters of the tool.
    """

    tool: str
    noun: str
    items: str
    subject: str
    columns: tuple[Shown, ...]
    args: Mapping[str, object] = {}
    coin: str | None = None
    category: str | None = None
    show: str | None = None
    since: bool = False
    at: str | None = None
    options: Mapping[str, str] = {}
    given: tuple[str, ...] = ()


LISTS: Final = load(Path(__file__).with_suffix(".toml"), dict[str, Topic])
"""Topics that are a list."""

ASSET_TYPES: Final[Mapping[str, str]] = {
    "stock": "equity",
    "stocks": "equity",
    "equities": "equity",
    "etf": "etf",
    "etfs": "etf",
    "metal": "metal",
    "metals": "metal",
    "precious metals": "metal",
    "commodity": "commodity",
    "commodities": "commodity",
    "index": "index",
    "indices": "index",
    "indexes": "index",
    "currency": "fx",
    "currencies": "fx",
    "forex": "fx",
    "fx": "fx",
}
"""Types of real-world assets by what people call them."""

ROUTES: Final = (
    *LISTS,
    "categories",
    "coins",
    "walkforward",
    "news",
    "quality",
    "breadth",
    "account",
    "pricing",
)
"""Every topic of `Route`."""
