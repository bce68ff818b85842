"""The labelled questions are many, are split by their rule, and speak only of what there is."""

from collections import Counter
from typing import get_args

import msgspec

from fixtures.assets import ASSETS
from fixtures.coins import CATEGORIES, COINS, DELISTED
from service.ask.glossary import TERMS
from service.wire.ask import Intent, Question, Refusal
from tests.ask.evaluation.labelled import DEV, HELD_OUT, PRACTICE, Labelled, is_held_out, labelled
from tests.ask.evaluation.payloads import TOOLS

LABELLED = [*labelled(DEV), *labelled(HELD_OUT)]
ALL = [*LABELLED, *labelled(PRACTICE)]
TICKERS = {coin.name.upper() for coin in COINS}


def test_a_question_is_held_out_by_the_hash_of_its_id_alone() -> None:
    assert not any(is_held_out(each.id) for each in labelled(DEV))
    assert all(is_held_out(each.id) for each in labelled(HELD_OUT))


def test_there_are_enough_of_every_kind() -> None:
    intents = Counter(each.intent for each in LABELLED)
    assert len(LABELLED) >= 450
    assert {intent: intents[intent] for intent in get_args(Intent) if intents[intent] < 12} == {}
    refusals = Counter(each.refusal for each in LABELLED if each.refusal is not None)
    assert set(refusals) == set(get_args(Refusal))
    assert refusals.total() >= 60


def test_no_id_and_no_conversation_stands_there_twice() -> None:
    assert len({each.id for each in ALL}) == len(ALL)
    assert [key for key, count in Counter(map(_said, ALL)).items() if count > 1] == []


def test_labels_speak_only_of_what_there_is() -> None:
    for each in ALL:
        assert {*each.coins, *each.may} <= TICKERS, each.id
        assert set(each.assets) <= {asset.name for asset in ASSETS}, each.id
        assert set(each.categories) <= set(CATEGORIES.values()), each.id
        assert not {name.removeprefix("$").upper() for name in each.unknown} & TICKERS, each.id
        assert {call.tool for call in each.tools} | {fact.tool for fact in each.facts} <= set(TOOLS), each.id
        assert {call.args["term"] for call in each.tools if call.tool == "glossary"} <= set(TERMS), each.id
        assert not (each.refusal and (each.tools or each.facts)), each.id


def test_every_question_may_be_sent() -> None:
    for each in ALL:
        assert len(msgspec.convert(each.body, Question).messages) == len(each.turns)


def test_what_is_unknown_is_named_in_the_question() -> None:
    for each in ALL:
        assert all(name.casefold() in _said(each).casefold() for name in each.unknown), each.id


def test_what_has_been_delisted_is_labelled_as_unknown() -> None:
    for each in ALL:
        assert not {coin.name.upper() for coin in DELISTED} & set(each.coins), each.id


def _said(each: Labelled) -> str:
    return repr((each.turns, each.context))
