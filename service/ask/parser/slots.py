"""What one clause holds, and which of its pieces have been read."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, structs

from service.ask.parser.chunks import Chunk
from service.ask.query import (
    Measure,
    Now,
    Time,
)

_AUX: Final = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "does",
        "did",
        "do",
        "has",
        "have",
        "had",
        "isnt",
        "arent",
        "wasnt",
        "didnt",
        "doesnt",
        "hasnt",
        "havent",
        "am",
    ]
)


BITCOIN: Final = "BTC"


class Slots(Struct):
    """What one clause holds; `used` are chunks that have been read; `both`: both ends of a ranking."""

    chunks: Sequence[Chunk]
    words: Sequence[str]
    used: set[int]
    both: bool = False
    asset_type: str | None = None
    against: bool = False

    def kind(self, at: int) -> str:
        return self.chunks[at].kind if 0 <= at < len(self.chunks) else ""

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
        while before >= 0 and self.kind(before) == "filler":
            before -= 1
        if before >= 0 and self.kind(before) == "or":
            self.used.add(before)
            return True
        return False

    def is_question(self) -> bool:
        """Whether a clause asks for yes or no: it begins with an auxiliary verb."""
        for at, words in enumerate(self.words):
            first = words.split()[0] if words else ""
            if first in _AUX:
                return True
            if self.kind(at) not in {"filler", "and", "time"} and words not in {"tell me", "let me know"}:
                return False
        return False

    def imply(self, at: int, name: str) -> None:
        """Let a superlative stand for its measure, unless one is named."""
        if not self.free(
            lambda chunk: (
                chunk.has("measure") and (m := chunk.as_("measure") or chunk.value).name != "trend" and m is not None
            )
        ):
            self.chunks = [
                structs.replace(chunk, kind="measure", value=Measure(name), words=()) if place == at else chunk
                for place, chunk in enumerate(self.chunks)
            ]
            self.used.discard(at)

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
            if value == int(value) and 1 <= value <= 1_000:
                self.used.add(at)
                return int(value)
        return default

    def one_time(self, times: Sequence[int]) -> Time:
        """The one time left; a second one stays unread."""
        if not times:
            return Now()
        self.used.add(times[0])
        time: Time = self.chunks[times[0]].value
        return time

    def take(self, *kinds: str) -> None:
        self.used |= {
            at
            for at in range(len(self.chunks))
            if at not in self.used and any(self.chunks[at].has(kind) for kind in kinds)
        }

    def take_asks(self, *values: str) -> None:
        self.used |= {at for at in self.asks(*values) if not self.chunks[at].has("measure")}
