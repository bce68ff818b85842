"""How the Markdown of answers looks on a terminal."""

from service.cli.layout import wrap
from service.cli.markdown import render
from service.cli.terminal import Display, cells

PLAIN = Display(60, colour=False)
PAINTED = Display(60, colour=True)

TABLE = ["| Coin | Funding a year | Mood |", "| --- | --- | --- |", "| **BTC** | +10.95 % | calm |", "| ETH | -3 % | |"]


def test_bold_and_code_and_quiet_words_are_painted_and_lose_their_marks() -> None:
    line = "**BTC is at $1**, `risk.trend_daily` and _Sources: a_b_"
    assert list(render(PLAIN, [line])) == ["BTC is at $1, risk.trend_daily and Sources: a_b"]
    assert list(render(PAINTED, ["**up**, `x` _y_"])) == ["\x1b[1mup\x1b[0m, \x1b[36mx\x1b[0m \x1b[2my\x1b[0m"]


def test_bold_over_a_line_break_stays_bold_on_both_lines() -> None:
    shown = list(render(Display(12, colour=True), ["**one two three four**"]))
    assert shown == ["\x1b[1mone two\x1b[0m", "\x1b[1mthree four\x1b[0m"]


def test_marks_that_mark_nothing_stay() -> None:
    assert list(render(PLAIN, ["2 ** 3 ** 4, snake_case_name, a * b"])) == ["2 ** 3 ** 4, snake_case_name, a * b"]


def test_lists_hang_under_their_marks() -> None:
    items = ["- one two three", "  1. four five", "# Head #", ""]
    assert list(render(Display(10, colour=False), items)) == [
        "• one two",
        "  three",
        "  1. four",
        "     five",
        "Head",
        "",
    ]


def test_a_heading_is_strong() -> None:
    assert list(render(PAINTED, ["## Head"])) == ["\x1b[1mHead\x1b[0m"]


def test_a_table_is_aligned_and_its_figures_stand_right() -> None:
    assert list(render(PLAIN, [*TABLE, "after"])) == [
        "Coin  Funding a year  Mood",
        "BTC         +10.95 %  calm",
        "ETH             -3 %",
        "after",
    ]


def test_a_table_that_ends_the_answer_is_shown() -> None:
    assert list(render(PLAIN, TABLE))[-1] == "ETH             -3 %"


def test_what_does_not_fit_in_a_table_is_written_below_and_never_cut() -> None:
    narrow = Display(20, colour=False)
    rows = ["| Coin | Why |", "|---|---|", "| BTC | up since 2025-04-22 in all of it |"]
    assert list(render(narrow, rows)) == ["BTC", "  Why  up since", "       2025-04-22 in", "       all of it"]


def test_rows_with_too_many_or_too_few_cells_are_no_trouble() -> None:
    rows = ["| A | B |", "|---|---|", "| 1 |", "| 1 | 2 | 3 |", "|---|"]
    assert list(render(PLAIN, rows)) == ["A  B", "1", "1  2"]
    assert list(render(PLAIN, ["|---|"])) == []


def test_what_others_said_is_read_as_it_was_written() -> None:
    assert list(render(PLAIN, ["“R&amp;D &lt;up&gt;”"])) == ["“R&D <up>”"]


def test_nothing_in_an_answer_steers_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    lines = [evil, f"- {evil}", f"# {evil}", f"| {evil} |", f"| {evil} |", "&#27;[2J", f"**{evil}**"]
    assert all(line.isprintable() for line in render(PLAIN, lines))
    assert all(line.isprintable() for line in render(Display(8, colour=False), [f"| {evil} | b |", "| c | dd |"]))


def test_wide_letters_are_counted_as_two() -> None:
    shown = list(render(Display(10, colour=False), ["比特币 比特币 比特币"]))
    assert [cells(line) for line in shown] == [6, 6, 6]


def test_blanks_alone_are_no_line() -> None:
    assert list(wrap(PLAIN, [("  ", None)])) == []
    assert list(wrap(PLAIN, [("a ", None), ("b ", "strong")])) == ["a b"]


def test_a_word_longer_than_the_line_is_not_broken() -> None:
    assert list(render(Display(8, colour=False), ["see 0x98B159301CDF2b197A\tnow"])) == [
        "see",
        "0x98B159301CDF2b197A",
        "now",
    ]
