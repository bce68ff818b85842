"""How well sentiment is read: `python -m tests.sentiment.evaluate` (`make eval`)."""

import sys
from collections.abc import Iterator

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from service.sentiment.scoring import CLEAR, scorer
from tests.sentiment.labelled import ANSWERS, LABELS, Headline, Result, headlines, judge, matcher

TUNED = ("dev", "practice")
"""What the lexicon was tuned on."""

VADER_CLEAR = 0.05
"""Where VADER's authors draw the line."""


def ours(labelled: list[Headline]) -> Result:
    def score(text: str) -> float:
        return scorer().score(text, [(name.start, name.end) for name in matcher().read(text).mentions])

    return judge(labelled, score, CLEAR, lambda text: matcher().read(text).coins)


def vader_alone(labelled: list[Headline]) -> Result:
    analyzer = SentimentIntensityAnalyzer()
    return judge(labelled, lambda text: float(analyzer.polarity_scores(text)["compound"]), VADER_CLEAR, lambda _: ())


def report(half: str) -> Iterator[str]:
    labelled = headlines(half)
    result, baseline = ours(labelled), vader_alone(labelled)
    yield f"{half}: {len(labelled)} headlines"
    yield f"  accuracy        {result.accuracy:6.1%}   VADER alone {baseline.accuracy:6.1%}"
    for label in LABELS:
        yield (
            f"  {label:<9} precision {result.precision(label):6.1%}   recall {result.recall(label):6.1%}"
            f"   VADER alone {baseline.precision(label):6.1%} {baseline.recall(label):6.1%}"
        )
    yield f"  coins     precision {result.coin_precision:6.1%}   recall {result.coin_recall:6.1%}"
    yield f"  {'label / said':<14}" + "".join(f"{said:>10}" for said in LABELS) + "     VADER alone"
    for label in LABELS:
        counts = (f"{each.confusion[label, said]:>10}" for each in (result, baseline) for said in LABELS)
        yield f"  {label:<14}" + "".join(counts)
    if half in TUNED:
        yield "  errors (listed of what was tuned on only; the others are never looked at):"
        yield from (f"    {label} read as {said} ({value:+.2f}): {text}" for label, said, value, text in result.errors)


def main() -> None:
    for path in sorted(ANSWERS.glob("headlines-*.tsv")):
        half = path.stem.removeprefix("headlines-")
        sys.stdout.write("\n".join(report(half)) + "\n\n")


if __name__ == "__main__":
    main()
