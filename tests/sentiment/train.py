"""Train the headline model: `python -m tests.sentiment.train` writes `service/sentiment/headline_model.json`.

Softmax regression with an L2 penalty, fitted from zero in a fixed number of steps: the same headlines give the same
weights. `--folds` prints the cross-validated accuracy instead, the only figure that settings are chosen by.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.sentiment import classifier
from service.sentiment.classifier import MODEL_FILE, HeadlineClassifier, HeadlineModel, features
from service.sentiment.scoring import CLEAR
from tests.sentiment.evaluate import spans
from tests.sentiment.labelled import Headline, Result, headlines, judge, read_bank

MODEL = Path(classifier.__file__).with_name(MODEL_FILE)
FOLDS = 10
PENALTY = 0.004
SCORE_SCALE = 3.0
"""Scores are multiplied by this while fitting, so that the penalty touches them less than single words."""

LEAST = 2
"""Headlines that a feature must occur in."""

STEPS = 250
DECIMALS = 3
CLASSES = ("negative", "positive", "neutral")
TUNED_ON = ("dev", "practice")
"""Banks that the lexicon was tuned on. Their words are training data, their lexicon scores are not."""

Matrix = NDArray[np.float64]


def training_data() -> tuple[list[Headline], list[Mapping[str, float]]]:
    bank, tuned = read_bank("train"), [headline for name in TUNED_ON for headline in headlines(name)]
    rows = [features(headline.text, spans(headline.text)) for headline in bank]
    for headline in tuned:
        found = features(headline.text, spans(headline.text))
        rows.append({feature: value for feature, value in found.items() if not feature.startswith("score:")})
    return [*bank, *tuned], rows


def scale_of(feature: str) -> float:
    return SCORE_SCALE if feature.startswith("score:") else 1.0


def train(labels: Sequence[str], rows: Sequence[Mapping[str, float]]) -> HeadlineModel:
    counts = Counter(feature for row in rows for feature in row)
    vocabulary = sorted(feature for feature, count in counts.items() if count >= LEAST)
    columns = {feature: at for at, feature in enumerate(vocabulary)}
    scale = np.array([scale_of(feature) for feature in vocabulary])
    matrix = np.zeros((len(rows), len(vocabulary)))
    for at, row in enumerate(rows):
        for feature, value in row.items():
            if feature in columns:
                matrix[at, columns[feature]] = value
    matrix *= scale
    truth = np.array([[float(label == each) for each in CLASSES] for label in labels])
    dual, bias = fit(matrix @ matrix.T, truth)
    weights = (matrix.T @ dual) * scale[:, None]
    relative = np.round(weights[:, :2] - weights[:, 2:], DECIMALS) + 0.0
    return HeadlineModel(
        bias=(round(float(bias[0] - bias[2]), DECIMALS), round(float(bias[1] - bias[2]), DECIMALS)),
        weights={
            name: (float(row[0]), float(row[1])) for name, row in zip(vocabulary, relative, strict=True) if row.any()
        },
    )


def fit(kernel: Matrix, truth: Matrix) -> tuple[Matrix, Matrix]:
    """Minimise cross-entropy plus the penalty by accelerated gradient descent on the dual weights of the headlines."""
    count = len(kernel)
    dual, bias = np.zeros((count, 3)), np.zeros(3)
    before, bias_before = dual, bias
    rate = 2.0 / (largest_eigenvalue(kernel) / count + PENALTY + 1)
    for step in range(STEPS):
        momentum = step / (step + 3)
        ahead, bias_ahead = dual + momentum * (dual - before), bias + momentum * (bias - bias_before)
        logits = kernel @ ahead + bias_ahead
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = odds / odds.sum(axis=1, keepdims=True) - truth
        before, bias_before = dual, bias
        dual = ahead - rate * (error / count + PENALTY * ahead)
        bias = bias_ahead - rate * error.mean(axis=0)
    return dual, bias


def largest_eigenvalue(kernel: Matrix) -> float:
    vector = np.ones(len(kernel))
    for _ in range(20):
        vector = kernel @ (vector / np.linalg.norm(vector))
    return float(np.linalg.norm(vector))


def fold_of(text: str) -> int:
    return int(sha256(text.encode()).hexdigest(), 16) % FOLDS


def cross_validate() -> Result:
    labelled, rows = training_data()
    scores: dict[str, float] = {}
    for fold in range(FOLDS):
        inside = [at for at, each in enumerate(labelled) if fold_of(each.text) != fold]
        model = HeadlineClassifier(train([labelled[at].label for at in inside], [rows[at] for at in inside]))
        for each in read_bank("train"):
            if fold_of(each.text) == fold:
                scores[each.text] = model.score(each.text, spans(each.text))
    return judge(read_bank("train"), scores.__getitem__, CLEAR, lambda _: ())


def main(arguments: Sequence[str]) -> None:
    if "--folds" in arguments:
        result = cross_validate()
        sys.stdout.write(f"{FOLDS} folds: accuracy {result.accuracy:.1%}, macro F1 {result.macro_f1:.3f}\n")
        return
    labelled, rows = training_data()
    model = train([headline.label for headline in labelled], rows)
    MODEL.write_bytes(msgspec.json.encode(model, order="sorted") + b"\n")
    sys.stdout.write(f"{MODEL.name}: {len(model.weights)} features, {MODEL.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
