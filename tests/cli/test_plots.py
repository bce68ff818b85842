"""Pictures made of letters, held to dots that were counted by hand."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.cli import plots
from service.cli.terminal import Display, cells

PLAIN = Display(80, colour=False)
SMALL = Display(10, colour=False)


def whole(value: float) -> str:
    return f"{value:.0f}"


def test_a_curve_is_drawn_in_dots_between_its_rulers() -> None:
    # Three cells are six dots wide, two rows eight dots high; a step a row of dots, five columns on the way.
    screen = Display(3 + len("0 ┤") + len(" 7"), colour=False)
    assert list(plots.line(screen, [0, 5], [0, 7], rows=2, tick=whole)) == ["  │ ⢀⠎ 7", "0 ┤⡰⠁", "  └───"]


def test_values_that_are_alike_run_in_the_middle_and_none_are_not_drawn() -> None:
    assert list(plots.line(SMALL, [0, 1], [5, 5], rows=1, tick=whole)) == ["5 ┤⠒⠒⠒⠒⠒ 5", "  └─────"]
    assert next(plots.line(SMALL, [0, 1], [0, 0], rows=1, tick=whole)) == "0 ┤⠒⠒⠒⠒⠒ 0"
    assert next(plots.line(SMALL, [3], [5], rows=1, tick=whole)) == "5 ┤  ⠂   5"
    assert list(plots.line(PLAIN, [], [])) == []


@pytest.mark.parametrize(("name", "is_shown"), [("x" * 7, False), ("x" * 4, True)])
def test_what_would_run_into_another_mark_is_left_out(name: str, is_shown: bool) -> None:
    # Two blanks are enough to be told apart, one is not.
    marks = [(0, "first"), (5, name), (10, "last")]
    *_, below = plots.line(Display(24, colour=False), range(11), [5] * 11, rows=1, tick=whole, marks=marks)
    assert (name in below, below[:8], below[-4:]) == (is_shown, "   first", "last")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (75_470, 123_264, [80_000.0, 90_000.0, 100_000.0, 110_000.0, 120_000.0]),
        (-0.3, 0.3, [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]),
        (0.00021, 0.00024, [0.00021, 0.000215, 0.00022, 0.000225, 0.00023, 0.000235, 0.00024]),
    ],
)
def test_a_ruler_has_round_values(low: float, high: float, expected: list[float]) -> None:
    drawn = plots.line(PLAIN, [0, 1], [low, high], rows=14, tick=repr)
    assert [float(line.partition("┤")[0]) for line in drawn if "┤" in line] == expected[::-1]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50), st.integers(20, 400), st.integers(1, 20))
@example([0.0, 5e-324], 20, 1)
@example([1e-305, 2e-305], 20, 20)
def test_any_curve_fits_on_the_screen(values: list[float], width: int, rows: int) -> None:
    drawn = list(plots.line(Display(width, colour=False), range(len(values)), values, rows=rows, tick=lambda _: "1.0"))
    assert all(cells(line) <= min(width, 160) for line in drawn)
    assert len(drawn) == rows + 1


@pytest.mark.parametrize(
    ("values", "width", "drawn"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7], 20, "▁▂▃▄▅▆▇█"),
        ([5, 5], 20, "▄▄"),
        ([None], 20, ""),
        # More values than cells: peaks stay.
        ([0, 9, 0, 0, 7, 0], 3, "█▁▆"),
        ([5, 5, -9, 5, 5, 5], 3, "█▁█"),
        ([1, 1, None, None, 3, 1], 3, "▁ █"),
    ],
)
def test_a_sparkline_stands_as_high_as_its_values(values: list[float | None], width: int, drawn: str) -> None:
    assert plots.sparkline(values, width) == drawn


@pytest.mark.parametrize(
    ("value", "low", "high", "drawn"),
    [
        (0, 0, 8, "        "),
        (2.5, 0, 8, "██▌     "),
        (9, 0, 8, "████████"),
        (-1.5, -4, 4, "  ▐█    "),
        (-9, -4, 4, "████    "),
        (1, -4, 4, "    █   "),
        (-2, -4, 0, "    ████"),
        (1, -4, 0, "        "),
        (None, -1, 1, "        "),
        (0.0, 0, 0, "        "),
    ],
)
def test_a_bar_begins_at_zero_and_stays_on_its_scale(value: float | None, low: float, high: float, drawn: str) -> None:
    assert plots.bar(value, low, high, 8) == drawn


def test_a_gauge_shows_where_a_value_stands() -> None:
    assert [plots.gauge(value, -4, 4, 9) for value in (3, 0, -9)] == ["├───┼──●┤", "├───●───┤", "●───┼───┤"]
