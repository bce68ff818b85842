"""A number reads the same on a page and on the command line, but for the glyphs of HTML."""

import pytest

from service.cli import formatting
from service.pages.wording import FILTERS

VALUES = (117_700.0, 187.27, 3_895.3, 0.002197, 2 / 3, 812_400.0, 2.341175e12, 999_996.0, 0.0, -0.5, -101.0685)


def plain(text: str) -> str:
    """Text of a page without HTML typography."""
    return text.replace("\u2212", "-").replace("\u202f", " ")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    ("page", "line"), [("price", "price"), ("money", "money"), ("change", "signed"), ("share", "share")]
)
def test_a_number_reads_the_same_on_a_page_and_on_a_terminal(page: str, line: str, value: float) -> None:
    assert plain(FILTERS[page](value)) == getattr(formatting, line)(value)


@pytest.mark.parametrize("seconds", [0, 59, 3_600, 172_799, 345_600])
def test_a_duration_reads_the_same_on_a_page_and_on_a_terminal(seconds: int) -> None:
    assert plain(FILTERS["age"](seconds * 1_000)) == formatting.span(seconds)
