"""How well headlines are read: `python -m tests.sentiment.evaluate` (`make eval`)."""

import sys
from collections.abc import Iterator, Mapping
from functools import cache

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from service.sentiment.classifier import headline_classifier
from service.sentiment.scoring import CLEAR, lexicon_scorer
from tests.sentiment.labelled import LABELS, Headline, Result, headlines, judge, matcher, read_bank

TUNED = ("dev", "practice")
"""Banks that the lexicon was tuned on."""

UNTOUCHED = ("test", "held-out", "late", "stranger")
"""Banks that nothing was tuned on; their errors are never listed."""

VADER_CLEAR = 0.05
"""Where VADER's authors draw the line."""


def spans(text: str) -> list[tuple[int, int]]:
    return [(name.start, name.end) for name in matcher().read(text).mentions]


@cache
def bank(name: str) -> list[Headline]:
    return read_bank(name) if name == "test" else headlines(name)


def model(labelled: list[Headline]) -> Result:
    return judge(
        labelled,
        lambda text: headline_classifier().score(text, spans(text)),
        CLEAR,
        lambda text: matcher().read(text).coins,
    )


def lexicon_alone(labelled: list[Headline]) -> Result:
    return judge(labelled, lambda text: lexicon_scorer().score(text, spans(text)), CLEAR, lambda _: ())


def vader_alone(labelled: list[Headline]) -> Result:
    analyzer = SentimentIntensityAnalyzer()
    return judge(labelled, lambda text: float(analyzer.polarity_scores(text)["compound"]), VADER_CLEAR, lambda _: ())


def results(name: str) -> Mapping[str, Result]:
    labelled = bank(name)
    return {"model": model(labelled), "lexicon": lexicon_alone(labelled), "VADER": vader_alone(labelled)}


def report(name: str) -> Iterator[str]:
    found = results(name)
    ours = found["model"]
    tuned = " (lexicon and model were tuned on them)" if name in TUNED else ""
    yield f"{name}: {ours.total} headlines{tuned}"
    for title, result in found.items():
        classes = "   ".join(
            f"{label} {result.precision(label):4.0%} / {result.recall(label):4.0%}" for label in LABELS
        )
        yield f"  {title:<8} accuracy {result.accuracy:6.1%}   macro F1 {result.macro_f1:.3f}"
        yield f"           precision / recall: {classes}"
    if ours.found + ours.missed:
        yield f"  coins    precision {ours.coin_precision:6.1%}   recall {ours.coin_recall:6.1%}"
    yield f"  {'label / read as':<16}" + "".join(f"{label:>10}" for label in LABELS)
    for label in LABELS:
        yield f"  {label:<16}" + "".join(f"{ours.confusion[label, other]:>10}" for other in LABELS)
    if name in TUNED:
        yield from (f"    {label} read as {other} ({value:+.2f}): {text}" for label, other, value, text in ours.errors)


def main() -> None:
    for name in (*UNTOUCHED, *TUNED):
        sys.stdout.write("\n".join(report(name)) + "\n\n")


if __name__ == "__main__":
    main()
