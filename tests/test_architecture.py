"""ARCHITECTURE.md agrees with the code."""

import re

from service.wire.offers import OFFERS
from tests.architecture import GENERATED, PAGE, renewed
from tests.measures import SERVICE
from tests.test_layers import RANKS


def test_generated_tables_are_current() -> None:
    assert PAGE.read_text() == renewed(PAGE.read_text()), "run `make commands`"


def test_generated_tables_name_every_package_and_operation() -> None:
    listed = re.findall(r"^\| \d+ \| `(\w+)` \| \S", GENERATED["packages"](), re.MULTILINE)
    assert sorted(listed) == sorted(package for packages in RANKS for package in packages)
    assert f"| {len(OFFERS)} |" in GENERATED["figures"]()


def test_every_named_file_exists() -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py|/)?)`", PAGE.read_text())
    assert len(named) > 10
    for name in named:
        places = [root / f"{name}{end}" for root in (SERVICE, SERVICE.parent) for end in ("", ".py")]
        assert any(place.exists() for place in places), name


def test_it_is_one_page() -> None:
    assert len(PAGE.read_text().splitlines()) < 120
