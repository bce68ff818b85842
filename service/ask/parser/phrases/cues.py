"""Finding the phrases of the table in the words of a question."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from service.ask.parser.phrases.row import CLASSES, Row

_GAP: Final = 3
_BEGIN: Final = "^"
_END: Final = "$"

Slot: TypeAlias = frozenset[str] | None
"""One place of a phrase: the words that fit it, or null for up to three of any kind."""


class Phrase(Struct, frozen=True):
    """A phrase, compiled: which row of the table it belongs to, and its places after the first."""

    row: int
    rest: tuple[Slot, ...]


def words_of(masked: str, most: int) -> list[str]:
    """The words that phrases are looked for in.

    Args:
        masked: As a reading gives it.
        most: How many words are looked at: the first two thirds of them and the last. It bounds what a hostile text
            costs.

    Returns:
        These words between a mark of the beginning and one of the end, numbers in digits as `#`,
        those that can only be a year to come as `YEAR`, multiples (`10x`) as `TIMES`.
    """
    words = masked.split()
    if len(words) > most:
        words = [*words[: most * 2 // 3], *words[-(most // 3) :]]
    return [_BEGIN, *(_numbered(word) for word in words), _END]


def _numbered(word: str) -> str:
    if not word.isdigit():
        return "TIMES" if word[:-1].isdigit() and word.endswith("x") else word
    return "YEAR" if len(word) == len("2030") and word >= "2030" and word < "2100" else "#"


class Cues:
    """The table, arranged by the first words of its phrases. Immutable.

    Args:
        table: Its rows.
    """

    def __init__(self, table: Sequence[Row]) -> None:
        self._by_first: dict[str, list[Phrase]] = {}
        words: set[str] = set()
        self._bars = [(place, _words(row.unless) or frozenset()) for place, row in enumerate(table) if row.unless]
        for place, row in enumerate(table):
            for first, *rest in _compiled(row.phrases):
                phrase = Phrase(place, tuple(rest))
                words.update(*(slot for slot in (first, *rest) if slot is not None))
                for word in sorted(first or ()):
                    self._by_first.setdefault(word, []).append(phrase)
        self._words = frozenset(words)

    @property
    def words(self) -> frozenset[str]:
        """Every word that occurs in a phrase."""
        return self._words

    def knows(self, word: str) -> bool:
        """Whether a word occurs in any phrase."""
        return word in self._words

    def matching(self, words: Sequence[str], spared: frozenset[int] = frozenset()) -> frozenset[int]:
        """Rows of which at least one phrase occurs.

        Args:
            words: As `words_of` gives them.
            spared: Places of words that are not to be counted: what somebody does not want to hear about.

        Returns:
            Places in the table.
        """
        found: set[int] = set(self._barred(words))
        barred = frozenset(found)
        for place, word in enumerate(words):
            if place in spared:
                continue
            for phrase in self._by_first.get(word, ()):
                if phrase.row not in found and _fits(phrase.rest, words, place + 1):
                    found.add(phrase.row)
        return frozenset(found) - barred

    def _barred(self, words: Sequence[str]) -> list[int]:
        """Rows that a word forbids."""
        said = frozenset(words)
        return [place for place, bar in self._bars if not bar.isdisjoint(said)]


def _fits(rest: tuple[Slot, ...], words: Sequence[str], start: int) -> bool:
    """Whether the words from `start` fit the places. All ways are tried at once, so none is tried twice."""
    reached = {start}
    for slot in rest:
        if slot is None:
            reached = {place + more for place in reached for more in range(_GAP + 1)}
        else:
            reached = {place + 1 for place in reached if place < len(words) and words[place] in slot}
        if not reached:
            return False
    return True


def _compiled(phrases: str) -> Iterator[tuple[Slot, ...]]:
    for line in phrases.splitlines():
        if line.strip():
            yield from _spelled_out(line.split())


def _spelled_out(slots: Sequence[str]) -> list[tuple[Slot, ...]]:
    """Every way to read a phrase whose places may be missing, so that the first place is always a word."""
    if not slots:
        return [()]
    later = _spelled_out(slots[1:])
    slot = slots[0]
    taken = [(_words(slot.removesuffix("?")), *rest) for rest in later]
    return [*taken, *later] if slot.endswith("?") else taken


def _words(slot: str) -> Slot:
    if slot == "..":
        return None
    words = [CLASSES[word[1:-1]].split("|") if word.startswith("<") else [word] for word in slot.split("|")]
    return frozenset(word for some in words for word in some)
