"""How well headlines are read, against labels, the lexicon alone, and VADER alone."""

import pytest

from tests.sentiment.evaluate import TUNED, UNTOUCHED, bank, main, model, results
from tests.sentiment.labelled import HALVES, LABELS, Result, headlines, read_bank

BANKS = (*UNTOUCHED, *TUNED)


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Result]]:
    return {name: dict(results(name)) for name in UNTOUCHED}


def test_there_are_three_hundred_labelled_headlines_and_half_was_never_tuned_on() -> None:
    dev, held_out = (len(headlines(half)) for half in HALVES)
    assert dev + held_out >= 300
    assert abs(dev - held_out) <= 2


def test_the_training_bank_and_the_test_bank_are_large_enough_and_cover_every_label() -> None:
    for name, least in (("train", 700), ("test", 300)):
        labels = [headline.label for headline in read_bank(name)]
        assert len(labels) >= least
        assert all(labels.count(label) > least / 5 for label in LABELS)


def test_no_headline_stands_twice() -> None:
    texts = [headline.text.casefold() for name in BANKS for headline in bank(name)]
    texts += [headline.text.casefold() for headline in read_bank("train")]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("half", HALVES)
def test_labels_are_balanced_in_both_halves(half: str) -> None:
    labels = [headline.label for headline in headlines(half)]
    assert set(labels) == set(LABELS)
    assert max(map(labels.count, LABELS)) - min(map(labels.count, LABELS)) <= 2


@pytest.mark.parametrize("name", UNTOUCHED)
def test_the_model_reads_untouched_headlines_far_better_than_vader_alone(
    name: str, found: dict[str, dict[str, Result]]
) -> None:
    ours, vader = found[name]["model"], found[name]["VADER"]
    assert ours.accuracy > vader.accuracy + 0.2
    for label in ("positive", "negative"):
        assert ours.recall(label) > vader.recall(label)
        assert ours.precision(label) > vader.precision(label)


@pytest.mark.parametrize("name", ["test", "stranger"])
def test_the_model_reads_headlines_in_new_words_better_than_the_lexicon(
    name: str, found: dict[str, dict[str, Result]]
) -> None:
    ours, lexicon = found[name]["model"], found[name]["lexicon"]
    assert ours.accuracy > lexicon.accuracy + 0.1
    assert ours.macro_f1 > lexicon.macro_f1 + 0.1


@pytest.mark.parametrize(
    ("name", "floor"),
    [("test", 0.7), ("held-out", 0.88), ("late", 0.9), ("stranger", 0.74), ("dev", 0.95), ("practice", 0.93)],
)
def test_accuracy_does_not_fall(name: str, floor: float) -> None:
    assert model(bank(name)).accuracy >= floor


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("held-out", 0.93, 0.93), ("late", 0.95, 0.93), ("stranger", 0.95, 0.85)]
)
def test_coins_are_found_and_words_are_not_taken_for_them(
    name: str, precision: float, recall: float, found: dict[str, dict[str, Result]]
) -> None:
    result = found[name]["model"]
    assert result.coin_precision >= precision
    assert result.coin_recall >= recall


def test_the_report_lists_errors_only_of_banks_that_were_tuned_on(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    printed = capsys.readouterr().out
    for name in UNTOUCHED:
        assert not [headline.text for headline in bank(name) if headline.text in printed]
    assert printed.count("accuracy") == 3 * len(BANKS)
