"""What the steps found, decoded once, and every figure of it with its unit and the coin it belongs to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from service.ask.cleaning import clean
from service.ask.hashes import twins
from service.ask.measures import Kind, Measure, kind_of
from service.ask.numerals import scan
from service.clock import parse_iso
from service.wire.ask import Entities, Step

_NO_ENTITIES: Final = Entities()
_ALIASES: Final = ("id", "symbol", "asset", "token", "venue_symbol", "name")
_GROUPS: Final = ("category.info", "category.sentiment")
_ON_CHAIN: Final = ("wallets", "wallets.recent")
_NO_TICKERS: Final = frozenset({"UP", "HODL", "DOWN", "USD", "USDC"})
BENCHMARK: Final = "BTC"
"""What correlations are measured by."""

_SERIES: Final = "/series"
"""Of a thousand prices one is always near: only the first and the last may be told."""

_NOT_COUNTED: Final = frozenset({"/rules", _SERIES})
"""Lists that nobody asks the length of: it would only be one more number to hide another behind."""

_PATHS: Final = "/input"
_SINCE: Final = "/since"
"""Where an argument is kept that answers repeat: from when on they tell."""

_BENCHMARKED: Final = frozenset({"coin.risk", "scan", "signal"})
_OF_THE_UNIT: Final = frozenset({"amount", "unit_price"})
_OWN_WORDS: Final = re.compile(r"/(?:token|symbol|speaker|title|label|quote)\Z|^/sources/\d+/name\Z")
"""What people, shows and tokens call themselves, and what is said: no ticker and no number, whatever it spells."""

_WHOLE: Final = re.compile(r"/(?:speaker|label)\Z|^/sources/\d+/name\Z")
"""Of these, what may stand in prose though it be a single word."""

_SYMBOL: Final = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,15}")
_LETTERS_OF_A_NAME: Final = 3
_LONGEST_NAME: Final = 48


class Fact(Struct, frozen=True):
    """One value of a result; a decimal string is a number, with all its digits.

    Attributes:
        step: The step that found it.
        pointer: Where it stands in the result (RFC 6901).
        value: A number or a string.
        of: The coin, asset or category it belongs to; null for what concerns none in particular.
        kind: What it measures; null for a string.
    """

    step: str
    pointer: str
    value: float | Decimal | str
    of: str | None
    kind: Kind | None


class Found(Struct, frozen=True):
    """What one step answered: the payload as plain values; `twins` are short forms that several addresses have."""

    step: str
    tool: str
    args: Mapping[str, Any]
    as_of: str | None
    data: Any
    twins: frozenset[str] = frozenset()

    def get(self, pointer: str) -> Any:
        """The value at a JSON pointer; None where there is none or it is null."""
        value = self.data
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, Mapping):
                value = value.get(key)
            elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            else:
                return None
        return value

    def size(self, pointer: str) -> int:
        """How many things the list at a pointer holds; 0 where there is no list."""
        value = self.get(pointer)
        return len(value) if isinstance(value, list) else 0

    def holder(self, pointer: str) -> tuple[str, Mapping[str, Any], str]:
        """The last key of a pointer, the object that holds it, and the name of the field that holds that."""
        parts = pointer.split("/")
        parent = self.get("/".join(parts[:-1]))
        return parts[-1], parent if isinstance(parent, Mapping) else {}, parts[-2] if len(parts) > 1 else ""

    def kind(self, pointer: str) -> Kind:
        """What the field at a pointer measures."""
        return kind_of(*self.holder(pointer))


class Evidence:
    """The results an answer rests on.

    Args:
        steps: As they ended, in the order of the plan.
        entities: What the question names: such names may be repeated, nothing else of it.
    """

    def __init__(self, steps: Sequence[Step], entities: Entities = _NO_ENTITIES) -> None:
        self.steps = tuple(steps)
        self.entities = entities
        self.failed = tuple(step for step in steps if step.error is not None)
        data = [(step, plain(step.result)) for step in steps if step.error is None]
        self.twins = twins([result for step, result in data if step.tool in _ON_CHAIN])
        self.found = tuple(
            Found(step.id, step.tool, step.args, step.as_of, result, self.twins) for step, result in data
        )

    def all(self, tool: str) -> tuple[Found, ...]:
        """What the steps of a tool found, in the order of the plan."""
        return tuple(found for found in self.found if found.tool == tool)

    def first(self, tool: str) -> Found | None:
        """What the first step of a tool found that answered."""
        return next(iter(self.all(tool)), None)

    def of(self, tool: str, symbol: str) -> Found | None:
        """What a tool found about one coin or asset."""
        return next((found for found in self.all(tool) if symbol in (found.get("/symbol"), found.get("/id"))), None)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Every value of every result, and how many rows it lists."""
        return tuple(fact for found in self.found for fact in _facts_of(found))

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Names of coins, assets and categories as results write them, and which of them each one is."""
        names: dict[str, str] = {}
        for found in self.found:
            for alias, owner in _names_in(found.data, found.tool in _GROUPS):
                names.setdefault(alias, owner)
        for fact in self.facts:
            if isinstance(fact.value, str) and fact.value not in _NO_TICKERS and _is_ticker(fact):
                names.setdefault(fact.value, fact.value)
        if any(found.tool in _BENCHMARKED for found in self.found):
            names.setdefault(BENCHMARK, BENCHMARK)
        return names

    @cached_property
    def strings(self) -> tuple[tuple[str, str | None], ...]:
        """Every string of every result with whose it is, and why steps failed."""
        errors = ((step.error, None) for step in self.failed if step.error is not None)
        return (*((fact.value, fact.of) for fact in self.facts if isinstance(fact.value, str)), *errors)

    @cached_property
    def callings(self) -> frozenset[str]:
        """What people, shows and wallets are called."""
        return frozenset(str(fact.value) for fact in self.facts if _WHOLE.search(fact.pointer))

    @cached_property
    def terms(self) -> frozenset[str]:
        """Names of tools and fields, and single words of results: what may stand as code."""
        keys = {key for fact in self.facts for key in fact.pointer.split("/") if key and not key.isdigit()}
        words = {clean(value) for value, _ in self.strings if " " not in value}
        words |= {clean(str(fact.value)) for fact in self.facts if fact.pointer.endswith(_PATHS)}
        return frozenset({*keys, *words, *(step.tool for step in self.steps)})

    @cached_property
    def said(self) -> frozenset[str]:
        """Names that the question holds or that were offered for them, as prose writes them."""
        asked = self.entities
        offered = (name for names in asked.candidates.values() for name in names)
        term = () if asked.term is None else (asked.term,)
        names = (
            *asked.coins,
            *asked.assets,
            *asked.categories,
            *asked.unknown,
            *asked.excluded,
            *asked.candidates,
            *offered,
            *term,
        )
        looked_up = (arg for step in self.steps for arg in step.args.values() if isinstance(arg, str))
        said = {clean(name) for name in (*names, *looked_up)}
        return frozenset(name for name in said if not self.found or _is_wordy(name))


def plain(result: object) -> Any:
    """A result as plain values, whatever it travels as."""
    return msgspec.json.decode(result) if isinstance(result, Raw) else msgspec.to_builtins(result)


def is_moment(text: str) -> bool:
    """Whether a string is a date or an instant."""
    if len(text) == len("2025-07-25"):
        text += "T00:00:00Z"
    try:
        parse_iso(text)
    except ValueError:
        return False
    return True


def _is_ticker(fact: Fact) -> bool:
    """Whether a string is written like a ticker, and is no name that people or tokens have given themselves."""
    text = str(fact.value)
    own = _OWN_WORDS.search(fact.pointer)
    return own is None and text.isascii() and text.isalnum() and text.upper() == text and len(text) <= _LONGEST_NAME


def _names_in(value: Any, is_group: bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        owner = _owner(value)
        if owner is None and is_group:
            owner = value.get("name")
        if isinstance(owner, str):
            aliases = (value.get(key) for key in _ALIASES)
            yield from ((clean(alias), owner) for alias in aliases if isinstance(alias, str) and _is_name(alias))
    for child in _children(value):
        yield from _names_in(child, is_group=False)


def _children(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_NAME and any(character.isalpha() for character in text)


def is_symbol(text: object) -> bool:
    """Whether what a token calls itself may stand in prose: a word like a ticker, of which no part is a number.

    Anybody may give a token any name; those of others are known by their contracts.
    """
    return isinstance(text, str) and _SYMBOL.fullmatch(text) is not None and not scan(text)


def _token_of(data: Mapping[str, Any]) -> str | None:
    """The token that movements of one contract are of."""
    moved = data.get("movements")
    first = moved[0] if isinstance(moved, list) and moved else None
    return _owner(first) if isinstance(first, Mapping) else None


def _owner(value: Mapping[str, Any]) -> str | None:
    """Whose an object's figures are: an asset's id (if it has a symbol too), a coin's ticker, a token's symbol."""
    if "contract" in value:
        token = value.get("token", value.get("symbol"))
        return token if is_symbol(token) else None
    symbol = value.get("symbol", value.get("asset"))
    if not isinstance(symbol, str):
        return None
    known = value.get("id")
    is_asset = isinstance(known, str) and known.endswith(f":{symbol}")
    return known if is_asset and isinstance(known, str) else symbol


def _facts_of(found: Found) -> Iterator[Fact]:
    owner = None
    if isinstance(found.data, Mapping):
        owner = _owner(found.data)
        if owner is None:
            owner = (
                found.data.get("name") if found.tool in _GROUPS else found.args.get("symbol", found.args.get("coin"))
            )
        if "contract" in found.args:
            owner = _token_of(found.data)
    if found.as_of is not None:
        yield Fact(found.step, "", found.as_of, None, None)
    since = found.args.get("since")
    if isinstance(since, str) and is_moment(since):
        yield Fact(found.step, _SINCE, since, None, None)
    yield from _walk(found, "", found.data, owner)


def _walk(found: Found, pointer: str, value: Any, owner: str | None) -> Iterator[Fact]:
    if isinstance(value, Mapping):
        of = _owner(value) or owner
        for key, child in value.items():
            yield from _leaf(found, (f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", key), value, child, of)
    elif isinstance(value, list):
        if value and isinstance(value[0], Mapping) and pointer.count("/") == 1 and pointer not in _NOT_COUNTED:
            yield Fact(found.step, pointer, len(value), owner, Kind(Measure.COUNT, frozenset()))
        ends = (0, len(value) - 1)
        for index, child in enumerate(value):
            if pointer != _SERIES or index in ends:
                yield from _leaf(found, (f"{pointer}/{index}", str(index)), {}, child, owner)


def _leaf(
    found: Found, where: tuple[str, str], parent: Mapping[str, Any], value: Any, owner: str | None
) -> Iterator[Fact]:
    pointer, key = where
    if isinstance(value, str):
        number = None if _OWN_WORDS.search(pointer) else _as_number(value)
        if number is None:
            yield Fact(found.step, pointer, value, owner, None)
        else:
            yield Fact(found.step, pointer, number, owner, kind_of(key, {**parent, key: number}, ""))
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        above = pointer.split("/")[-2]
        yield Fact(found.step, pointer, value, _of_figure(key, parent, owner), kind_of(key, parent, above))
    else:
        yield from _walk(found, pointer, value, owner)


def _of_figure(key: str, parent: Mapping[str, Any], owner: str | None) -> str | None:
    """Whose a figure is: in what is converted, the amount and its price are those of what it is converted from."""
    unit = parent.get("unit")
    if isinstance(unit, str) and key in _OF_THE_UNIT:
        return None if unit == "USD" else unit
    return owner


def _is_wordy(name: str) -> bool:
    """Whether it cannot pass for a figure: `1000PEPE` cannot, `5k` and `100x` can."""
    letters = sum(character.isalpha() for character in name)
    return letters >= _LETTERS_OF_A_NAME or not name[:1].isdigit()


def _as_number(text: str) -> Decimal | int | None:
    """Amounts travel as decimal strings (`"0.005"`)."""
    whole, _, part = text.partition(".")
    if not (text.isascii() and whole.isdecimal() and (part.isdecimal() or "." not in text)):
        return None
    return Decimal(text) if part else int(text)
