"""Forms of an answer: as it came, a line an entry, comma-separated, or some of its fields."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from service.cli import csv_output, output_format
from service.cli.command import Arguments
from service.cli.commands import OFFER_COMMANDS as COMMANDS
from service.client.answer import RawAnswer
from tests.cli.commanding import Terminal, Told, typed
from tests.cli.recorded import ANSWERS, HOSTILE
from tests.client.sdk.peer import answers, peer, says

ROWS = {command.words: command for command in COMMANDS}
TREATY = {"schemaVersion": 1, "data": {"a": 1, "b": {"c": "é", "d": [1, 2]}, "e": None}, "meta": {"ts": "now"}}
LIST = {
    "schemaVersion": 1,
    "data": {
        "events": [{"id": 1, "in": {"x": True}, "tags": ["p"]}, {"id": 2, "in": {"x": None}, "more": "a,b"}],
        "meta": {"total": 2, "next_cursor": "c1"},
    },
    "meta": {"ts": "now"},
}


def shaped(document: Any, words: str = "coin risk", *, terminal: bool = False, **asked: object) -> Told:
    """What is printed of an answer to a command."""
    body = document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False).encode()
    if "fields" in asked:
        asked["fields"] = output_format.names_in(str(asked["fields"]))
    arguments = Arguments(command=ROWS[words], **asked)
    raw = io.BytesIO()
    out: Any = Terminal() if terminal else io.TextIOWrapper(raw, "ascii", "backslashreplace", newline="")
    err: Any = Terminal() if terminal else io.StringIO()

    def lines(data: Any, meta: Any) -> Iterator[str]:
        yield f"{data} {meta}"

    with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", err):
        code = output_format.write_answer(arguments, {"NO_COLOR": "1"}, RawAnswer(200, {}, body), lines)
    out.flush()
    return Told(code, out.getvalue() if terminal else raw.getvalue().decode(), err.getvalue())


def test_where_nobody_looks_the_answer_is_printed_byte_for_byte() -> None:
    body = (ANSWERS / "signal.json").read_bytes().rstrip(b"\n")
    assert shaped(body, "signal").out.encode() == body + b"\n"
    assert shaped(body + b"\n", "signal").out.encode() == body + b"\n"
    assert shaped(body, "signal", json=True).out.encode() == body + b"\n"


def test_at_a_terminal_it_is_told_in_words_unless_json_is_asked_for() -> None:
    assert shaped(TREATY, terminal=True).out == f"{TREATY['data']} {TREATY['meta']}\n"
    assert json.loads(shaped(TREATY, terminal=True, json=True).out) == TREATY
    assert shaped(TREATY, terminal=True, json=True).out.startswith('{\n  "schemaVersion": 1,\n')


@pytest.mark.parametrize("asked", [{"json": True}, {"ndjson": True}, {"csv": True}, {"fields": "a"}])
def test_at_a_terminal_no_form_lets_an_answer_steer_it(asked: dict[str, Any]) -> None:
    document = {"schemaVersion": 1, "data": {"a": HOSTILE + "\U000e0001 é"}, "meta": {HOSTILE: 1}}
    told = shaped(document, terminal=True, **asked)
    assert "é" in told.out
    assert all(letter.isprintable() or letter == "\n" for letter in told.out)
    if "json" in asked:
        assert json.loads(told.out) == document


def test_a_bare_answer_has_no_envelope() -> None:
    bare = {"receipts": [{"id": "rcp_1"}], "next_cursor": None}
    assert json.loads(shaped(bare, "billing receipts").out) == bare
    assert shaped(bare, "billing receipts", ndjson=True).out == '{"id":"rcp_1"}\n'
    assert shaped(bare, "billing receipts", terminal=True).out == f"{bare} {{}}\n"


def test_entries_are_a_line_each() -> None:
    lines = shaped(LIST, "funding alerts", ndjson=True).out.splitlines()
    assert [json.loads(line) for line in lines] == LIST["data"]["events"]  # type: ignore[index]
    assert " " not in lines[0]


def test_an_answer_that_is_one_thing_is_one_line() -> None:
    assert shaped(TREATY, ndjson=True).out == '{"a":1,"b":{"c":"é","d":[1,2]},"e":null}\n'
    assert shaped({**TREATY, "data": {"events": "gone"}}, "funding alerts", ndjson=True).out == '{"events":"gone"}\n'
    assert shaped({**TREATY, "data": [1]}, "funding alerts", ndjson=True).out == "[1]\n"


def test_no_entries_are_no_lines() -> None:
    empty = {**LIST, "data": {"events": [], "meta": {}}}
    assert shaped(empty, "funding alerts", ndjson=True).out == ""
    assert shaped(empty, "funding alerts", csv=True).out == ""
    assert shaped(empty, "funding alerts", fields="id").out == "[]\n"


def test_half_of_a_pair_of_codes_is_written_as_json_writes_it() -> None:
    body = b'{"schemaVersion":1,"data":{"a":"\\ud83d"},"meta":{}}'
    assert shaped(body, ndjson=True).out == '{"a":"\\ud83d"}\n'
    assert shaped(body, csv=True).out == "a\n\\ud83d\n"


def test_comma_separated_values_have_a_column_a_field() -> None:
    told = shaped(LIST, "funding alerts", csv=True).out
    assert told == 'id,in.x,tags,more\n1,true,"[""p""]",\n2,,,"a,b"\n'
    assert list(csv.DictReader(io.StringIO(told)))[1]["more"] == "a,b"
    assert shaped(TREATY, csv=True).out == 'a,b.c,b.d,e\n1,é,"[1, 2]",\n'


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://evil")', "@SUM(A1)", "+A1", "-1+A1", "-", "\t=1", "\r=1", "--1-1"]
)
def test_no_text_of_a_stranger_is_a_formula_in_a_spreadsheet(text: str) -> None:
    told = csv_output.csv_of([{"quote": text, text: 1}])
    names, row = csv.reader(io.StringIO(told, newline=""))
    assert (names, row) == (["quote", f"'{text}"], [f"'{text}", "1"])


@pytest.mark.parametrize("value", [-1.5, "-12", "+0.5", "-0.000000001", "a=b", "a-b", "0x12"])
def test_numbers_and_harmless_texts_stay_as_they_are_in_a_spreadsheet(value: object) -> None:
    assert csv_output.csv_of([{"a": value}]) == f"a\n{value}\n"


def test_comma_separated_values_of_what_has_no_fields() -> None:
    assert csv_output.csv_of([1, None, {}]) == 'value\n1\n""\n{}\n'


def test_at_a_terminal_lines_of_entries_are_followed_by_where_to_go_on() -> None:
    told = shaped(LIST, "funding alerts", terminal=True, ndjson=True)
    assert told.err == "There is more: --cursor=c1\n"
    assert shaped(LIST, "funding alerts", ndjson=True).err == ""
    for data in ({"events": [], "meta": 5}, [1]):
        assert shaped({**LIST, "data": data}, "funding alerts", terminal=True, ndjson=True).err == ""
    bare = {"receipts": [], "next_cursor": "c\x07"}
    assert shaped(bare, "billing receipts", terminal=True, csv=True).err == "There is more: --cursor=c\\u0007\n"


@pytest.mark.parametrize(
    ("names", "asked", "printed"),
    [
        ("id", {}, '[{"id":1},{"id":2}]\n'),
        ("in.x, id,", {"ndjson": True}, '{"in.x":true,"id":1}\n{"in.x":null,"id":2}\n'),
        ("id,more", {"csv": True}, 'id,more\n1,\n2,"a,b"\n'),
        ("meta.total", {}, '{"meta.total":2}\n'),
        ("meta.total,events.id", {"csv": True}, 'meta.total,events.id\n2,"[1, 2]"\n'),
        ("events.id", {"ndjson": True}, '{"events.id":[1,2]}\n'),
        ("id", {"terminal": True}, "id\n 1\n 2\n"),
        ("meta.total", {"terminal": True}, "meta.total  2\n"),
    ],
)
def test_only_some_fields_are_printed(names: str, asked: dict[str, Any], printed: str) -> None:
    assert shaped(LIST, "funding alerts", fields=names, **asked) == (0, printed, "")


def test_fields_of_one_thing_are_found_along_their_path() -> None:
    assert shaped(TREATY, fields="b.c,e").out == '{"b.c":"é","e":null}\n'
    assert shaped(TREATY, fields="b.d", csv=True).out == 'b.d\n"[1, 2]"\n'


def test_a_field_that_is_not_there_is_null_and_told() -> None:
    told = shaped(TREATY, fields="a,b.x,pryce")
    assert told == (
        1,
        '{"a":1,"b.x":null,"pryce":null}\n',
        "verdict: there is no field 'b.x' in this answer\nverdict: there is no field 'pryce' in this answer\n",
    )
    assert "(did you mean price?)" in shaped({**TREATY, "data": {"price": 1}}, fields="pryce").err
    assert "(did you mean id?)" in shaped(LIST, "funding alerts", fields="id,ids").err
    assert shaped(LIST, "funding alerts", fields="tags.x,id").code == 1
    assert shaped({**TREATY, "data": 5}, fields="a").code == 1


def test_a_field_of_an_empty_list_is_an_empty_list() -> None:
    assert shaped({**TREATY, "data": {"a": []}}, fields="a.b").out == '{"a.b":[]}\n'


def test_bytes_keep_their_place_among_what_is_printed() -> None:
    raw = io.BytesIO()
    with mock.patch.object(sys, "stdout", io.TextIOWrapper(raw, "utf-8", newline="")):
        output_format.put_lines(["first"])
        output_format.put_bytes(b"second\n")
        assert raw.getvalue() == b"first\nsecond\n"


def test_a_command_without_a_route_has_an_envelope_and_no_entries() -> None:
    with mock.patch.dict(ROWS, {"whoami": Arguments(route=None)}):
        assert shaped(TREATY, "whoami", ndjson=True).out.startswith('{"a":1')


def test_prices_by_coin_are_a_row_for_each_coin_in_a_table_for_others(tmp_path: Path) -> None:
    prices = {"bitcoin": {"symbol": "BTC", "price": 1.5}, "solana": {"symbol": "SOL", "price": 2.0}}
    with peer(says({"schemaVersion": 1, "data": {"prices": prices, "ts": 1}, "meta": {}})) as there:
        environment = {"HOME": str(tmp_path), "VERDICT_TOKEN": "verdict_sk_x", "VERDICT_URL": there.url}
        told = typed("market", "prices", "--csv", environment=environment)
    assert told.out.splitlines() == ["id,symbol,price", "bitcoin,BTC,1.5", "solana,SOL,2.0"]


@pytest.mark.parametrize(("source", "is_said"), [("fixtures", True), ("live", False)])
def test_people_are_told_that_data_is_recorded(tmp_path: Path, source: str, is_said: bool) -> None:
    answer = answers((ANSWERS / "coin.risk.json").read_bytes(), x_data_source=source)
    with peer(answer) as there:
        environment = {
            "HOME": str(tmp_path),
            "VERDICT_TOKEN": "verdict_sk_x",
            "VERDICT_URL": there.url,
            "NO_COLOR": "1",
        }
        told = typed("coin", "risk", "BTC", environment=environment, terminal=True)
    assert told.out.endswith("\nrecorded data, replayed: not live\n") == is_said
