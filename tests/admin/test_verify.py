"""`verdict verify` and `verdict admin receipts verify`: a saved answer proves itself; changed or hostile, it does not.

Receipts here are signed by code that is not ours.
"""

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
from eth_account import Account
from eth_account.messages import encode_defunct
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.verdict.decide import decide
from service.wire.envelope import Answer, success
from service.wire.verdict import VerdictInputs
from tests.cli.commanding import Told, typed
from tests.payments.receipts import RECEIPT
from tests.verdict.jcs import write
from tests.verdict.known import KNOWN, known, without

Verify = Callable[..., Told]
SERVICE = Account.from_key("0x" + "17" * 32)
MEAN = "\x1b[2J\x07\u202e" + "w" * 300


def answer(inputs: VerdictInputs) -> bytes:
    return success(Answer(decide(inputs), as_of_ms=0), 1)


ANSWER: dict[str, Any] = msgspec.json.decode(answer(KNOWN))


def with_data(**changed: object) -> dict[str, Any]:
    return {**ANSWER, "data": {**ANSWER["data"], **changed}}


def sign(receipt: Any, account: Any = SERVICE) -> dict[str, Any]:
    """RFC 8785 of letters and whole numbers is what Python's own encoder writes, its members sorted."""
    text = json.dumps(receipt, sort_keys=True, separators=(",", ":"))
    signature = account.sign_message(encode_defunct(text=text)).signature.to_0x_hex()
    return {"receipt": receipt, "signer": account.address, "signature": signature}


SIGNED = sign(msgspec.to_builtins(RECEIPT))


def with_receipt(**changed: object) -> dict[str, Any]:
    return {**SIGNED, "receipt": {**SIGNED["receipt"], **changed}}


@pytest.fixture
def verified(tmp_path: Path) -> Verify:
    """Save an answer and verify the file, with settings that are not valid: none is read."""

    def run(saved: object, *words: str, command: str = "verify") -> Told:
        path = tmp_path / "answer.json"
        path.write_bytes(saved if isinstance(saved, bytes) else json.dumps(saved).encode())
        environment = {"NO_COLOR": "1", "VERDICT_NONSENSE": "1", "VERDICT_DATA_DIR": str(tmp_path / "none")}
        told = typed(*command.split(), str(path), *words, environment=environment, terminal=True)
        assert not (tmp_path / "none").exists()
        assert told.out.replace("\n", "").isprintable()
        assert told.err.removesuffix("\n").isprintable()
        return told

    return run


@pytest.fixture
def receipt(verified: Verify) -> Verify:
    return lambda saved, *words: verified(saved, *words, command="admin receipts verify")


@pytest.mark.promise("signal.verify")
def test_a_saved_answer_is_recomputed_and_shown(verified: Verify) -> None:
    told = verified(ANSWER)
    verdict = decide(KNOWN)
    assert (told.code, told.out) == (
        0,
        f"""COIN  VERDICT      SCORE  CONFIDENCE  AS OF
BTC   strong-bull  +2.50  high        2025-07-25T00:00:00.000Z

RULE              VALUE    POINTS  FLIPS AT
trend-daily       UP       +0.50   HODL
trend-weekly      UP       +1.00   HODL
regime-market     risk-on  +0.50   neutral
regime-coin       risk-on  +0.50   neutral
funding-level     12.5     +0.00   21.9
funding-momentum  1.25     +0.00   10.0
sentiment         neutral  +0.00   distribution

Recomputed from the inputs in the file (symbol, as_of, sources, raw):
  7 rules and their sum, 9 sentences, confidence and what it rests on
  rule set    verdict-rules version 2
  its digest  {verdict.ruleset.digest}
  verdict_id  {verdict.verdict_id}

Unchanged: every field of the verdict and its verdict_id match.
""",
    )


CHANGED_RAW = {**ANSWER["data"]["raw"], "risk": {**ANSWER["data"]["raw"]["risk"], "price": 1.0}}
CHANGED_EVIDENCE = [ANSWER["data"]["evidence"][0].replace("for BTC.", "against BTC."), *ANSWER["data"]["evidence"][1:]]


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        *(({name: {}}, 0, "Not recomputed: its claims and") for name in ("claims", "record", "track_record")),
        (
            {"verdict": "bear", "score": -1}, 1,
            'in 2 fields.\nFIELD    SAVED   RECOMPUTED\nverdict  "bear"  "strong-bull"\nscore    -1      2.5\n',
        ),
        ({"raw": CHANGED_RAW}, 1, f'verdict_id  "{ANSWER["data"]["verdict_id"][:20]}'),
        (
            {"evidence": CHANGED_EVIDENCE}, 1,
            'RECOMPUTED\nevidence[0]  … counts against BTC."  … counts for BTC."\n',
        ),
        ({"evidence": ["x"] * 30}, 1, "CHANGED: the recomputed verdict differs in 30 fields.\n"),
        ({"evidence": ["x"] * 30}, 1, "\n… and 10 more\n"),
        ({"evidence": [MEAN] * 9, MEAN: MEAN}, 1, "CHANGED: "),
    ],
)  # fmt: skip
def test_what_differs_is_named_with_both_values_in_80_columns(
    verified: Verify, changed: dict[str, object], code: int, said: str
) -> None:
    told = verified(with_data(**changed))
    assert told.code == code
    assert said in told.out
    assert ("Unchanged:" in told.out) == (code == 0)
    assert max(map(len, told.out.splitlines())) <= 80


def test_a_verdict_on_a_hostile_name_is_shown_within_the_line(verified: Verify) -> None:
    told = verified(msgspec.to_builtins(decide(msgspec.structs.replace(KNOWN, symbol=MEAN, as_of=MEAN))))
    assert (told.code, max(map(len, told.out.splitlines())) <= 80) == (0, True)


FAILURE = {"schemaVersion": 1, "error": {"code": "UNKNOWN\x1b", "message": "no"}}
NOT_JSON = "This is not JSON"
TERMINAL_TEXT = b"COIN  VERDICT\n" + b"[ ] " * 40 + b"[{" * 40
SAVE_VERDICT = "`verdict signal SYMBOL --detail full --json`, or of /api/cli/signal/{symbol}?detail=full."
SAVE_RECEIPT = "`verdict billing show ID --json`, or of /api/receipts/{id}."
NO_VERDICT, NO_RECEIPT = "This is not a verdict. Save", "Save the whole answer of /api/receipts/{id}."


@pytest.mark.parametrize(
    ("command", "saved", "said"),
    [
        *(
            (command, saved, said)
            for command in ("verify", "admin receipts verify")
            for saved, said in [
                (b"", NOT_JSON), (b"{", NOT_JSON), (b"\xff\xfe\xfd", NOT_JSON), (b"[" * 100_000, NOT_JSON),
                (b"[" * 40 + b"]" * 40, "It is nested more than 32 deep"),
                (TERMINAL_TEXT, SAVE_RECEIPT if " " in command else SAVE_VERDICT),
                (b'{"score": NaN}', "NaN is not a number."), (b'{"a": 1, "a": 2}', "A member is repeated."),
                (b" " * (2**20 + 1), "is over 1 MiB. No answer of"),
                (FAILURE, "This answer is a failure (UNKNOWN\ufffd), not a "),
                ([], NO_RECEIPT if " " in command else NO_VERDICT),
            ]
        ),
        ("verify", b"1" * 5_000, "This is not a verdict"),
        ("verify", {"schemaVersion": 1, "data": [], "meta": {}}, NO_VERDICT),
        ("verify", {"schemaVersion": 1, "data": {"symbol": "BTC"}}, "This is not a verdict, because it names no rule"),
        ("verify", with_data(ruleset={"name": "verdict-rules", "version": 9, "digest": ""}), "Use a release that has"),
        ("verify", with_data(raw=7), "The inputs of this verdict cannot be read"),
        ("verify", with_data(ruleset={"name": MEAN, "version": 1, "digest": ""}), "made by \ufffd[2J"),
        (
            "verify", {name: value for name, value in with_data(omitted={})["data"].items() if name != "raw"},
            "detail=full (`--detail full` on the command line)",
        ),
        ("admin receipts verify", SIGNED["receipt"], NO_RECEIPT),
        ("admin receipts verify", {**SIGNED, "signature": 7}, NO_RECEIPT),
        ("admin receipts verify", with_receipt(schema="verdict-receipt/2"), NO_RECEIPT),
    ],
)  # fmt: skip
def test_what_cannot_be_checked_is_refused_in_a_line_of_its_own_code(
    verified: Verify, command: str, saved: object, said: str
) -> None:
    told = verified(saved, command=command)
    assert (told.code, told.out, told.err.count("\n")) == (4, "", 1)
    assert said in told.err


@pytest.mark.parametrize("command", ["verify", "admin receipts verify"])
def test_a_file_is_read_by_its_name_or_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for path, reason in ((tmp_path / "none.json", "No such file or directory"), (tmp_path, "Is a directory")):
        told = typed(*command.split(), str(path))
        assert (told.code, told.out, told.err) == (4, "", f"verdict: Cannot read {path}: {reason}.\n")
    saved = ANSWER if command == "verify" else SIGNED
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(saved).encode())))
    assert typed(*command.split(), "-").code == 0


@pytest.mark.promise("signal.verify", "rules.version-1")
def test_an_answer_saved_before_version_2_of_the_rules_still_verifies(verified: Verify) -> None:
    saved = (Path(__file__).parents[1] / "verdict" / "version_1" / "answer.json").read_bytes()
    told = verified(saved)
    assert (told.code, "  rule set    verdict-rules version 1\n" in told.out) == (0, True)
    forged = verified(saved.replace(b'"probability_up": 0.65', b'"probability_up": 0.75'))
    assert (forged.code, forged.out.count("track_record.probability_up  0.75   0.65\n")) == (1, 1)


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


@pytest.mark.parametrize("inputs", ODD.values(), ids=ODD)
def test_whoever_saved_it_in_whichever_form_it_is_the_same(verified: Verify, inputs: VerdictInputs) -> None:
    sent = answer(inputs)
    document = json.loads(sent)
    forms = [
        sent,
        b"\xef\xbb\xbf" + sent,
        json.dumps(document).encode(),
        json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False).encode("utf-16"),
        write(document),  # as JavaScript's JSON.stringify
        json.dumps(json.loads(sent, parse_int=float)).encode(),  # as Gson reads into maps
        json.dumps(document["data"]).encode(),
    ]
    assert [verified(form).code for form in forms] == [0] * len(forms)


def test_no_digit_of_it_can_be_changed(verified: Verify) -> None:
    text, changed = msgspec.json.encode(decide(known())).decode(), 0
    meant = json.loads(text)
    for found in islice(re.finditer(r"[0-9]", text), 0, None, 3):
        at = found.start()
        other = f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"
        if json.loads(other) != meant:  # the seventeenth digit may be another way to write the same double
            assert verified(other.encode()).code != 0, other[max(0, at - 60) : at + 10]
            changed += 1
    assert changed > 60


@pytest.mark.parametrize("price", ["1e999", "1" + "0" * 400, "-1e999", "NaN", "1" * 5_000])
def test_a_number_that_is_none_is_refused(verified: Verify, price: str) -> None:
    saved = answer(known()).replace(b'"price":117345.5', f'"price":{price}'.encode())
    assert verified(saved).code == 4


def test_a_receipt_is_shown_with_who_signed_it(receipt: Verify) -> None:
    told = receipt(SIGNED)
    lines = told.out.splitlines()
    assert (told.code, lines[0]) == (0, "id            rcp_0000000000000000000001")
    assert {"price_usdc    0.005", "settlement    remote"} <= set(lines)
    assert f"Valid: signed by {SERVICE.address}. To check that this is" in " ".join(lines)
    assert "compare `receiptSigner`" in told.out
    assert max(map(len, lines)) <= 80


FORGED = sign({**SIGNED["receipt"], "amount": "5000000"}, Account.from_key("0x" + "66" * 32))
SIGNATURE, INVALID = SIGNED["signature"], "INVALID SIGNATURE"
NO_SIGNATURES = ["", "0x", SIGNATURE[2:], SIGNATURE[:-2], f"{SIGNATURE}00", f"{SIGNATURE[:-2]}1d", "0x" + "00" * 65]


@pytest.mark.parametrize(
    ("saved", "signer", "code", "said"),
    [
        (SIGNED, SERVICE.address, 0, f"Valid: signed by {SERVICE.address}, as required."),
        (SIGNED, SERVICE.address.lower(), 0, f"Valid: signed by {SERVICE.address}, as required."),
        (SIGNED, "0x" + "2" * 40, 1, f"WRONG SIGNER: signed by {SERVICE.address}, not by"),
        (SIGNED, "0x1", 1, ""),
        (FORGED, None, 0, "Valid: signed by"),
        (FORGED, SERVICE.address, 1, "WRONG SIGNER"),
        (with_receipt(gift="a pony"), None, 1, INVALID),
        (with_receipt(settlement="chain"), None, 1, INVALID),
        (with_receipt(user_id=8), None, 1, INVALID),
        (with_receipt(route=MEAN, resource=MEAN), None, 1, INVALID),
        *(
            (with_receipt(**{name: f"{SIGNED['receipt'][name]}0"}), None, 1, INVALID)
            for name in sorted(SIGNED["receipt"].keys() - {"schema", "settlement", "user_id"})
        ),
        ({**SIGNED, "signer": "0x" + "2" * 40}, None, 1, INVALID),
        *(({**SIGNED, "signature": signature}, None, 1, INVALID) for signature in NO_SIGNATURES),
        ({**SIGNED, "signature": f"{SIGNATURE[:4]}  {SIGNATURE[6:]}"}, None, 1, INVALID),
    ],
)  # fmt: skip
def test_a_receipt_that_was_changed_or_signed_by_another_is_found(
    receipt: Verify, saved: object, signer: str | None, code: int, said: str
) -> None:
    told = receipt(saved, *(["--signer", signer] if signer else []))
    assert told.code == code
    assert said in told.out
    assert max(map(len, told.out.splitlines() or [""])) <= 80
    assert told.err == ("" if said else "verdict: --signer: An address is 0x and 40 hexadecimal digits.\n")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from([*SIGNED, *SIGNED["receipt"]]), inner),
    max_leaves=8,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)  # nothing stays between examples
@given(value=ANYTHING, content=st.binary())
def test_no_file_brings_it_down(verified: Verify, receipt: Verify, value: object, content: bytes) -> None:
    assert {verified(saved).code for saved in (value, content)} == {4}
    assert {receipt({**SIGNED, "receipt": value}).code, receipt(with_receipt(resource=value)).code} <= {1, 4}
