"""Pictures made of letters, held to dots that were counted by hand."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.cli import plots
from service.cli.plots import Series
from service.cli.terminal import Display, cells
from tests.cli.snapshots import check, uncoloured

PLAIN = Display(80, colour=False)


def whole(value: float) -> str:
    return f"{value:.0f}"


def test_a_curve_is_drawn_in_dots_between_its_rulers() -> None:
    # Three cells are six dots wide, two rows eight dots high; a step a row of dots, five columns on the way.
    screen = Display(3 + len("0 ┤") + len(" 7"), colour=False)
    assert list(plots.line(screen, [0, 5], [0, 7], rows=2, tick=whole)) == [
        "  │ ⢀⠎ 7",
        "0 ┤⡰⠁",
        "  └───",
    ]


def test_a_curve_that_never_moves_runs_in_the_middle() -> None:
    assert list(plots.line(Display(10, colour=False), [0, 1], [5, 5], rows=1, tick=whole)) == [
        "5 ┤⠒⠒⠒⠒⠒ 5",
        "  └─────",
    ]
    assert next(plots.line(Display(10, colour=False), [0, 1], [0, 0], rows=1, tick=whole)) == "0 ┤⠒⠒⠒⠒⠒ 0"


def test_one_value_is_a_point() -> None:
    assert next(plots.line(Display(10, colour=False), [3], [5], rows=1, tick=whole)) == "5 ┤  ⠂   5"


def test_a_gap_in_what_is_known_is_a_gap_in_the_curve() -> None:
    drawn = next(plots.line(Display(13, colour=False), range(5), [5, 5, None, 5, 5], rows=1, tick=whole))
    assert drawn == "5 ┤⠒⠒⠂  ⠐⠒⠒ 5"


def test_nothing_is_drawn_where_nothing_is_known() -> None:
    assert list(plots.line(PLAIN, [], [])) == []
    assert list(plots.line(PLAIN, [1, 2], [None, None])) == []


def test_every_curve_has_its_own_look_without_colour() -> None:
    series = [
        Series([0, 10], [5, 5], "accent", "observed"),
        Series([0, 10], [5, 5], "dim", "claimed", dotted=True),
        Series([0, 10], [5, 5], "good", "bought", mark="▲"),
        Series([0, 10], [5, 5], "bad"),
    ]
    assert next(plots.lines(PLAIN, series)) == "⠒⠒ observed   ⠂⠐ claimed   ▲ bought"
    dotted = list(plots.lines(Display(12, colour=False), [series[1]], rows=1, tick=whole))
    assert dotted == ["⠂⠐ claimed", "5 ┤⠂⠐ ⠂⠐ ⠂ 5", "  └───────"]
    marked = list(plots.lines(Display(12, colour=False), [series[2]], rows=1, tick=whole))
    assert marked == ["▲ bought", "5 ┤▲     ▲ 5", "  └───────"]


def test_a_curve_is_painted_in_one_piece() -> None:
    drawn = next(plots.line(Display(10, colour=True), [0, 1], [5, 5], "good", rows=1, tick=whole))
    assert drawn == "\x1b[2m5 ┤\x1b[0m\x1b[32m⠒⠒⠒⠒⠒\x1b[0m \x1b[1m5\x1b[0m"


def test_what_would_run_into_another_mark_is_left_out() -> None:
    marks = [(0, "first"), (1, "second"), (10, "last")]
    *_, ruler, below = plots.line(Display(24, colour=False), range(11), [5] * 11, rows=1, tick=whole, marks=marks)
    assert ruler == "  └┬" + 17 * "─" + "┬"
    assert below == "   first" + 10 * " " + "last"
    # Two blanks are enough to be told apart, one is not.
    for name, shown in (("x" * 7, False), ("x" * 4, True)):
        *_, below = plots.line(
            Display(24, colour=False), range(11), [5] * 11, rows=1, tick=whole, marks=[(0, "first"), (5, name)]
        )
        assert (name in below) == shown


def test_a_curve_is_no_wider_than_an_eye_can_follow() -> None:
    assert max(map(len, plots.line(Display(400, colour=False), [0, 1], [0, 1]))) == 160


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
    said = [float(line.partition("┤")[0]) for line in drawn if "┤" in line]
    assert said == expected[::-1]


@given(
    st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), min_size=1, max_size=50),
    st.integers(20, 200),
    st.integers(1, 20),
)
@example([0.0, 5e-324], 20, 1)
@example([1e-305, 2e-305], 20, 20)
def test_any_curve_fits_on_the_screen(values: list[float | None], width: int, rows: int) -> None:
    drawn = list(plots.line(Display(width, colour=False), range(len(values)), values, rows=rows, tick=lambda _: "1.0"))
    assert all(cells(line) <= width for line in drawn)
    assert len(drawn) == (rows + 1 if any(value is not None for value in values) else 0)


def test_a_bar_ends_at_an_eighth_of_a_cell() -> None:
    assert [plots.bar(value, 0, 8, 8) for value in (0, 1, 2.5, 8, 9)] == [
        "        ", "█       ", "██▌     ", "████████", "████████",
    ]  # fmt: skip


def test_a_bar_of_less_than_nothing_goes_to_the_left() -> None:
    assert [plots.bar(value, -4, 4, 8) for value in (-4, -1.5, -9, 1)] == [
        "████    ",
        "  ▐█    ",
        "████    ",
        "    █   ",
    ]
    assert [plots.bar(value, -4, 0, 4) for value in (-2, 1)] == ["  ██", "    "]
    assert plots.bar(-1, 0, 4, 4) == "    "


def test_a_bar_without_a_value_or_a_scale_is_empty() -> None:
    assert (plots.bar(None, -1, 1, 4), plots.bar(0.0, 0, 0, 4)) == ("    ", "    ")


def test_bars_stand_on_one_scale() -> None:
    rows = [("ACE", 40.0, "good"), ("ENA", -20.0, None), ("?\x07", None, None)]
    drawn = list(plots.bars(Display(30, colour=False), rows, text=lambda v: "-" if v is None else f"{v:+.0f}", width=6))  # type: ignore[arg-type]
    assert drawn == ["ACE  +40    ████", "ENA  -20  ██", "?�     -"]
    assert list(plots.bars(PLAIN, [], text=str)) == []
    (widest,) = plots.bars(Display(20, colour=False), [("A", 1.0, None)], text=str)
    assert widest == "A  1.0  ████████████"


def test_a_gauge_shows_where_a_value_stands() -> None:
    assert plots.gauge(3, -4, 4, 9) == "├───┼──●┤"
    assert plots.gauge(0, -4, 4, 9) == "├───●───┤"
    assert plots.gauge(-9, -4, 4, 9) == "●───┼───┤"


def test_shares_fill_their_bar_to_the_last_cell() -> None:
    thirds = [(1, "good", "█"), (1, "warn", "▒"), (1, None, "░")]
    assert plots.shares(PLAIN, thirds, 10) == "███▒▒▒▒░░░"  # type: ignore[arg-type]
    assert plots.shares(PLAIN, [(0, "good", "█")], 10) == ""
    assert uncoloured(plots.shares(Display(80, colour=True), thirds, 10)) == "███▒▒▒▒░░░"  # type: ignore[arg-type]


def test_several_curves_are_told_apart() -> None:
    xs = range(60)
    series = [
        Series(xs, [(x - 30) ** 2 for x in xs], "accent", "observed"),
        Series([0, 59], [0, 900], "dim", "claimed", dotted=True),
        Series([10, 45], [400, 225], "good", "bought", mark="▲"),
    ]
    check("plots", lambda screen: plots.lines(screen, series, marks=[(0, "1 Jan"), (30, "31 Jan"), (59, "1 Mar")]))
