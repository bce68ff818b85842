"""What people's text is written with."""

from hypothesis import given
from hypothesis import strategies as st

from service.cli.layout import facts, flow, heading, listed, table
from service.cli.terminal import Cell, Display, Part, age, cells, cut, safe, sparkline
from tests.cli.snapshots import uncoloured

PLAIN = Display(40, colour=False)
COLOURED = Display(40, colour=True)


def test_a_style_is_painted_only_where_there_is_colour() -> None:
    assert PLAIN.paint("good", "up") == "up"
    assert COLOURED.paint("good", "up") == "\x1b[32mup\x1b[0m"
    assert COLOURED.paint(None, "up") == "up"
    assert COLOURED.paint("good", "") == ""


def test_cells_are_counted_as_a_terminal_does() -> None:
    # Wide letters take two cells (Unicode, UAX 11), accents that are letters of their own none.
    assert [cells(text) for text in ("BTC", "比特币", "\uff35\uff30", "e\u0301", "▲ UP", "1\u20dd")] == [
        3,
        6,
        4,
        1,
        4,
        1,
    ]


def test_a_hostile_text_cannot_steer_the_terminal() -> None:
    assert safe("a\x1b[2Jb\r\n\u202ec\x9b31m") == "a�[2Jb���c�31m"


def test_a_text_is_cut_to_its_cells_and_says_so() -> None:
    assert cut("Ethereum", 8) == "Ethereum"
    assert cut("Ethereum", 5) == "Ethe…"
    assert cut("比特币", 4) == "比…"
    assert cut("abc", 1) == "…"


@given(st.text(), st.integers(1, 30))
def test_what_is_cut_always_fits(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width


def test_an_age_is_told_in_the_unit_that_is_read_fastest() -> None:
    told = [age(seconds) for seconds in (0, 12.9, 59, 60, 3_599, 3_600, 86_399, 86_400, 200_000)]
    assert told == [
        "0 s old", "12 s old", "59 s old", "1 min old", "59 min old", "1 h old", "23 h old", "24 h old", "2 days old",
    ]  # fmt: skip


def test_a_sparkline_stands_as_high_as_its_values() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 20) == "▁▂▃▄▅▆▇█"
    assert sparkline([1, None, 3], 20) == "▁ █"
    assert sparkline([5, 5], 20) == "▄▄"
    assert sparkline([None], 20) == ""
    assert sparkline([], 20) == ""


def test_a_sparkline_of_more_values_than_cells_keeps_its_peaks() -> None:
    assert sparkline([0, 9, 0, 0, 7, 0], 3) == "█▁▆"
    assert sparkline([5, 5, -9, 5, 5, 5], 3) == "█▁█"
    assert sparkline([1, 1, None, None, 3, 1], 3) == "▁ █"


def test_words_wrap_under_themselves() -> None:
    screen = Display(16, colour=False)
    assert list(flow(screen, ["one two three four"], label="ab", indent=4)) == ["ab  one two", "    three four"]
    assert list(flow(screen, ["  "])) == []


def test_a_word_that_is_longer_than_the_line_is_broken() -> None:
    assert list(flow(Display(10, colour=False), ["0123456789abcdef g"])) == ["0123456789", "abcdef g"]


def test_a_comma_stands_behind_the_word_before_it() -> None:
    said = listed([Cell("2 hot", "warn"), Cell("7 cold")])
    assert list(flow(PLAIN, said)) == ["2 hot, 7 cold"]
    assert list(flow(COLOURED, said)) == ["\x1b[33m2 hot\x1b[0m, 7 cold"]
    assert listed([]) == []


def test_prose_is_no_wider_than_is_good_to_read() -> None:
    assert max(map(len, flow(Display(200, colour=False), ["word " * 100]))) <= 100


@given(st.lists(st.text()), st.integers(20, 120), st.integers(0, 10))
def test_wrapped_words_fit_and_none_is_lost(parts: list[str], width: int, indent: int) -> None:
    plain = list(flow(Display(width, colour=False), parts, indent=indent))
    assert all(cells(line) <= width for line in plain)
    assert "".join("".join(plain).split()) == "".join(safe(word) for part in parts for word in part.split())
    styled = [Cell(part, "good") for part in parts]
    coloured = flow(Display(width, colour=True), styled, indent=indent)
    assert [uncoloured(line) for line in coloured] == list(flow(Display(width, colour=False), styled, indent=indent))


def test_a_fact_without_anything_to_say_is_left_out() -> None:
    rows: list[tuple[str, list[Part]]] = [
        ("Price", ["$1"]),
        ("What it costs to carry", []),
        ("Weekly trend", [Cell("UP")]),
    ]
    assert list(facts(PLAIN, rows)) == ["Price         $1", "Weekly trend  UP"]
    assert list(facts(PLAIN, [])) == []


def test_a_heading_goes_on_in_the_next_line_where_it_is_too_long() -> None:
    said = [Cell("BTC", "strong"), Cell("$117,700"), Cell("x" * 30)]
    assert list(heading(PLAIN, said)) == ["BTC   $117,700", "x" * 30]
    assert list(heading(Display(10, colour=False), said[:1])) == ["BTC"]
    assert list(heading(PLAIN, [])) == []


def test_a_tables_columns_are_aligned() -> None:
    rows: list[list[object]] = [["BTC", Cell("+1.00", "good")], ["SOL", None]]
    assert list(table(PLAIN, ["COIN", "SCORE"], rows, right="lr")) == ["COIN  SCORE", "BTC   +1.00", "SOL       -"]
    assert list(table(COLOURED, ["COIN", "SCORE"], rows[:1], right="lr")) == [
        "\x1b[2mCOIN\x1b[0m  \x1b[2mSCORE\x1b[0m",
        "BTC   \x1b[32m+1.00\x1b[0m",
    ]


def test_words_give_way_to_a_narrow_screen_and_figures_never_do() -> None:
    rows = [["a name of many letters", "117,700.25 USD"], ["b", "1 USD"]]
    assert list(table(Display(24, colour=False), ["", "N"], rows, right="lr"))[1] == "a name …  117,700.25 USD"
    assert list(table(Display(23, colour=False), ["WHO", "N"], rows, right="lr")) == [
        "a name of many letters",
        "  N  117,700.25 USD",
        "b",
        "  N  1 USD",
    ]


def test_what_must_be_whole_does_not_give_way_at_all() -> None:
    assert list(table(Display(10, colour=False), ["A", "B"], [["twelve words", "x"]], whole=True)) == [
        "twelve",
        "words",
        "  B  x",
    ]


def test_below_itself_a_column_without_a_header_stays_with_the_one_before_it_or_the_first_that_has_one() -> None:
    rows = [[1, "BTC", "UP", "██", None]]
    heads = ["", "COIN", "TREND", "", "SINCE"]
    assert list(table(Display(8, colour=False), heads, rows, right="rrrrr")) == [
        "1 BTC",
        "  TREND  UP ██",
        "  SINCE  -",
    ]
    bold = next(table(Display(8, colour=True), heads[:2], [[1, Cell("B" * 9, "bad")]], right="rr"))
    assert bold == "\x1b[1m1\x1b[0m"
