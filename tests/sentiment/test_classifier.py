"""The headline model: reproducible, bounded, and explained."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.sentiment.classifier import HeadlineClassifier, HeadlineModel, features, headline_classifier, stem
from service.sentiment.scoring import CLEAR
from tests.sentiment.train import DECIMALS, MODEL, main, train, training_data


def test_training_again_gives_the_shipped_weights() -> None:
    labelled, rows = training_data()
    again = train([headline.label for headline in labelled], rows)
    shipped = msgspec.json.decode(MODEL.read_bytes(), type=HeadlineModel)
    assert again.bias == pytest.approx(shipped.bias, abs=2 * 10**-DECIMALS)
    for feature in again.weights.keys() | shipped.weights.keys():
        expected = shipped.weights.get(feature, (0.0, 0.0))
        assert again.weights.get(feature, (0.0, 0.0)) == pytest.approx(expected, abs=2 * 10**-DECIMALS)


def test_the_training_script_writes_the_model_and_prints_its_size(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    written = MODEL.read_bytes()
    assert len(written) < 300_000
    monkeypatch.setattr("tests.sentiment.train.MODEL", type(MODEL)(str(tmp_path)) / MODEL.name)
    main([])
    assert "features" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Bitcoin surges past $120,000 on record inflows", 1),
        ("Hackers drain $40 million from lending protocol", -1),
        ("What is a perpetual future?", 0),
        ("Court dismisses lawsuit against exchange", 1),
        ("Token plunges 30% after insiders dump", -1),
        ("Foundation to host developer conference in Tokyo", 0),
    ],
)
def test_clear_headlines_are_clear(text: str, sign: int) -> None:
    score = headline_classifier().score(text)
    assert (score > CLEAR) - (score < -CLEAR) == sign


def test_the_likeliest_class_decides_which_side_of_clear_a_score_is_on() -> None:
    def score(negative: float, positive: float) -> float:
        return HeadlineClassifier(HeadlineModel((negative, positive), {})).score("")

    assert score(-0.1, -3.0) == -CLEAR
    assert score(0.1, 0.05) == -0.21
    assert score(0.05, 0.1) == 0.21
    assert score(-9.0, -9.0) == 0
    assert score(-5.0, 5.0) > 0.9


def test_an_explanation_names_the_features_that_decided_the_strongest_first() -> None:
    found = headline_classifier().explain("Token plunges after exploit")
    assert {"plung", "exploit", "score:lexicon-"} <= {each.feature for each in found}
    assert abs(found[0].weight) == max(abs(each.weight) for each in found)
    assert next(each.weight for each in found if each.feature == "plung") < 0


def test_names_and_numbers_are_not_read_as_words() -> None:
    assert "optim" not in features("Optimism rises 4%", [(0, 8)])
    assert features("Optimism rises 4%", [(0, 8)]).keys() >= {"coin", "ris", "#%"}


def test_words_after_a_negation_are_marked() -> None:
    assert features("not falling").keys() >= {"!fall", "not fall"}


@pytest.mark.parametrize(
    ("word", "root"), [("surges", "surg"), ("surging", "surg"), ("dropped", "drop"), ("falling", "fall"), ("up", "up")]
)
def test_forms_of_a_word_share_a_stem(word: str, root: str) -> None:
    assert stem(word) == root


@given(st.text(max_size=200))
def test_any_text_has_a_score_within_bounds_and_always_the_same(text: str) -> None:
    score = headline_classifier().score(text)
    assert -1 <= score <= 1
    assert score == headline_classifier().score(text) == round(score, 4)
