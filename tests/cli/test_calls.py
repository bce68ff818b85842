"""Commands that call a route: what is sent, in which form the answer is printed, and what is paid for."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.cli import payment_prompt
from service.cli.show import coin
from service.client.answer import RawAnswer, RefusedError
from tests.cli.commanding import Told, typed
from tests.cli.conftest import Typed
from tests.cli.recorded import ANSWERS, HOSTILE
from tests.client.sdk.peer import Reply, answers, peer, says

THING = {"schemaVersion": 1, "data": {"a": 1, "b": {"c": "é", "d": [1, 2]}, "e": None}, "meta": {"ts": "now"}}
ENTRIES = [{"id": 1, "in": {"x": True}, "tags": ["p"]}, {"id": 2, "in": {"x": None}, "more": "a,b"}]
LIST = {"schemaVersion": 1, "data": {"events": ENTRIES, "meta": {"total": 2, "next_cursor": "c1"}}, "meta": {}}
BARE = {"receipts": [{"id": "rcp_1"}], "next_cursor": "c\x07"}
RISK, EVENTS = "coin risk BTC", "funding alerts"


@pytest.fixture(autouse=True)
def _key(environment: dict[str, str]) -> None:
    environment |= {"VERDICT_TOKEN": "verdict_sk_x", "VERDICT_URL": "http://127.0.0.1:9"}


def recorded(name: str) -> Reply:
    return answers((ANSWERS / f"{name}.json").read_bytes())


def shown(type_it: Typed, document: object, line: str) -> Told:
    """What a command prints of an answer."""
    reply = answers(document) if isinstance(document, bytes) else says(document)
    with peer(reply) as there:
        told = type_it(f"{line} --url {there.url}")
    assert isinstance(told, Told)
    return told


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("coin risk btc", "/api/cli/coin/risk/btc"),
        ("coin risk a/b?c", "/api/cli/coin/risk/a%2Fb%3Fc"),
        ("coin historical BTC --count 7 --unit d", "/api/cli/coin/historical/BTC?count=7&unit=d"),
        ("coin historical BTC --count 0", "/api/cli/coin/historical/BTC?count=0"),
        ("regime", "/api/cli/regime?action=active"),
        ("market health --context", "/api/cli/market/health?context=1"),
        ("signal SOL --as-of 2026-01-31", "/api/cli/signal/SOL?as_of=2026-01-31T00%3A00%3A00Z"),
        ("billing receipts --limit 2", "/api/receipts?limit=2"),
        ("top losers", "/api/cli/coins?sort=change_24h&limit=10&order=asc"),
        ("manifest", "/api/cli/manifest"),
    ],
)
def test_what_was_typed_is_what_is_asked(program: Typed, words: str, target: str) -> None:
    with peer(says({"schemaVersion": 1, "data": {}, "meta": {}})) as there:
        assert program(f"{words} --url {there.url}").code == 0
    [heard] = there.heard
    path, _, query = heard.target.partition("?")
    assert (heard.method, path, sorted(query.split("&"))) == (
        "GET", target.partition("?")[0], sorted(target.partition("?")[2].split("&")),
    )  # fmt: skip
    assert heard.headers.get("authorization") == (None if words == "manifest" else "Bearer verdict_sk_x")


def test_an_empty_service_url_is_not_the_configured_one(environment: dict[str, str]) -> None:
    told = typed(*RISK.split(), "--url", "", environment=environment, terminal=True)
    assert (told.code, told.out, "--url: '' is not" in told.err) == (1, "", True)


@pytest.mark.parametrize(
    ("line", "request_line", "cost"),
    [
        ("coin historical BTC --count 7", "GET {}/api/cli/coin/historical/BTC?count=7", (True, "0.005")),
        ("walkforward", "GET {}/api/cli/walkforward?action=signals", (True, "0.05")),
        ("billing", "GET {}/api/cli/billing/tier", (False, None)),
        ("watch prices", "GET {}/api/cli/watch/prices", (True, None)),
        ("ask why?", "POST {}/api/cli", (True, "0.05")),
    ],
)
def test_a_rehearsal_shows_request_and_price_and_sends_nothing(
    person: Typed, program: Typed, environment: dict[str, str], line: str, request_line: str, cost: tuple[bool, str]
) -> None:
    told = person(f"{line} --dry-run")
    lines = told.out.splitlines()
    counted, price = cost
    usd = f" or, once they are spent, {price} USDC" if price else ""
    assert (told.code, told.err, lines[0]) == (0, "", request_line.format(environment["VERDICT_URL"]))
    assert lines[-1] == f"Would cost {f'one question{usd}' if counted else 'nothing'}. Nothing was sent."
    found = program(f"{line} --dry-run").json
    assert f"{found['method']} {found['url']}" == lines[0]
    assert (found["counted"], found["price_usdc"], bool(found["body"])) == (counted, price, line == "ask why?")


def test_people_see_the_view_of_the_offer_and_programs_the_answer_byte_for_byte(person: Typed, program: Typed) -> None:
    body = (ANSWERS / "coin.risk.json").read_bytes().rstrip(b"\n")
    told = shown(person, body, RISK)
    assert (told.code, told.err, "as of 2025-07-25" in told.out) == (0, "", True)
    for given in (body, body + b"\n"):
        assert shown(program, given, RISK).out.encode() == body + b"\n"
        assert shown(program, given, f"{RISK} --json").out.encode() == body + b"\n"
    indented = shown(person, body, f"{RISK} --json").out
    assert (indented.startswith('{\n  "schemaVersion": 1,\n'), json.loads(indented)) == (True, json.loads(body))


@pytest.mark.promise("scorecard.http")
def test_the_scorecard_is_asked_of_a_service_without_a_data_folder(
    person: Typed, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["VERDICT_DATA_DIR"] = str(tmp_path / "nowhere")
    told = shown(person, (ANSWERS / "signal.quality.verdict.json").read_bytes(), "scorecard")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("Live: one verdict a day on every coin")


@pytest.mark.parametrize(("source", "is_said"), [("fixtures", True), ("live", False)])
def test_people_are_told_that_data_is_recorded(person: Typed, source: str, is_said: bool) -> None:
    with peer(answers((ANSWERS / "coin.risk.json").read_bytes(), x_data_source=source)) as there:
        told = person(f"{RISK} --url {there.url}")
    assert told.out.endswith("\nrecorded data, replayed: not live\n") == is_said


@pytest.mark.parametrize("form", ["--json", "--ndjson", "--csv", "--fields a"])
def test_at_a_terminal_no_form_lets_an_answer_steer_it(person: Typed, form: str) -> None:
    document = {"schemaVersion": 1, "data": {"a": HOSTILE + "\U000e0001 é"}, "meta": {HOSTILE: 1}}
    told = shown(person, document, f"{RISK} {form}")
    assert "é" in told.out
    assert all(letter.isprintable() or letter == "\n" for letter in told.out)
    if form == "--json":
        assert json.loads(told.out) == document


@pytest.mark.parametrize(
    ("document", "line", "printed"),
    [
        (BARE, "billing receipts --ndjson", '{"id":"rcp_1"}\n'),
        (LIST, f"{EVENTS} --ndjson", "".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in ENTRIES)),
        (THING, f"{RISK} --ndjson", '{"a":1,"b":{"c":"é","d":[1,2]},"e":null}\n'),
        ({**LIST, "data": {"events": "gone"}}, f"{EVENTS} --ndjson", '{"events":"gone"}\n'),
        ({**LIST, "data": [1]}, f"{EVENTS} --ndjson", "[1]\n"),
        ({**LIST, "data": {"events": [], "meta": {}}}, f"{EVENTS} --ndjson", ""),
        ({**LIST, "data": {"events": [], "meta": {}}}, f"{EVENTS} --csv", ""),
        (b'{"schemaVersion":1,"data":{"a":"\\ud83d"},"meta":{}}', f"{RISK} --ndjson", '{"a":"\\ud83d"}\n'),
        (b'{"schemaVersion":1,"data":{"a":"\\ud83d"},"meta":{}}', f"{RISK} --csv", "a\n\\ud83d\n"),
        (LIST, f"{EVENTS} --csv", 'id,in.x,tags,more\n1,true,"[""p""]",\n2,,,"a,b"\n'),
        (THING, f"{RISK} --csv", 'a,b.c,b.d,e\n1,é,"[1, 2]",\n'),
        ({**LIST, "data": {"events": [1, None, {}]}}, f"{EVENTS} --csv", 'value\n1\n""\n{}\n'),
        (
            {**THING, "data": {"prices": {"bitcoin": {"price": 1.5}, "solana": {"price": 2.0}}}},
            "market prices --csv",
            "id,price\nbitcoin,1.5\nsolana,2.0\n",
        ),
        (LIST, f"{EVENTS} --fields id", '[{"id":1},{"id":2}]\n'),
        (LIST, f"{EVENTS} --fields in.x,id, --ndjson", '{"in.x":true,"id":1}\n{"in.x":null,"id":2}\n'),
        (LIST, f"{EVENTS} --fields id,more --csv", 'id,more\n1,\n2,"a,b"\n'),
        (LIST, f"{EVENTS} --fields meta.total", '{"meta.total":2}\n'),
        (LIST, f"{EVENTS} --fields meta.total,events.id --csv", 'meta.total,events.id\n2,"[1, 2]"\n'),
        ({**LIST, "data": {"events": [], "meta": {}}}, f"{EVENTS} --fields id", "[]\n"),
        ({**LIST, "data": {"events": [], "meta": {"total": 0}}}, f"{EVENTS} --fields meta.total", '{"meta.total":0}\n'),
        ({**THING, "data": {"prices": {}}}, "market prices --csv --fields id,nosuch", "id,nosuch\n"),
        (THING, f"{RISK} --fields b.c,e", '{"b.c":"é","e":null}\n'),
        (THING, f"{RISK} --fields b.d --csv", 'b.d\n"[1, 2]"\n'),
        ({**THING, "data": {"a": []}}, f"{RISK} --fields a.b", '{"a.b":[]}\n'),
    ],
)
def test_an_answer_is_printed_in_the_form_that_is_asked_for(
    program: Typed, document: object, line: str, printed: str
) -> None:
    assert shown(program, document, line) == (0, printed, "")


@pytest.mark.parametrize(("names", "printed"), [("id", "id\n 1\n 2\n"), ("meta.total", "meta.total  2\n")])
def test_people_read_fields_in_columns(person: Typed, names: str, printed: str) -> None:
    assert shown(person, LIST, f"{EVENTS} --fields {names}") == (0, printed, "")


@pytest.mark.parametrize(
    ("document", "line", "out", "said"),
    [
        (THING, f"{RISK} --fields a,b.x", '{"a":1,"b.x":null}\n', "There is no field 'b.x' in this answer.\n"),
        ({**THING, "data": {"price": 1}}, f"{RISK} --fields pryce", '{"pryce":null}\n', "answer. Did you mean price?"),
        (LIST, f"{EVENTS} --fields id,ids --ndjson", '{"id":1,"ids":null}\n', "answer. Did you mean id?"),
        (LIST, f"{EVENTS} --fields tags.x,id --ndjson", '{"tags.x":null,"id":1}\n', "'tags.x'"),
        ({**THING, "data": {"pry\x1bce": 1}}, f"{RISK} --fields pryce", '{"pryce":null}\n', "mean pry\\ufffdce?"),
        ({**THING, "data": 5}, f"{RISK} --fields a", '{"a":null}\n', "'a'"),
    ],
)
def test_a_field_that_is_not_there_is_null_and_told(
    program: Typed, document: object, line: str, out: str, said: str
) -> None:
    told = shown(program, document, line)
    assert (told.code, told.out.startswith(out)) == (1, True)
    assert said in told.err


@pytest.mark.parametrize(
    ("cell", "is_escaped"),
    [
        *((text, True) for text in ('=HYPERLINK("x")', "@SUM(A1)", "+A1", "-1+A1", "-", "\t=1", "\r=1", "--1-1")),
        *((text, False) for text in ("-12", "+0.5", "-0.000000001", "a=b", "a-b", "0x12")),
    ],
)
def test_no_text_of_a_stranger_is_a_formula_in_a_spreadsheet(program: Typed, cell: str, is_escaped: bool) -> None:
    told = shown(program, {**THING, "data": {"quote": cell, cell: -1.5}}, f"{RISK} --csv").out
    safe = f"'{cell}" if is_escaped else cell
    assert [*csv.reader(io.StringIO(told, newline=""))] == [["quote", safe], [safe, "-1.5"]]


def test_at_a_terminal_lines_of_entries_are_followed_by_where_to_go_on(person: Typed, program: Typed) -> None:
    assert shown(person, LIST, f"{EVENTS} --ndjson").err == "There is more: --cursor=c1\n"
    assert shown(program, LIST, f"{EVENTS} --ndjson").err == ""
    assert shown(person, BARE, "billing receipts --csv").err == "There is more: --cursor=c\\u0007\n"
    for data in ({"events": [], "meta": 5}, [1]):
        assert shown(person, {**LIST, "data": data}, f"{EVENTS} --ndjson").err == ""


@pytest.mark.parametrize(
    "document",
    [
        {"schemaVersion": 1, "data": {"price": 5, "new": [1], "rows": [{"a": HOSTILE}]}, "meta": {"ts": "now"}},
        {**json.loads((ANSWERS / "coin.risk.json").read_text()), "schemaVersion": 2},
        json.loads((ANSWERS / "coin.risk.json").read_text().replace('"price":', '"price":Infinity,"_":')),
        {"data": {"price": None}, "meta": None},
        {"data": {"price": [{}], HOSTILE: [{HOSTILE: 1}]}, "meta": {"as_of": None, "data_age_seconds": 1}},
        *(
            {"data": {"price": 1}, "meta": {"as_of": [], "data_age_seconds": age}}
            for age in (math.nan, math.inf, 9**999)
        ),
    ],
)
def test_an_answer_that_this_version_does_not_know_is_shown_plainly(person: Typed, document: object) -> None:
    """It used up a question. JSON knows no Infinity, Python's reader does."""
    told = shown(person, document, RISK)
    assert (told.code, "price" in told.out) == (0, True)
    assert told.err.startswith("verdict: This version does not know the form of the answer (")
    assert all(letter.isprintable() or letter == "\n" for letter in told.out)


def test_a_defect_of_a_view_that_is_none_of_the_answers_is_told_as_one(
    person: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Iterator[str]:
        raise RuntimeError

    monkeypatch.setattr(coin, "coin_risk", broken)
    assert shown(person, (ANSWERS / "coin.risk.json").read_bytes(), RISK).code == 7


def test_a_call_that_is_to_be_paid_for_is_sent_again_with_its_payment(
    program: Typed, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pay(
        refused: RefusedError, send: Callable[[Mapping[str, str]], RawAnswer], _: Mapping[str, str], **options: Any
    ) -> RawAnswer:
        assert (refused.status, options["yes"], options["max_price"]) == (402, True, 20_000)
        return send({"PAYMENT-SIGNATURE": "signed"})

    monkeypatch.setattr(payment_prompt, "pay", pay)
    with peer(says(json.loads((ANSWERS / "refused.402.json").read_text()), 402), recorded("coin.risk")) as there:
        assert program(f"{RISK} --yes --max-price 0.02 --url {there.url}").code == 0
    first, second = there.heard
    assert (first.target, first.headers["authorization"]) == (second.target, second.headers["authorization"])
    assert ("payment-signature" in first.headers, second.headers["payment-signature"]) == (False, "signed")


DEEP = b'{"schemaVersion":1,"data":' + b"[" * 800 + b"]" * 800 + b',"meta":{}}'


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (RISK, "<html>\x1b[2J é".encode()),
        (f"{RISK} --json", b'{"data":'),
        (f"{RISK} --csv", b"[1]"),
        (f"{RISK} --fields a.b", DEEP),
        ("BTC", b'{"schemaVersion":1,"data":{"coins":[]},"meta":{}}'),
        ("ask --raw ETH?", b"[1]"),
        ("ask --explain ETH?", b'{"steps":[]}'),
    ],
)
@pytest.mark.parametrize("paid", [True, False])
def test_an_answer_that_was_paid_for_and_cannot_be_read_is_printed_before_the_error(
    person: Typed, program: Typed, monkeypatch: pytest.MonkeyPatch, line: str, body: bytes, paid: bool
) -> None:
    monkeypatch.setattr(payment_prompt, "pay", lambda _refused, send, *_, **__: send({}))
    due = says(json.loads((ANSWERS / "refused.402.json").read_text()), 402)
    for type_it in (program, person):
        with peer(due, answers(body, x_receipt_id="rcp_1") if paid else answers(body)) as there:
            told = type_it(f"{line} --yes --url {there.url}")
        assert (told.code, bool(told.err)) == (5, True)
        shown = body.decode().replace("\x1b", "\\u001b" if type_it is person else "\x1b")
        assert told.out == (f"{shown}\n" if paid else "")


def test_what_is_free_is_never_paid_for(program: Typed) -> None:
    with peer(says({"error": {"code": "PAYMENT_REQUIRED", "message": "pay"}}, 402)) as there:
        assert program(f"billing --url {there.url}").code == 3
    assert len(there.heard) == 1
