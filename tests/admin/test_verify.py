"""`verdict verify`: a saved answer in any form is the same, and with a character changed it never is."""

import io
import json
import re
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.__main__ import run
from service.verdict.decide import decide
from service.wire.envelope import Answer, success
from service.wire.verdict import VerdictInputs
from tests.admin.conftest import Told, Verdict
from tests.verdict.jcs import write
from tests.verdict.knowledge import inputs
from tests.verdict.known import KNOWN, known, without

Verify = Callable[[object], Told]
ANSWER: dict[str, Any] = msgspec.json.decode(success(Answer(decide(KNOWN), as_of_ms=0), 1))


@pytest.fixture
def verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Save an answer and verify the file."""

    def typed(saved: object) -> Told:
        path = tmp_path / "answer.json"
        path.write_bytes(saved if isinstance(saved, bytes) else json.dumps(saved).encode())
        capsys.readouterr()
        return Told(run(["verify", str(path)], {}), *capsys.readouterr())

    return typed


def with_data(**changed: object) -> dict[str, Any]:
    return {**ANSWER, "data": {**ANSWER["data"], **changed}}


@pytest.mark.promise("signal.verify")
def test_a_saved_answer_is_recomputed_and_shown(verified: Verify) -> None:
    told = verified(ANSWER)
    assert told.code == 0
    verdict = decide(KNOWN)
    assert told.out == (
        "COIN  VERDICT      SCORE  CONFIDENCE  AS OF\n"
        "BTC   strong-bull  +2.50  high        2025-07-25T00:00:00.000Z\n"
        "\n"
        "RULE              VALUE    POINTS  FLIPS AT\n"
        "trend-daily       UP       +0.50   HODL\n"
        "trend-weekly      UP       +1.00   HODL\n"
        "regime-market     risk-on  +0.50   neutral\n"
        "regime-coin       risk-on  +0.50   neutral\n"
        "funding-level     12.5     +0.00   21.9\n"
        "funding-momentum  1.25     +0.00   10.0\n"
        "sentiment         neutral  +0.00   distribution\n"
        "\n"
        "Recomputed from the inputs in the file (symbol, as_of, sources, raw):\n"
        "  7 rules and their sum, 9 sentences, confidence and what it rests on\n"
        "  rule set    verdict-rules version 2\n"
        f"  its digest  {verdict.ruleset.digest}\n"
        f"  verdict_id  {verdict.verdict_id}\n"
        "\n"
        "The same: every field of the verdict, and its identity.\n"
    )


@pytest.mark.parametrize("field", ["claims", "record", "track_record"])
def test_claims_and_record_are_said_not_to_be_recomputed(verified: Verify, field: str) -> None:
    told = verified(with_data(**{field: {}}))
    assert told.code == 0
    assert "Not recomputed: its claims and its record, which are no part of the verdict.\n" in told.out


def test_what_differs_is_named_with_both_values(verified: Verify) -> None:
    told = verified(with_data(verdict="bear", score=-1))
    assert told.code == 1
    assert told.out.endswith(
        "\nNOT THE SAME in 2 fields:\n"
        "FIELD    SAVED   RECOMPUTED\n"
        'verdict  "bear"  "strong-bull"\n'
        "score    -1      2.5\n"
    )
    assert "The same:" not in told.out


def test_an_input_that_was_changed_changes_the_identity(verified: Verify) -> None:
    raw = {**ANSWER["data"]["raw"], "risk": {**ANSWER["data"]["raw"]["risk"], "price": 1.0}}
    told = verified(with_data(raw=raw))
    assert told.code == 1
    assert "NOT THE SAME in 1 field:\n" in told.out
    assert f'verdict_id  "{ANSWER["data"]["verdict_id"][:20]}' in told.out


def test_of_long_values_the_part_that_differs_is_shown(verified: Verify) -> None:
    evidence = list(ANSWER["data"]["evidence"])
    evidence[0] = evidence[0].replace("counts for BTC.", "counts against BTC.")
    assert verified(with_data(evidence=evidence)).out.endswith(
        'FIELD        SAVED                   RECOMPUTED\nevidence[0]  … counts against BTC."  … counts for BTC."\n'
    )


def test_many_differences_are_counted(verified: Verify) -> None:
    told = verified(with_data(evidence=[f"{number}" for number in range(30)]))
    assert told.code == 1
    assert "NOT THE SAME in 30 fields:\n" in told.out
    assert told.out.endswith("… and 10 more\n")
    assert len(told.out.partition("NOT THE SAME")[2].splitlines()) == 23


def test_no_line_is_wider_than_eighty_columns_and_nothing_steers_the_terminal(verified: Verify) -> None:
    mean = "\x1b[2J" + "w" * 300
    told = verified(with_data(evidence=[mean] * 9, **{mean: mean}))
    assert told.code == 1
    assert max(map(len, told.out.splitlines())) <= 80
    assert "\x1b" not in told.out
    answer = msgspec.to_builtins(decide(msgspec.structs.replace(KNOWN, symbol=mean, as_of=mean)))
    told = verified(answer)
    assert told.code == 0
    assert max(map(len, told.out.splitlines())) <= 80
    assert "\x1b" not in told.out


@pytest.mark.parametrize(
    ("saved", "says"),
    [
        (b"", "this is not JSON"),
        (b"{", "this is not JSON"),
        (b"\xff\xfe\xfd", "this is not JSON"),
        (b'{"score": NaN}', "this is not JSON: NaN is no number"),
        (b'{"score": 1, "score": 2}', "this is not JSON: a member is repeated"),
        (b"[" * 100_000, "this is not JSON"),
        (b"1" * 5_000, "this is not a verdict"),
        (b" " * (2**20 + 1), "is over 1 MiB: no answer is"),
        ([], "this is not a verdict: save the whole answer of /api/cli/signal/{symbol}"),
        (None, "this is not a verdict: save"),
        ({"schemaVersion": 1, "data": [], "meta": {}}, "this is not a verdict: save"),
        ({"schemaVersion": 1, "data": {"symbol": "BTC", "price": 1}, "meta": {}}, "this is not a verdict: no rule set"),
        (
            {"schemaVersion": 1, "error": {"code": "UNKNOWN_SYMBOL", "message": "no"}},
            "this answer is a failure (UNKNOWN_SYMBOL), not a verdict",
        ),
        (with_data(ruleset={"name": "verdict-rules", "version": 9, "digest": ""}), "use a release that has the other"),
        (with_data(raw=7), "this verdict's inputs cannot be read"),
        (with_data(ruleset={"name": "\x1b[2J", "version": 1, "digest": ""}), "given by \ufffd[2J version 1"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_a_line_of_its_own_code(
    verified: Verify, saved: object, says: str
) -> None:
    told = verified(saved)
    assert (told.code, told.out) == (4, "")
    assert says in told.err
    assert told.err.removesuffix("\n").isprintable()


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, reason in ((tmp_path / "none.json", "No such file or directory"), (tmp_path, "Is a directory")):
        assert run(["verify", str(path)], {}) == 4
        assert capsys.readouterr().err == f"verdict: cannot read {path}: {reason}\n"


def test_a_dash_reads_what_is_piped_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(ANSWER).encode())))
    assert run(["verify", "-"], {}) == 0
    assert capsys.readouterr().out.startswith("COIN")


@pytest.mark.promise("signal.verify", "rules.version-1")
def test_an_answer_saved_before_version_2_of_the_rules_still_verifies(verified: Verify) -> None:
    saved = (Path(__file__).parents[1] / "verdict" / "version_1" / "answer.json").read_bytes()
    told = verified(saved)
    assert told.code == 0
    assert "  rule set    verdict-rules version 1\n" in told.out
    assert told.out.endswith("The same: every field of the verdict, and its identity.\n")
    forged = verified(saved.replace(b'"probability_up": 0.65', b'"probability_up": 0.75'))
    assert (forged.code, forged.out.count("track_record.probability_up  0.75   0.65\n")) == (1, 1)


@pytest.mark.promise("signal.verify")
def test_neither_a_service_nor_a_data_folder_nor_settings_are_needed(
    verdict: Verdict, data_dir: Path, tmp_path: Path
) -> None:
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(ANSWER))
    assert verdict("verify", str(path), nonsense="a setting that does not exist").code == 0
    assert not data_dir.exists()
    refused = verdict("verify", str(tmp_path / "none"))
    assert (refused.code, refused.out) == (4, "")
    assert refused.err.startswith("verdict: cannot read ")


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the fixture keeps nothing between examples
@given(
    saved=st.binary()
    | st.recursive(st.none() | st.integers() | st.text(), lambda some: st.dictionaries(st.text(), some))
)
def test_whatever_a_file_holds_there_is_an_answer_and_no_traceback(verified: Verify, saved: object) -> None:
    assert verified(saved).code == 4


Code = Callable[[bytes], int]
ODD = {
    "negative zero": known(risk__funding_apr=-0.0),
    "an exponent": known(risk__price=1e21),
    "21 digits": known(risk__price=123456789012345680000.0),
    "beyond 2^53": known(risk__price=9007199254740994.0),
    "the smallest": known(risk__price=5e-324),
    "the largest": known(risk__price=1.7976931348623157e308),
    "a sum": known(funding__apr_24h=0.1 + 0.2),
    "almost a bound": known(risk__funding_apr=21.89996),
    "any text": known(sentiment__summary='Ü😀\u2028\x7f\u009b31m "q" \\ / \x00 {symbol} %s'),
    "half of it": without(known(), "sentiment", "regime"),
}


@pytest.fixture
def code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Code:
    """The exit code for a file; what is printed cannot steer a terminal."""

    def verified(content: bytes) -> int:
        path = tmp_path / "saved.json"
        path.write_bytes(content)
        found = run(["verify", str(path)], {})
        assert capsys.readouterr().out.replace("\n", "").isprintable()
        return found

    return verified


def answer(known_of_it: VerdictInputs) -> bytes:
    return success(Answer(decide(known_of_it), as_of_ms=0), 1)


def with_numbers(value: Any, change: Callable[[float], object]) -> Any:
    if isinstance(value, dict):
        return {name: with_numbers(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [with_numbers(item, change) for item in value]
    return change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@pytest.mark.parametrize("inputs", ODD.values(), ids=ODD)
def test_whoever_saved_it_in_whichever_form_it_is_the_same(code: Code, inputs: VerdictInputs) -> None:
    sent = answer(inputs)
    document = json.loads(sent)
    forms = [
        sent,
        b"\xef\xbb\xbf" + sent,
        json.dumps(document).encode(),
        json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False).encode("utf-16"),
        write(document),  # as JavaScript's JSON.stringify
        json.dumps(with_numbers(document, float)).encode(),  # as Gson reads into maps
        json.dumps(document["data"]).encode(),
    ]
    assert [code(form) for form in forms] == [0] * len(forms)


def test_no_digit_of_it_can_be_changed(code: Code) -> None:
    changed = 0
    for known_of_it in [known(), *islice(inputs(), 2)]:
        text = msgspec.json.encode(decide(known_of_it)).decode()
        meant = json.loads(text)
        for found in islice(re.finditer(r"[0-9]", text), 0, None, 3):
            at = found.start()
            other = f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"
            if json.loads(other) != meant:  # the seventeenth digit may be another way to write the same double
                assert code(other.encode()) != 0, other[max(0, at - 60) : at + 10]
                changed += 1
    assert changed > 200


@pytest.mark.parametrize("price", ["1e999", "1" + "0" * 400, "-1e999", "NaN", "1" * 5_000])
def test_a_number_that_is_none_is_refused(code: Code, price: str) -> None:
    assert code(answer(known()).replace(b'"price":117345.5', f'"price":{price}'.encode())) == 4
