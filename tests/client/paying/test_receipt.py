"""A receipt is kept with every purchase, and it is said where it does not prove it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from service.__main__ import run
from service.client.answer import RawAnswer, RefusedError, UnreachableError, UnreadableAnswerError
from service.client.paying.terms import OpenPaymentError
from service.ethereum.signatures import recover_personal
from tests.client.paying.stand import ASKED, BODY, NAME, NOTHING, SIGNER, URL, Stand, answered, asking, sold

PAID = f"paid 0.005 USDC on eip155:84532 to 0x2222222222222222222222222222222222222222; receipt {NAME}"


def bought(stand: Stand) -> Any:
    stand.buy()
    (kept,) = stand.store.receipts()
    return kept


def test_an_honest_receipt_is_kept_and_can_be_verified_by_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = bought(Stand(tmp_path, sold()))
    assert (kept.name, kept.proven, kept.record["service"]) == (NAME, True, URL)
    assert (kept.paid.amount, kept.paid.header, kept.paid.what) == (5_000, "", "GET /api/cli/coin/risk/BTC")
    assert kept.record["receipt"]["nonce"] == kept.paid.nonce
    assert "header" not in kept.record["paid"]
    assert run(["admin", "receipts", "verify", str(kept.path), "--signer", SIGNER.address], {}) == 0
    assert "As it was signed by" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"request_hash": "00" * 32}, "its request_hash is another"),
        ({"response_hash": "00" * 32}, "its response_hash is another"),
        ({"amount": "50000"}, "its amount is another"),
        ({"network": "eip155:8453"}, "its network is another"),
        ({"pay_to": "0x" + "33" * 20}, "its pay_to is another"),
        ({"payer": "0x" + "33" * 20}, "its payer is another"),
        ({"nonce": "0x" + "00" * 32}, "its nonce is another"),
    ],
)
def test_a_receipt_of_another_purchase_is_kept_and_named(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    stand = Stand(tmp_path, sold())
    stand.receipt = changes
    kept = bought(stand)
    assert (kept.proven, kept.record["faults"]) == (False, [said])
    assert stand.told == [f"{PAID}; {said}"]


def test_a_receipt_signed_by_another_than_it_names_is_named(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.buy()
    honest = stand.written()
    digits = honest["signature"]
    another = f"{digits[:20]}{int(digits[20], 16) ^ 1:x}{digits[21:]}"
    for signature in (another, "0x" + "11" * 65, "0x", None, 7, honest["signature"] + "00"):
        other = Stand(tmp_path / str(signature)[-8:], sold())
        other.signed = {**honest, "signature": signature}
        faults = bought(other).record["faults"]
        assert faults == ["its nonce is another", "its signature is not by whom it names"]


def test_a_receipt_that_has_no_canonical_text_is_signed_by_nobody(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.signed = {"receipt": {"amount": 2**60}, "signer": SIGNER.address, "signature": "0x" + "11" * 65}
    assert bought(stand).record["faults"][-1] == "its signature is not by whom it names"


def test_a_receipt_of_another_signer_than_the_manifest_says_is_named(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.signs = Account.from_key(b"\x66" * 32)
    assert bought(stand).record["faults"] == ["it is not signed by the service's receiptSigner"]


@pytest.mark.parametrize("signed", [[], {"receipt": {}}, {"receipt": [], "signer": "", "signature": ""}, 7, "x"])
def test_what_is_no_receipt_is_named(tmp_path: Path, signed: Any) -> None:
    stand = Stand(tmp_path, sold())
    stand.signed = signed or {"a": 1}
    assert bought(stand).record["faults"] == ["what the service calls its receipt is none"]


@pytest.mark.parametrize("manifest", [{"data": {}}, {"data": []}, {}])
def test_a_service_without_a_signer_is_named(tmp_path: Path, manifest: Any) -> None:
    stand = Stand(tmp_path, sold())
    stand.manifest = manifest
    (fault,) = bought(stand).record["faults"]
    assert fault.startswith(("what the service calls", "it could not be fetched"))


@pytest.mark.parametrize(
    "error",
    [UnreachableError("gone"), UnreadableAnswerError("no JSON"), RefusedError(404, {}, {"error": {"message": "none"}})],
)
def test_a_receipt_that_cannot_be_fetched_costs_nobody_the_answer(tmp_path: Path, error: Exception) -> None:
    class Gone(Stand):
        def ask(self, method: str, path: str, *, headers: Mapping[str, str] = NOTHING) -> RawAnswer:
            assert (method, path, headers) == ("GET", f"/api/receipts/{NAME}", {})
            raise error

    stand = Stand(tmp_path, sold())
    assert stand.buyer().buy(asking(), stand.send, Gone(tmp_path)).body == BODY
    (kept,) = stand.store.receipts()
    assert (kept.proven, kept.record["faults"]) == (False, [f"it could not be fetched ({error})"])
    assert "receipt" not in kept.record
    assert stand.store.opened() == []


def test_a_receipt_that_cannot_be_kept_costs_nobody_the_answer_and_leaves_the_payment(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.store.folder.mkdir()
    (stand.store.folder / "receipts").write_text("a file stands where the folder should")
    assert stand.buy().body == BODY
    assert stand.told[0].startswith(f"{PAID}; it could not be kept (")
    assert len(stand.store.opened()) == 1


@pytest.mark.parametrize("name", ["../../../etc/passwd", "a/b", "", "x" * 65, "..", "a b", "ü", "a\nb"])
def test_a_name_that_would_lead_elsewhere_is_no_receipt(tmp_path: Path, name: str) -> None:
    assert answered(**{"x-receipt-id": name}).receipt_id is None
    stand = Stand(tmp_path, sold(name))
    stand.buy()
    assert stand.store.receipts() == []


def test_services_do_not_overwrite_each_others_receipts_and_the_newest_comes_first(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.buy()
    stand.pass_seconds(1)
    stand.buy(asking(asked=ASKED._replace(url="http://127.0.0.1:1")))
    first, second = stand.store.receipts()
    assert (first.record["service"], second.record["service"]) == ("http://127.0.0.1:1", URL)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"paid": {}}', b'{"paid": {"url": 1}}', b'{"paid": 7}'])
def test_a_file_that_is_no_receipt_is_left_out(tmp_path: Path, content: bytes) -> None:
    stand = Stand(tmp_path, sold())
    stand.buy()
    (stand.store.folder / "receipts" / "other.json").write_bytes(content)
    assert [kept.name for kept in stand.store.receipts()] == [NAME]


def test_who_pays_without_an_account_reads_the_receipt_by_the_payers_signature(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.token = None
    kept = bought(stand)
    assert (kept.proven, kept.record["faults"]) == (True, [])
    at_s = stand.clock.now_ms() // 1_000
    proof = stand.proofs[0]
    assert proof["X-Payer-Time"] == str(at_s)
    signer = recover_personal(f"Read receipt {NAME}\nTime: {at_s}", bytes.fromhex(proof["X-Payer-Signature"][2:]))
    assert signer.lower() == stand.wallet.address.lower()
    assert stand.proofs[1:] == [{}], "nothing is signed for the manifest"


def test_who_has_an_account_signs_nothing_to_read_a_receipt(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    stand.buy()
    assert stand.proofs == [{}, {}]


def test_a_kept_payment_without_an_account_opens_the_wallet_before_it_is_sent_again(tmp_path: Path) -> None:
    stand = Stand(tmp_path, UnreachableError("gone", sent=True))
    stand.token = None
    with pytest.raises(OpenPaymentError):
        stand.buy()
    stand.script, stand.opened = [sold()], 0
    stand.buy()
    assert (stand.opened, len(stand.proofs)) == (1, 2)
    assert stand.proofs[0].keys() == {"X-Payer-Time", "X-Payer-Signature"}
