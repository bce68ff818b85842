"""That what is searched is there: heads are remembered, and one that is told another's answer is found."""

from unittest.mock import patch

import pytest

from service.http.heads import Heads
from tests.fuzz.targets import heads

pytestmark = pytest.mark.unmeasured


def test_heads_that_are_searched_are_remembered_three_at_the_most() -> None:
    heads.read_heads(next(iter(heads.TARGETS[0].seeds())))
    assert len(heads.whole().stage.app.heads._known) == 3


def test_a_head_that_is_taken_for_another_is_found() -> None:
    note = Heads.note

    def confuse(self: Heads, mark: bytes, *known: object) -> None:
        note(self, mark, *known)  # type: ignore[arg-type]
        self._known.update(dict.fromkeys(self._known, next(iter(self._known.values()))))

    with patch.object(Heads, "note", confuse), pytest.raises(AssertionError, match="as known"):
        heads.read_heads(next(iter(heads.TARGETS[0].seeds())))
