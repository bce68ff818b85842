"""The page for newcomers says what the code is."""

import re

import pytest

from service.wire.offers import OFFERS
from tests.architecture import GENERATED, PAGE, renewed
from tests.test_layers import RANKS, SERVICE

pytestmark = pytest.mark.unmeasured


def test_what_is_generated_is_as_the_code_has_it() -> None:
    assert PAGE.read_text() == renewed(PAGE.read_text()), "run `make commands`"


def test_what_is_generated_names_every_room_and_every_operation() -> None:
    listed = re.findall(r"^\| \d+ \| `(\w+)` \| \S", GENERATED["rooms"](), re.MULTILINE)
    assert sorted(listed) == sorted(room for rooms in RANKS for room in rooms)
    assert f"| {len(OFFERS)} |" in GENERATED["figures"]()


def test_every_file_that_it_names_is_there() -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py|/)?)`", PAGE.read_text())
    assert len(named) > 10
    for name in named:
        places = [root / f"{name}{end}" for root in (SERVICE, SERVICE.parent) for end in ("", ".py")]
        assert any(place.exists() for place in places), name


def test_it_is_one_page() -> None:
    assert len(PAGE.read_text().splitlines()) < 120
