"""A saved receipt is verified with nothing but itself. Those here are signed by code that is not ours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.__main__ import run
from tests.admin.conftest import Told, Verdict
from tests.payments.receipts import RECEIPT

Verify = Callable[..., Told]

SERVICE = Account.from_key("0x" + "17" * 32)


def sign(receipt: Any, account: Any = SERVICE) -> dict[str, Any]:
    """RFC 8785 of letters and whole numbers is what Python's own encoder writes, its members sorted."""
    text = json.dumps(receipt, sort_keys=True, separators=(",", ":"))
    signature = account.sign_message(encode_defunct(text=text)).signature.to_0x_hex()
    return {"receipt": receipt, "signer": account.address, "signature": signature}


SIGNED = sign(msgspec.to_builtins(RECEIPT))


@pytest.fixture
def verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Save an answer and verify the file."""

    def typed(saved: object, signer: str | None = None) -> Told:
        path = tmp_path / "receipt.json"
        path.write_bytes(saved if isinstance(saved, bytes) else json.dumps(saved).encode())
        capsys.readouterr()
        words = [] if signer is None else ["--signer", signer]
        return Told(run(["admin", "receipts", "verify", str(path), *words], {}), *capsys.readouterr())

    return typed


def with_receipt(**changed: object) -> dict[str, Any]:
    return {**SIGNED, "receipt": {**SIGNED["receipt"], **changed}}


def test_a_receipt_is_shown_with_who_signed_it(verified: Verify) -> None:
    told = verified(SIGNED)
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0] == "id            rcp_0000000000000000000001"
    assert "price_usdc    0.005" in lines
    assert "settlement    remote" in lines
    assert f"As it was signed by {SERVICE.address}. Whether that is" in " ".join(lines)
    assert "compare `receiptSigner`" in told.out
    assert max(map(len, lines)) <= 80


def test_a_receipt_of_the_signer_that_was_asked_for_is_good(verified: Verify) -> None:
    for spelling in (SERVICE.address, SERVICE.address.lower()):
        told = verified(SIGNED, spelling)
        assert (told.code, told.out.splitlines()[-1]) == (
            0,
            f"As it was signed by {SERVICE.address}, as asked.",
        )


def test_a_receipt_of_another_signer_is_told(verified: Verify) -> None:
    told = verified(SIGNED, "0x" + "2" * 40)
    assert (told.code, told.out.splitlines()[-1]) == (1, f"SIGNED BY SOMEBODY ELSE: {SERVICE.address}.")


@pytest.mark.parametrize("field", sorted(SIGNED["receipt"].keys() - {"schema"}))
def test_a_receipt_with_any_field_changed_is_found(verified: Verify, field: str) -> None:
    value = SIGNED["receipt"][field]
    changed = {"settlement": "chain", "user_id": 8}.get(field, f"{value}0")
    told = verified(with_receipt(**{field: changed}))
    assert told.code == 1
    assert "NOT AS IT WAS SIGNED" in told.out


def test_a_field_that_was_added_is_found(verified: Verify) -> None:
    assert verified(with_receipt(gift="a pony")).code == 1


def test_a_receipt_that_names_another_signer_than_its_own_is_found(verified: Verify) -> None:
    assert verified({**SIGNED, "signer": "0x" + "2" * 40}).code == 1


def test_a_forger_who_signs_a_receipt_anew_is_found_by_whoever_knows_the_signer(verified: Verify) -> None:
    forged = {**SIGNED["receipt"], "amount": "5000000"}
    document = sign(forged, Account.from_key("0x" + "66" * 32))
    assert verified(document).code == 0
    assert verified(document, SERVICE.address).code == 1


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "0x",
        SIGNED["signature"][2:],
        SIGNED["signature"][:-2],
        SIGNED["signature"] + "00",
        SIGNED["signature"][:-2] + "1d",
        "0x" + "00" * 65,
        SIGNED["signature"][:4] + "  " + SIGNED["signature"][6:],
    ],
)
def test_what_is_no_signature_proves_nothing(verified: Verify, signature: str) -> None:
    assert verified({**SIGNED, "signature": signature}).code == 1


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        (b"", "this is not JSON"),
        (b"{", "this is not JSON"),
        (b'{"receipt":1,"receipt":2}', "a member is repeated"),
        (b"[" * 100_000, "this is not JSON"),
        (b"[]", "this is not a signed receipt: save the whole answer of /api/receipts/{id}"),
        (SIGNED["receipt"], "this is not a signed receipt"),
        ({**SIGNED, "signature": 7}, "this is not a signed receipt"),
        ({**SIGNED, "receipt": {**SIGNED["receipt"], "schema": "verdict-receipt/2"}}, "this is not a signed receipt"),
        ({"schemaVersion": 1, "error": {"code": "NOT_FOUND"}}, "this answer is a failure (NOT_FOUND), not a receipt"),
    ],
)
def test_what_is_no_receipt_is_refused_in_one_line(verified: Verify, saved: object, said: str) -> None:
    told = verified(saved)
    assert told.code == 4
    assert said in told.err
    assert told.err.count("\n") == 1


def test_a_signer_that_is_no_address_is_refused(verified: Verify) -> None:
    told = verified(SIGNED, "0x1")
    assert (told.code, told.err) == (1, "verdict: --signer: an address is 0x and 40 hexadecimal digits\n")


def test_nothing_in_a_file_steers_the_terminal(verified: Verify) -> None:
    told = verified(with_receipt(route="\x1b[2J\x07", resource="\u202e" + "a" * 300))
    assert told.code == 1
    assert all(letter.isprintable() or letter == "\n" for letter in told.out)
    assert max(map(len, told.out.splitlines())) <= 80


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*SIGNED, *SIGNED["receipt"]]), inner),
        max_leaves=8,
    )
)
def test_no_file_brings_it_down(verified: Verify, value: object) -> None:
    assert verified({**SIGNED, "receipt": value}).code in {1, 4}
    assert verified(with_receipt(resource=value)).code in {1, 4}


def test_the_command_needs_no_data_folder(verdict: Verdict, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(SIGNED))
    told = verdict(
        "admin", "receipts", "verify", str(path), "--signer", SERVICE.address, data_dir=str(tmp_path / "none")
    )
    assert told.code == 0
    assert not (tmp_path / "none").exists()
