"""No constraint of a question is dropped: changed, it changes what is understood."""

import pytest

from tests.ask.banks.case import BANKS
from tests.ask.mutations import KNOWN, mutations, unseen

STEP = 2
"""Which questions are changed here; `make eval` changes all of them, which takes twice as long."""


@pytest.mark.slow
@pytest.mark.promise("question.words-accounted", "question.honest")
@pytest.mark.parametrize("bank", BANKS)
def test_a_constraint_that_is_inserted_removed_or_replaced_changes_what_is_understood(bank: str) -> None:
    known = set(KNOWN.read_text("utf-8").splitlines())
    assert [change for change in unseen(bank, STEP) if change not in known] == []


def test_a_question_is_changed_in_every_constraint_that_it_has() -> None:
    changed = {one.what for one in mutations("top 3 L1s not in a downtrend over the last 11 days", over_sets=True)}
    assert {
        "insert on 2026-09-14",
        "insert excluding dogecoin",
        "remove window over the last 11 days",
        "remove negation not",
        "remove condition in a downtrend",
        "replace 3 by 11",
        "replace 11 by 35",
        "replace top by bottom",
        "replace l1s by memes",
        "replace downtrend by uptrend",
    } <= changed
