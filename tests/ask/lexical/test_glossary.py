"""The glossary: short sentences without figures, definitions that agree with the rules they describe."""

import re
import unicodedata
from itertools import chain

import pytest

from service.analytics import funding, rules
from service.ask.glossary import TERMS, define
from service.errors import ServiceError
from service.verdict.rules_v2 import TABLES_V2

SPELLED = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|twice|double|half|"
    r"quarter|third)\b"
)


@pytest.mark.parametrize("key", TERMS)
def test_the_short_sentence_is_one_sentence_without_any_numeral(key: str) -> None:
    short = TERMS[key].short
    assert short.endswith(".")
    assert short.count(". ") == 0
    assert not any(unicodedata.numeric(letter, None) is not None for letter in short)
    assert not SPELLED.search(short)


@pytest.mark.parametrize("key", TERMS)
def test_a_term_is_found_by_lower_case_words_and_leads_to_others(key: str) -> None:
    term = TERMS[key]
    assert key == key.lower()
    assert term.synonyms
    assert all(synonym == synonym.lower().strip() for synonym in term.synonyms)
    assert key not in term.see
    assert set(term.see) <= TERMS.keys()


def test_no_two_terms_share_a_synonym() -> None:
    synonyms = list(chain.from_iterable(term.synonyms for term in TERMS.values()))
    assert len(synonyms) == len(set(synonyms))


def test_a_definition_names_what_to_read_beside_it_by_title() -> None:
    told = define("hodl")
    assert (told.term, told.title, told.see) == ("hodl", "HODL", ["trend", "UP", "DOWN"])
    assert told.text == TERMS["hodl"].text


def test_another_word_is_not_found() -> None:
    with pytest.raises(ServiceError) as refused:
        define("moon")
    assert refused.value.code == "NOT_FOUND"


def test_zones_of_funding_are_those_of_the_alerts() -> None:
    told = TERMS["funding-alert"].text
    for rule in funding._RULES:
        assert f"{rule.enter_pct:g}" in told
        assert f"{rule.enter_apr:g} %" in told or f"{rule.enter_apr:g})" in told


def test_thresholds_of_the_regime_are_those_of_its_rules() -> None:
    told = TERMS["regime"].text
    assert f"net breadth of {rules.NET_ENTER_PCT:g} % or more" in told
    assert f"on {rules.CONFIRM_DAYS} closed days in a row" in told


def test_bounds_of_a_verdict_are_those_of_its_ruleset() -> None:
    told = TERMS["verdict"].text
    bounds = [
        f"{grade.at_least:g} or more" if grade.at_most is None else f"{grade.at_most:g} or less"
        for grade in TABLES_V2.grades
        if grade.verdict != "neutral"
    ]
    assert bounds == ["2.5 or more", "1 or more", "-2.5 or less", "-1 or less"]
    assert all(bound in told for bound in bounds)
    assert f"{TABLES_V2.trust.levels[0].agreement:g} or more is high" in TERMS["confidence"].text
