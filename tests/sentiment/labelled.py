"""The labelled headlines of `fixtures/answers`, and how well something reads them."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from service.sentiment.matcher import Known, Matcher

ANSWERS = Path(__file__).resolve().parents[2] / "fixtures" / "answers"
LABELS = ("positive", "neutral", "negative")
BANKS = Path(__file__).parent / "headlines"
SIGNS = {"+": "positive", "=": "neutral", "-": "negative"}
HALVES = ("dev", "held-out")


class Headline(NamedTuple):
    label: str
    coins: frozenset[str]
    text: str


class Result(NamedTuple):
    """`confusion` counts (label, said); `found`, `wrong` and `missed` count coins; `errors` are labels read wrongly."""

    confusion: dict[tuple[str, str], int]
    found: int
    wrong: int
    missed: int
    errors: list[tuple[str, str, float, str]]

    @property
    def total(self) -> int:
        return sum(self.confusion.values())

    @property
    def accuracy(self) -> float:
        return sum(self.confusion[label, label] for label in LABELS) / self.total

    @property
    def coin_precision(self) -> float:
        return self.found / (self.found + self.wrong)

    @property
    def coin_recall(self) -> float:
        return self.found / (self.found + self.missed)

    @property
    def macro_f1(self) -> float:
        pairs = [(self.precision(label), self.recall(label)) for label in LABELS]
        return sum(2 * one * other / max(1e-9, one + other) for one, other in pairs) / len(pairs)

    def precision(self, label: str) -> float:
        return self.confusion[label, label] / max(1, sum(self.confusion[truth, label] for truth in LABELS))

    def recall(self, label: str) -> float:
        return self.confusion[label, label] / sum(self.confusion[label, said] for said in LABELS)


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (ANSWERS / name).read_text().splitlines()[1:]]


def headlines(half: str) -> list[Headline]:
    return [
        Headline(label, frozenset(coins.split(",")) - {"-"}, text)
        for label, coins, text in rows(f"headlines-{half}.tsv")
    ]


def read_bank(name: str) -> list[Headline]:
    """Read a bank: each headline after its sign, sections by style after `#`."""
    lines = (BANKS / f"{name}.txt").read_text().splitlines()
    return [Headline(SIGNS[line[0]], frozenset(), line[2:]) for line in lines if line[0] in SIGNS]


@cache
def matcher() -> Matcher:
    coins = rows("coins.tsv")
    known = [Known(symbol, title) for symbol, title, _ in coins]
    return Matcher(known, sorted({category for *_, categories in coins for category in categories.split(";")}))


def judge(
    labelled: Iterable[Headline], score: Callable[[str], float], clear: float, read: Callable[[str], Sequence[str]]
) -> Result:
    """Hold something against the labels: a score beyond `clear` to either side takes that side."""
    confusion = {(label, said): 0 for label in LABELS for said in LABELS}
    errors: list[tuple[str, str, float, str]] = []
    found = wrong = missed = 0
    for headline in labelled:
        value = score(headline.text)
        said = "positive" if value > clear else "negative" if value < -clear else "neutral"
        confusion[headline.label, said] += 1
        if said != headline.label:
            errors.append((headline.label, said, value, headline.text))
        coins = set(read(headline.text))
        found += len(coins & headline.coins)
        wrong += len(coins - headline.coins)
        missed += len(headline.coins - coins)
    return Result(confusion, found, wrong, missed, errors)
