"""How well headlines are read, against labels that people gave and against VADER alone."""

import pytest

from tests.sentiment.evaluate import TUNED, main, ours, vader_alone
from tests.sentiment.labelled import HALVES, LABELS, Result, headlines

UNTOUCHED = ("held-out", "late", "stranger")
ALL = (*TUNED, *UNTOUCHED)


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[Result, Result]]:
    return {name: (ours(headlines(name)), vader_alone(headlines(name))) for name in ALL}


def test_there_are_three_hundred_labelled_headlines_and_half_was_never_tuned_on() -> None:
    dev, held_out = (len(headlines(half)) for half in HALVES)
    assert dev + held_out >= 300
    assert abs(dev - held_out) <= 2


def test_no_headline_stands_twice() -> None:
    texts = [headline.text.casefold() for name in ALL for headline in headlines(name)]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("half", HALVES)
def test_labels_are_balanced_in_both_halves(half: str) -> None:
    labels = [headline.label for headline in headlines(half)]
    assert set(labels) == set(LABELS)
    assert max(map(labels.count, LABELS)) - min(map(labels.count, LABELS)) <= 2


@pytest.mark.parametrize("name", UNTOUCHED)
def test_headlines_that_were_never_tuned_on_are_read_far_better_than_by_vader_alone(
    name: str, results: dict[str, tuple[Result, Result]]
) -> None:
    result, baseline = results[name]
    assert result.accuracy > baseline.accuracy + 0.2
    for label in ("positive", "negative"):
        assert result.recall(label) > baseline.recall(label)
        assert result.precision(label) > baseline.precision(label)


@pytest.mark.parametrize(
    ("name", "floor"), [("dev", 0.95), ("held-out", 0.88), ("late", 0.83), ("practice", 0.9), ("stranger", 0.6)]
)
def test_accuracy_does_not_sink(name: str, floor: float, results: dict[str, tuple[Result, Result]]) -> None:
    assert results[name][0].accuracy >= floor


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("held-out", 0.93, 0.93), ("late", 0.95, 0.93), ("stranger", 0.95, 0.85)]
)
def test_coins_are_found_and_words_are_not_taken_for_them(
    name: str, precision: float, recall: float, results: dict[str, tuple[Result, Result]]
) -> None:
    result, _ = results[name]
    assert result.coin_precision >= precision
    assert result.coin_recall >= recall


def test_the_report_names_errors_of_what_was_tuned_on_only(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    said = capsys.readouterr().out
    for name in UNTOUCHED:
        assert not [headline.text for headline in headlines(name) if headline.text in said]
    assert said.count("accuracy") == len(ALL)
