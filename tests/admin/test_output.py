import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.admin.options import end_of
from service.admin.output import print_json, print_table
from service.client.errors import MISUSED, RefusalError
from service.clock import DAY_MS, HOUR_MS, LATEST_MS, MINUTE_MS


def test_columns_are_aligned_and_nothing_trails(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["PREFIX", "NAME", "USER"], [["verdict_sk_a", "first", 1], ["v", None, 22]], nothing="No keys.")
    assert capsys.readouterr().out.splitlines() == [
        "PREFIX        NAME   USER",
        "verdict_sk_a  first  1",
        "v             -      22",
    ]


def test_without_rows_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["NAME"], [], nothing="No keys yet.")
    assert capsys.readouterr().out == "No keys yet.\n"


@given(st.lists(st.tuples(st.text(max_size=120), st.text(max_size=120), st.integers()), min_size=1, max_size=5))
def test_whatever_is_in_them_lines_fit_80_columns_and_stay_lines(rows: list[tuple[str, str, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("sys.stdout.write", written.append)
        print_table(["NAME", "NOTE", "NUMBER"], rows, nothing="")
    lines = "".join(written).split("\n")[:-1]
    assert len(lines) == len(rows) + 1
    assert all(len(line) <= 80 for line in lines)
    assert all(letter.isprintable() for line in lines for letter in line)


def test_json_is_one_document_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": "Zoë\n"})
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert json.loads(printed) == {"name": "Zoë\n"}


@pytest.mark.parametrize(
    ("text", "lasts_ms"), [("90m", 90 * MINUTE_MS), ("12h", 12 * HOUR_MS), ("30d", 30 * DAY_MS), ("2w", 14 * DAY_MS)]
)
def test_a_duration_is_a_number_and_a_unit(text: str, lasts_ms: int) -> None:
    assert end_of(text, 1_000) == 1_000 + lasts_ms


def test_without_a_duration_nothing_ends_and_the_longest_one_ends_with_the_calendar() -> None:
    assert end_of(None, 1_000) is None
    assert end_of("999999w", 1_000) == LATEST_MS


@pytest.mark.parametrize("text", ["", "30", "d", "0d", "-1d", "1.5d", "30 d", "30d\n", "٣d", "1_0d", "30D", "1y"])
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(RefusalError, match="such as 90m, 12h, 30d or 52w") as refused:
        end_of(text, 0)
    assert refused.value.code == MISUSED


def test_the_widest_column_gives_way_where_80_columns_are_not_enough(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["PREFIX", "NAME"], [["verdict_sk_abcdefgh", "n" * 100]], nothing="")
    assert capsys.readouterr().out.splitlines()[1] == "verdict_sk_abcdefgh  " + "n" * 58 + "…"


def test_a_column_that_has_to_be_typed_again_never_gives_way(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["ID", "NOTE", "ROUTE"], [["i" * 60, "n" * 30, "r" * 30]], nothing="", whole={"ID"})
    assert capsys.readouterr().out.splitlines()[1] == f"{'i' * 60}  {'n' * 7}…  {'r' * 7}…"
