"""Template filters: the shared text of numbers with HTML typography."""

import pytest

from service.clock import DAY_MS, MINUTE_MS
from service.pages.wording import FILTERS, UNKNOWN

N = "\u202f"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("price", 187.27, "187.27"),
        ("price", -0.5, "\u22120.5"),
        ("money", 812_400.0, f"$812.4{N}K"),
        ("money", -4.5e9, f"\u2212$4.50{N}B"),
        ("change", 1.24, f"+1.24{N}%"),
        ("change", -0.06, f"\u22120.06{N}%"),
        ("points", 0.5, "+0.50"),
        ("points", -0.25, "\u22120.25"),
        ("share", 0.4125, f"41.2{N}%"),
        ("number", -0.605, "\u22120.60"),
        ("age", 12_999, f"12{N}s"),
        ("age", MINUTE_MS, f"1{N}min"),
        ("age", 9 * DAY_MS, f"9{N}days"),
        ("day", "2025-07-04T23:00:00.000Z", "2025-07-04"),
        ("moment", "2025-12-24T09:05:00.000Z", "12-24 09:05"),
        ("label", "strong-bear", "strong bear"),
        ("in_path", "a/b", "a%2Fb"),
        ("seconds", "1970-01-02T00:00:01.000Z", 86_401),
    ],
)
def test_a_filter_writes_a_value_for_html(name: str, value: object, text: object) -> None:
    assert FILTERS[name](value) == text


@pytest.mark.parametrize("name", ["price", "money", "change", "points", "percent", "share", "number", "age"])
def test_an_unknown_value_is_a_dash(name: str) -> None:
    assert FILTERS[name](None) == UNKNOWN


def test_decimals_can_be_chosen() -> None:
    assert [FILTERS["points"](1.26, 1), FILTERS["share"](0.65, 0)] == ["+1.3", f"65{N}%"]


@pytest.mark.parametrize(
    ("value", "rule", "text"),
    [
        ("HODL", "trend-daily", "HODL"),
        (-61.9349, "funding-level", f"\u221261.93{N}%"),
        (0.5, "regime-market", "0.5"),
        (None, "funding-level", UNKNOWN),
    ],
)
def test_the_input_of_a_rule_has_the_unit_that_the_command_line_gives_it(value: object, rule: str, text: str) -> None:
    assert FILTERS["rule_value"](value, rule) == text
