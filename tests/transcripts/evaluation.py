"""The labelled talk of `fixtures/answers`, and how well something tags it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from fixtures.coins import CATEGORIES, COINS
from service.market.symbols import canonical
from service.sentiment.matcher import Known
from tests.sentiment.labelled import rows

HALVES: Final = ("dev", "held-out")
PRACTICE: Final = "practice"
STRANGER: Final = "stranger"
KINDS: Final = ("coins", "sectors", "macro")


class Tagged(Protocol):
    """What something says of a text."""

    @property
    def coins(self) -> Sequence[str]: ...
    @property
    def sectors(self) -> Sequence[str]: ...
    @property
    def macro(self) -> Sequence[str]: ...


class Labelled(NamedTuple):
    """A piece of talk and what a person says it is about."""

    coins: frozenset[str]
    sectors: frozenset[str]
    macro: frozenset[str]
    text: str


class Miss(NamedTuple):
    """Tags that are wrong and tags that are missing, of one kind, in one text."""

    kind: str
    wrong: frozenset[str]
    missing: frozenset[str]
    text: str


class Counts(NamedTuple):
    """Tags: given and right, given and wrong, not given."""

    right: int
    wrong: int
    missing: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missing)


class Result(NamedTuple):
    """Counts by kind of tag, and each miss."""

    of: dict[str, Counts]
    misses: list[Miss]

    @property
    def all(self) -> Counts:
        """Over all tags alike (micro)."""
        return Counts(*(sum(column) for column in zip(*self.of.values(), strict=True)))


def segments(half: str) -> list[Labelled]:
    return [
        Labelled(_tags(coins), _tags(sectors), _tags(macro), text)
        for coins, sectors, macro, text in rows(f"segments-{half}.tsv")
    ]


def _tags(cell: str) -> frozenset[str]:
    return frozenset(cell.split(",")) - {"-"}


def known() -> list[Known]:
    """The coins the labels were written against."""
    return [Known(canonical(coin.name), coin.title) for coin in COINS]


def categories() -> list[str]:
    return sorted(CATEGORIES.values())


def judge(labelled: Iterable[Labelled], tag: Callable[[str], Tagged]) -> Result:
    """Hold something against the labels."""
    of, misses = dict.fromkeys(KINDS, Counts(0, 0, 0)), []
    for segment in labelled:
        said = tag(segment.text)
        for kind in KINDS:
            truth, given = getattr(segment, kind), frozenset(getattr(said, kind))
            wrong, missing = given - truth, truth - given
            before = of[kind]
            of[kind] = Counts(
                before.right + len(given & truth), before.wrong + len(wrong), before.missing + len(missing)
            )
            if wrong or missing:
                misses.append(Miss(kind, wrong, missing, segment.text))
    return Result(of, misses)
