"""A name that no test has is refused: whoever renames one would else have it run on one store alone."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fakes.stores import on_both


def test_a_name_that_no_test_of_the_room_has_is_refused() -> None:
    metafunc: Any = SimpleNamespace(module=sys.modules[__name__], fixturenames=[])
    own = "test_a_name_that_no_test_of_the_room_has_is_refused"
    on_both(often={own}, but={"test_stores"})(metafunc)
    for chosen in ({"often": {own, "test_misspelt"}}, {"often": (), "but": {"test_misspelt"}}):
        with pytest.raises(AssertionError, match="fakes is called test_misspelt"):
            on_both(**chosen)(metafunc)
