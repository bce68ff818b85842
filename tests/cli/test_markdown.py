"""How the Markdown of answers looks on a terminal."""

import pytest

from service.cli.markdown import render
from service.cli.terminal import Display, cells

TABLE = ["| Coin | Funding a year | Mood |", "| --- | --- | --- |", "| **BTC** | +10.95 % | calm |", "| ETH | -3 % | |"]
ALIGNED = ["Coin  Funding a year  Mood", "BTC         +10.95 %  calm", "ETH             -3 %"]


@pytest.mark.parametrize(
    ("width", "lines", "shown"),
    [
        (
            60,
            ["**BTC is at $1**, `risk.trend_daily` and _Sources: a_b_"],
            ["BTC is at $1, risk.trend_daily and Sources: a_b"],
        ),
        (60, ["2 ** 3 ** 4, snake_case_name, a * b"], ["2 ** 3 ** 4, snake_case_name, a * b"]),
        (
            10,
            ["- one two three", "  1. four five", "# Head #", ""],
            ["• one two", "  three", "  1. four", "     five", "Head", ""],
        ),
        (60, [*TABLE, "after"], [*ALIGNED, "after"]),
        (60, TABLE, ALIGNED),
        (60, ["| A | B |", "|---|---|", "| 1 |", "| 1 | 2 | 3 |", "|---|"], ["A  B", "1", "1  2"]),
        (60, ["| A |", "|---|", "| 1 |", "| ten |"], ["A", "1", "ten"]),
        (60, ["|---|"], []),
        # What does not fit into a table is written below, never cut; a long word is not broken.
        (
            20,
            ["| Coin | Why |", "|---|---|", "| BTC | up since 2025-04-22 in all of it |"],
            ["BTC", "  Why  up since", "       2025-04-22 in", "       all of it"],
        ),
        (8, ["see 0x98B159301CDF2b197A\tnow"], ["see", "0x98B159301CDF2b197A", "now"]),
        (60, ["“R&amp;D &lt;up&gt;”"], ["“R&D <up>”"]),
        (60, ["  **  "], ["**"]),
    ],
)
def test_markdown_is_set(width: int, lines: list[str], shown: list[str]) -> None:
    assert list(render(Display(width, colour=False), lines)) == shown


@pytest.mark.parametrize(
    ("width", "line", "shown"),
    [
        (60, "**up**, `x` _y_", ["\x1b[1mup\x1b[0m, \x1b[36mx\x1b[0m \x1b[2my\x1b[0m"]),
        (12, "**one two three four**", ["\x1b[1mone two\x1b[0m", "\x1b[1mthree four\x1b[0m"]),
        (60, "## Head", ["\x1b[1mHead\x1b[0m"]),
    ],
)
def test_marks_become_colours_also_over_a_line_break(width: int, line: str, shown: list[str]) -> None:
    assert list(render(Display(width, colour=True), [line])) == shown


def test_nothing_in_an_answer_steers_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    lines = [evil, f"- {evil}", f"# {evil}", f"| {evil} |", f"| {evil} |", "&#27;[2J", f"**{evil}**"]
    assert all(line.isprintable() for line in render(Display(60, colour=False), lines))
    assert all(line.isprintable() for line in render(Display(8, colour=False), [f"| {evil} | b |", "| c | dd |"]))


def test_wide_letters_are_counted_as_two() -> None:
    assert [cells(line) for line in render(Display(10, colour=False), ["比特币 比特币 比特币"])] == [6, 6, 6]
