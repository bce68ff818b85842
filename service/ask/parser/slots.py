"""What one clause holds, which of its pieces have been read, and who it is about."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from service.ask.parser.chunks import Chunk
from service.ask.parser.lexicon import Kind, Word
from service.ask.query import (
    Measure,
    Now,
    Scope,
    Subject,
    Time,
)

_AUX: Final = frozenset({
    "is", "are", "was", "were", "does", "did", "do", "has", "have", "had", "isnt", "arent", "wasnt", "didnt", "doesnt",
    "hasnt", "havent", "am",
})  # fmt: skip
_TURNED: Final = frozenset({
    "flipped", "turned", "turn", "turns", "flip", "flips", "turning", "flipping", "switched", "changed", "moved",
    "went", "crossed", "entered", "became", "become", "broke", "started", "slipped", "slid", "fell", "dropped",
    "shifted", "swung",
})  # fmt: skip
_ASKING: Final = frozenset({"isnt", "arent", "wasnt", "werent", "doesnt", "didnt", "hasnt", "havent"})
"""Denials that begin a question."""

_MOST_LISTED: Final = 50
BITCOIN: Final = "BTC"
PRESENT: Final = frozenset({"now", "right now", "currently", "at the moment", "at present", "present", "as of now"})
"""Words for the present."""


def _names_measure(chunk: Chunk) -> bool:
    return chunk.has("measure")


class Slots(Struct):
    """What one clause holds.

    `used` are chunks that have been read; `both`: both ends of a ranking; `absolute`: sizes without a sign;
    `against`: the other coin of a correlation.
    """

    chunks: Sequence[Chunk]
    words: Sequence[str]
    used: set[int]
    both: bool = False
    absolute: bool = False
    asset_type: str | None = None
    against: str | None = None

    # One chunk. All of these may be asked about places outside the clause.

    def kind(self, at: int) -> str:
        """What a chunk is."""
        return self.chunks[at].kind if 0 <= at < len(self.chunks) else ""

    def word(self, at: int) -> str:
        """What is written."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def as_(self, at: int, kind: str) -> Any:
        """The value of a chunk in one of its meanings; None where it has none of that kind."""
        return self.chunks[at].as_(kind) if 0 <= at < len(self.chunks) else None

    def has(self, at: int, kind: str) -> bool:
        """Whether a chunk has a meaning of a kind."""
        return 0 <= at < len(self.chunks) and self.chunks[at].has(kind)

    def turns(self, at: int) -> bool:
        """Whether a chunk says that a state changes."""
        return not _TURNED.isdisjoint(self.word(at).split())

    def or_more(self, at: int) -> int:
        """1 for "or more" at a chunk, -1 for "or less", else 0."""
        words = f"{self.word(at)} {self.word(at + 1)}"
        if words in {"or more", "or higher", "or above", "or greater", "or better", "or over"}:
            return 1
        return -1 if words in {"or less", "or lower", "or below", "or under", "or fewer"} else 0

    # Several chunks

    def past(self, at: int) -> int:
        """The first chunk from here on that is no filler; verbs of change count as such."""
        while self.kind(at) == "filler" or self.word(at) in _TURNED:
            at += 1
        return at

    def near(self, at: int, test: Callable[[int], bool], reach: int) -> int | None:
        """The first chunk after one that fulfils a test, less than `reach` away."""
        return next((place for place in range(at + 1, min(at + reach, len(self.chunks))) if test(place)), None)

    def are(self, places: Iterable[int], *kinds: str) -> bool:
        """Whether chunks are all of some kinds."""
        return all(self.kind(place) in kinds for place in places)

    def measure(self, at: int) -> Measure | None:
        """The measure that a chunk names."""
        chunk = self.chunks[at]
        named: Measure | None = chunk.value if chunk.kind == "measure" and not chunk.words else chunk.as_("measure")
        return named

    def several(self, at: int) -> list[Word]:
        """The measures that a chunk names besides its first: "range" is the high and the low."""
        return [word for word in self.chunks[at].words if word.kind == "measure"][1:]

    def measures(self, *names: str) -> list[int]:
        """Chunks that name one of some measures, used or not."""
        return [at for at in range(len(self.chunks)) if (one := self.as_(at, "measure")) and one.name in names]

    def put(self, at: int, kind: Kind, value: Any = None) -> None:
        """Let a chunk be a phrase of another meaning."""
        self.put_value(at, kind, value, Word(kind, value))

    def put_value(self, at: int, kind: str, value: Any, *words: Word) -> None:
        """Let a chunk have another value, which no phrase says unless words are given."""
        chunk = structs.replace(self.chunks[at], kind=kind, value=value, words=words)
        self.chunks = [*self.chunks[:at], chunk, *self.chunks[at + 1 :]]

    def drop(self, at: int) -> None:
        """Let a chunk change nothing."""
        self.put(at, "filler")
        self.used.add(at)

    def read_as(self, at: int, measure: Measure) -> None:
        """Let a chunk stand for a measure that is still to be read."""
        self.put_value(at, "measure", measure)
        self.used.discard(at)

    def average(self, at: int) -> None:
        """Let a chunk stand for the mean of its measure."""
        self.read_as(at, structs.replace(self.as_(at, "measure"), mean=True))

    def free(self, test: Callable[[Chunk], bool]) -> list[int]:
        """Chunks not yet used that fulfil a test."""
        return [at for at, chunk in enumerate(self.chunks) if at not in self.used and test(chunk)]

    def first(self, kind: str) -> int | None:
        """The first free chunk that has a kind as one of its meanings."""
        return next(iter(self.free(lambda chunk: chunk.has(kind))), None)

    def asks(self, *values: str) -> list[int]:
        """Chunks that ask for an operation, used or not."""
        return [
            at
            for at, chunk in enumerate(self.chunks)
            if any(word.kind == "ask" and word.value in values for word in chunk.words)
        ]

    def has_or(self, at: int) -> bool:
        """Whether "or" stands before a chunk, with at most fillers between."""
        before = at - 1
        while self.kind(before) == "filler" or self.word(before) == "with":
            before -= 1
        if self.kind(before) == "or":
            self.used.add(before)
            return True
        return False

    def is_question(self) -> bool:
        """Whether a clause asks for yes or no: it begins with an auxiliary verb."""
        opening = (
            words.partition(" ")[0] in _AUX
            for at, words in enumerate(self.words)
            if words.partition(" ")[0] in _AUX
            or (self.kind(at) not in {"filler", "and", "time"} and words not in {"tell me", "let me know"})
        )
        return next(opening, False)

    def imply(self, at: int, name: str) -> None:
        """Let a superlative stand for its measure, unless that or, for "the top gainers", another one is named."""
        named = {
            free: one
            for free in self.free(_names_measure)
            if (one := self.measure(free)) and one.name != "trend" and not self.adds(at, free)
        }
        by = any("by" in (self.word(free - 1), self.word(free - 2)) for free in named)
        if any(one.name == name for one in named.values()) or (named and (name == "change" or by)):
            return
        other = self.against if name == "correlation" and self.against != BITCOIN else None
        self.read_as(at, Measure(name, other=other))

    def adds(self, at: int, free: int) -> bool:
        """Whether a measure is only reported beside the ranking: "the best of them, and its price"."""
        before = free - 1
        listed = "," in self.chunks[free].gap
        while self.kind(before) == "filler":
            listed |= "," in self.chunks[before].gap
            before -= 1
        if listed and self.kind(before) != "number":
            return free > at
        return before > at and self.kind(before) == "and" and self.word(before) != "with"

    def limit(self, default: int | None) -> int | None:
        """A plain number: how many are wanted."""
        for at in self.free(
            lambda chunk: chunk.kind == "number" and chunk.value.unit is None and not chunk.value.scaled
        ):
            if (
                at
                and self.words[at - 1] in {"the", "all", "both", "those", "these"}
                and not self.words[at][:1].isdigit()
                and default is None
            ):
                self.used.add(at)
                continue
            value = self.chunks[at].value.value
            if value == int(value) and 1 <= value <= _MOST_LISTED:
                self.used.add(at)
                return int(value)
        return default

    def row(self, at: int) -> list[int]:
        """Plain numbers in a row from a chunk on: "two, three and four", "4 through 8"."""
        found: list[int] = []
        while self.kind(at) in {"number", "filler", "and"} or self.word(at) in {"through", "thru"}:
            if self.kind(at) == "number":
                quantity = self.chunks[at].value
                if quantity.unit is not None or quantity.scaled or at in self.used:
                    return []
                found.append(at)
            at += 1
        return found

    def one_time(self, times: Sequence[int]) -> Time:
        """The one time left; a second one stays unread."""
        if not times:
            return Now()
        self.used.add(times[0])
        time: Time = self.chunks[times[0]].value
        return time

    def take_turns(self) -> None:
        """Mark what says that a state changes as read."""
        self.used |= {at for at in range(len(self.chunks)) if self.turns(at)}

    def take(self, *kinds: str) -> None:
        """Mark every chunk of some kinds as read."""
        self.used |= {
            at
            for at in range(len(self.chunks))
            if at not in self.used and any(self.chunks[at].has(kind) for kind in kinds)
        }

    def take_asks(self, *values: str) -> None:
        """Mark what asks for some operations as read."""
        self.used |= {at for at in self.asks(*values) if not self.chunks[at].has("measure")}


def read_subject(slots: Slots) -> Subject:
    """Who a clause is about. Names after "except" or "not" are left out."""
    named: dict[str, dict[str, None]] = {kind: {} for kind in ("coin", "asset", "category", "wallet", "show")}
    excluded: dict[str, dict[str, None]] = {"coin": {}, "category": {}}
    excluding = False
    exceptions: set[int] = set()
    for at, chunk in enumerate(slots.chunks):
        if at in slots.used:
            continue
        if _excludes(slots, at):
            excluding = True
            exceptions.add(at)
            slots.used.add(at)
        elif chunk.kind in named:
            target = excluded if excluding and chunk.kind in excluded else named
            target[chunk.kind].update(dict.fromkeys(chunk.value))
            slots.used.add(at)
        elif chunk.kind not in {"and", "or", "filler"} or chunk.gap not in {"", ","}:
            excluding = excluding and chunk.kind == "set"
    if named["coin"] and excluded["coin"]:
        slots.used -= exceptions  # "BTC minus ETH": of coins named none is left out
    sets = {slots.chunks[at].value for at in slots.free(lambda chunk: chunk.kind == "set")}
    if "alts" in sets:
        excluded["coin"].setdefault(BITCOIN)
    if slots.asset_type is not None and not (named["coin"] or named["asset"] or named["category"]):
        return Subject(scope="assets", asset_type=slots.asset_type or None)
    return Subject(
        scope=_scope(named, sets, others=any(excluded.values())),
        coins=tuple(named["coin"]),
        assets=tuple(named["asset"]),
        categories=tuple(named["category"]),
        wallets=tuple(named["wallet"]),
        shows=tuple(named["show"]),
        excluded=tuple(excluded["coin"]),
        excluded_categories=tuple(excluded["category"]),
    )


def _excludes(slots: Slots, at: int) -> bool:
    """Whether a chunk leaves out the coin or category behind it: "except BTC", but not "isn't BTC …?"."""
    asks = at == 0 and slots.word(at) in _ASKING
    if asks or at in neither(slots) or not (slots.has(at, "except") or slots.has(at, "neg")):
        return False
    at += 1
    while slots.kind(at) in {"filler", "set"}:
        at += 1
    return slots.kind(at) in {"coin", "category"} and at not in slots.used


def neither(slots: Slots) -> list[int]:
    """Where two names are denied something together: "is neither BTC nor ETH in a downtrend?", but not of a set."""
    denied = [at for at, words in enumerate(slots.words) if words in {"neither", "nor"}]
    of_set = any(chunk.kind in {"set", "category"} for chunk in slots.chunks) or slots.asks("list")
    return [] if of_set or not denied or slots.word(denied[0]) != "neither" else denied


def _scope(named: Mapping[str, Mapping[str, None]], sets: set[str], *, others: bool) -> Scope:
    """What kind of thing is meant; `others`: something is left out, so all the others are."""
    scopes: tuple[tuple[str, Scope], ...] = (
        ("wallet", "wallets"),
        ("coin", "coins"),
        ("show", "shows"),
        ("category", "category"),
        ("asset", "assets"),
    )
    found = next((scope for kind, scope in scopes if named[kind]), None)
    if found is not None:
        return found
    if "market" in sets:
        return "market"
    return "all" if sets or others else "coins"
