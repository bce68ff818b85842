"""How text is laid out: cells, wrapped words, facts and tables."""

from hypothesis import given
from hypothesis import strategies as st

from service.cli.layout import facts, flow, listed, table
from service.cli.terminal import Cell, Display, cells, cut, safe
from tests.cli.snapshots import uncoloured

PLAIN = Display(40, colour=False)
COLOURED = Display(40, colour=True)


def test_cells_are_counted_as_a_terminal_does() -> None:
    # Wide letters take two cells (Unicode, UAX 11), accents that are letters of their own none.
    texts = ("BTC", "比特币", "\uff35\uff30", "e\u0301", "▲ UP", "1\u20dd")
    assert [cells(text) for text in texts] == [3, 6, 4, 1, 4, 1]
    assert [cut("Ethereum", 8), cut("Ethereum", 5), cut("比特币", 4), cut("abc", 1)] == [
        "Ethereum",
        "Ethe…",
        "比…",
        "…",
    ]


def test_a_hostile_text_cannot_steer_the_terminal() -> None:
    assert safe("a\x1b[2Jb\r\n\u202ec\x9b31m") == "a�[2Jb���c�31m"
    assert list(facts(PLAIN, [("a\x1b", ["b"])])) == list(flow(PLAIN, ["b"], label="a\x1b", indent=4)) == ["a�  b"]


@given(st.text(), st.integers(1, 30))
def test_what_is_cut_always_fits(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width


def test_words_wrap_under_themselves_and_long_ones_are_broken() -> None:
    screen = Display(16, colour=False)
    assert list(flow(screen, ["one two three four"], label="ab", indent=4)) == ["ab  one two", "    three four"]
    assert list(flow(Display(10, colour=False), ["0123456789abcdef g"])) == ["0123456789", "abcdef g"]
    assert list(flow(screen, ["  "])) == []
    assert max(map(len, flow(Display(200, colour=False), ["word " * 100]))) <= 100


def test_a_comma_stands_behind_the_word_before_it() -> None:
    said = listed([Cell("2 hot", "warn"), Cell("7 cold")])
    assert list(flow(PLAIN, said)) == ["2 hot, 7 cold"]
    assert list(flow(COLOURED, said)) == ["\x1b[33m2 hot\x1b[0m, 7 cold"]


@given(st.lists(st.text()), st.integers(20, 120), st.integers(0, 10))
def test_wrapped_words_fit_and_none_is_lost(parts: list[str], width: int, indent: int) -> None:
    plain = list(flow(Display(width, colour=False), parts, indent=indent))
    assert all(cells(line) <= width for line in plain)
    assert "".join("".join(plain).split()) == "".join(safe(word) for part in parts for word in part.split())
    styled = [Cell(part, "good") for part in parts]
    coloured = flow(Display(width, colour=True), styled, indent=indent)
    assert [uncoloured(line) for line in coloured] == list(flow(Display(width, colour=False), styled, indent=indent))


def test_names_give_way_to_a_narrow_screen_and_figures_never_do() -> None:
    rows = [["a name of many letters", "117,700.25 USD"], ["b", "1 USD"]]
    assert list(table(Display(24, colour=False), ["", "N"], rows, right="lr"))[1] == "a name …  117,700.25 USD"
    below = ["a name of many letters", "  N  117,700.25 USD", "", "b", "  N  1 USD"]
    assert list(table(Display(23, colour=False), ["WHO", "N"], rows, right="lr")) == below
    for right, whole in (("wr", False), ("lr", True)):
        assert list(table(Display(24, colour=False), ["WHO", "N"], rows, right=right, whole=whole)) == below


def test_the_sentences_of_a_last_column_are_wrapped() -> None:
    rows: list[list[object]] = [["BTC", Cell("It rose for four days, then it fell.", "dim")], ["SOL", "It fell."]]
    shown = ["COIN  WHY", "BTC   It rose for four days,", "      then it fell.", "SOL   It fell."]
    assert list(table(Display(30, colour=False), ["COIN", "WHY"], rows, right="ls")) == shown
    assert [uncoloured(line) for line in table(Display(30, colour=True), ["COIN", "WHY"], rows, right="ls")] == shown
    rows.append(["ETH", ""])
    assert list(table(Display(30, colour=False), ["COIN", "WHY"], rows, right="ls")) == [*shown, "ETH"]


def test_below_itself_a_column_without_a_header_stays_with_the_one_before_it_or_the_first_that_has_one() -> None:
    rows = [[1, "BTC", "UP", "██", None]]
    heads = ["", "COIN", "TREND", "", "SINCE"]
    shown = ["1 BTC", "  TREND  UP ██", "  SINCE  -"]
    assert list(table(Display(8, colour=False), heads, rows, right="rrrrr")) == shown
    bold = next(table(Display(8, colour=True), heads[:2], [[1, Cell("B" * 9, "bad")]], right="rr"))
    assert bold == "\x1b[1m1\x1b[0m"
