"""Headline sentiment: a softmax regression over words, word pairs, and the scores of the lexicon and of VADER.

The weights are data (`headline_model.json`), made by `python -m tests.sentiment.train` from labelled headlines.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import copysign, exp
from typing import Final, NamedTuple, TypeAlias

import msgspec

from service.sentiment.scoring import CLEAR, LONGEST, lexicon_scorer, mask_names

Spans: TypeAlias = Iterable[tuple[int, int]]
"""Where names stand in a text: start and end offsets."""

MODEL_FILE: Final = "headline_model.json"
_DECIMALS: Final = 4
_LEAST_CLEAR: Final = 0.21
_NEGATED_WORDS: Final = 3
"""Words after a negation that are marked as negated."""

_TOKEN: Final = re.compile(r"[+-]?\$?#%?|[a-z]+(?:'[a-z]+)?|[?!:]")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
_NAME: Final = re.compile(r"\bx{2,}\b|\bx\b(?=\s)")
_NEGATION: Final = re.compile(
    r"no|not|never|nobody|nothing|none|neither|nor|without|cannot|fails?|failed|den(?:y|ies|ied)|avoids?|averts|lacks|"
    r"refuses?|unable|barely|hardly|[a-z]+n't"
)
_SUFFIXES: Final = ("ingly", "edly", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e", "y")
_SHORTEST_STEM: Final = 3


class HeadlineModel(msgspec.Struct, frozen=True):
    """Trained weights: feature -> weight for negative and for positive, against neutral as the reference class."""

    bias: tuple[float, float]
    weights: dict[str, tuple[float, float]]


class Contribution(NamedTuple):
    """How much one feature moves the log-odds of positive against negative."""

    feature: str
    weight: float


class HeadlineClassifier:
    """Scores headlines.

    Args:
        model: Trained weights.
    """

    def __init__(self, model: HeadlineModel) -> None:
        self._model = model

    def score(self, text: str, names: Spans = ()) -> float:
        """Score a headline.

        Args:
            text: Only its first 600 characters are read.
            names: Names in it, which are not read as words ("Optimism", "Harmony").

        Returns:
            Probability of positive minus probability of negative, -1 to 1, 4 decimals. It lies beyond `CLEAR` exactly
            where positive or negative is the most likely class.
        """
        (negative, positive), weights = self._model.bias, self._model.weights
        for feature, value in features(text, names).items():
            if feature in weights:
                to_negative, to_positive = weights[feature]
                negative += value * to_negative
                positive += value * to_positive
        top = max(negative, positive, 0.0)
        below, above, between = exp(negative - top), exp(positive - top), exp(-top)
        lean = (above - below) / (below + above + between)
        size = min(abs(lean), CLEAR) if between == max(below, above, between) else max(abs(lean), _LEAST_CLEAR)
        return round(copysign(size, lean), _DECIMALS) + 0.0

    def explain(self, text: str, names: Spans = ()) -> Sequence[Contribution]:
        """List the features that decided a score, the strongest first.

        Args:
            text: The headline.
            names: As for `score`.
        """
        weights = self._model.weights
        found = [
            Contribution(feature, round(value * (weights[feature][1] - weights[feature][0]), _DECIMALS))
            for feature, value in features(text, names).items()
            if feature in weights
        ]
        return sorted(found, key=lambda each: (-abs(each.weight), each.feature))


@cache
def headline_classifier() -> HeadlineClassifier:
    """The classifier with the shipped weights, loaded once per process."""
    content = (files("service.sentiment") / MODEL_FILE).read_bytes()
    return HeadlineClassifier(msgspec.json.decode(content, type=HeadlineModel))


def features(text: str, names: Spans = ()) -> Mapping[str, float]:
    """Extract the features of a headline: stems and pairs of stems count 1, scores have their value.

    Args:
        text: The headline.
        names: As for `HeadlineClassifier.score`.
    """
    spans = list(names)
    masked = mask_names(text[:LONGEST], spans).lower().replace("\u2019", "'")
    tokens = _TOKEN.findall(_NUMBER.sub("#", _NAME.sub("coin", masked)))
    found = dict.fromkeys(_words(tokens), 1.0)
    lexicon, vader = lexicon_scorer().scores(text, spans)
    found["score:lexicon+"], found["score:lexicon-"] = max(0.0, lexicon), max(0.0, -lexicon)
    found["score:vader+"], found["score:vader-"] = max(0.0, vader), max(0.0, -vader)
    return found


def _words(tokens: Sequence[str]) -> Iterator[str]:
    negated = 0
    before = "^"
    for token in tokens:
        stemmed = stem(token)
        yield f"!{stemmed}" if negated else stemmed
        yield f"{before} {stemmed}"
        negated = _NEGATED_WORDS if _NEGATION.fullmatch(token) else max(0, negated - 1)
        before = stemmed
    yield f"{before} $"


def stem(word: str) -> str:
    """Cut common English endings, so that "surge", "surges" and "surging" are one feature."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            root = word.removesuffix(suffix)
            if root[-1] == root[-2:-1] and root[-1] not in "lsz":
                root = root[:-1]
            return root
    return word
