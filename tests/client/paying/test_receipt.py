"""A receipt is stored with every purchase, with its differences from the purchase."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from service.__main__ import run
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.paying.terms import OpenPaymentError
from service.ethereum.signatures import recover_personal
from tests.client.paying.stand import ASKED, BODY, NAME, NOTHING, SIGNER, URL, Stand, asking, lost, sold

FOREIGN = Account.from_key(b"\x66" * 32)
NOT_BY = "The receipt is not signed by the signer that it names."
NONE = "The service did not send a valid receipt."
NO_ENVELOPE = "The answer has no `data`. Check that the URL is that of a Verdict service."
GONE = UnreachableError("gone")


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path, sold())


def bought(stand: Stand) -> Any:
    stand.buy()
    [kept] = stand.store.receipts()
    return kept


def test_an_honest_receipt_is_stored_and_can_be_verified_by_its_file(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = bought(stand)
    assert (kept.name, kept.proven, kept.record["service"], kept.paid.header) == (NAME, True, URL, "")
    assert (kept.paid.amount, kept.paid.what) == (5_000, "GET /api/cli/coin/risk/BTC")
    assert kept.record["receipt"]["nonce"] == kept.paid.nonce
    assert "header" not in kept.record["paid"]
    assert stand.proofs == [{}, {}]
    assert run(["admin", "receipts", "verify", str(kept.path), "--signer", SIGNER.address], {}) == 0
    assert "Valid: signed by" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "faults"),
    [
        *(
            ({"receipt": {name: value}}, [f"The receipt has another {name}."])
            for name, value in (
                ("request_hash", "00" * 32), ("response_hash", "00" * 32), ("amount", "50000"),
                ("network", "eip155:8453"), ("pay_to", "0x" + "33" * 20), ("payer", "0x" + "33" * 20),
                ("nonce", "0x" + "00" * 32),
            )
        ),
        *(({"signature": text}, [NOT_BY]) for text in ("0x" + "11" * 65, "0x", None, 7)),
        ({"signs": FOREIGN}, ["The receipt is not signed by the service's receiptSigner."]),
        ({"receipt": {"amount": 2**60}}, ["The receipt has another amount.", NOT_BY]),
        *(({"signed": signed}, [NONE]) for signed in list[Any](({"a": 1}, {"receipt": {}}, 7, "x"))),
        ({"signed": {"receipt": [], "signer": "", "signature": ""}}, [NONE]),
        ({"manifest": {"data": {}}}, [NONE]),
        ({"manifest": {"data": []}}, [NONE]),
        ({"manifest": {}}, [f"The receipt could not be fetched: {NO_ENVELOPE}"]),
        ({"fails": GONE}, ["The receipt could not be fetched: gone"]),
        ({"fails": UnreadableAnswerError("no JSON")}, ["The receipt could not be fetched: no JSON"]),
        ({"fails": RefusedError(404, {}, {"error": "none"})}, ["The receipt could not be fetched: none."]),
    ],
)  # fmt: skip
def test_a_receipt_that_does_not_prove_the_purchase_is_stored_with_the_reason(
    stand: Stand, changed: dict[str, Any], faults: list[str]
) -> None:
    for name, value in changed.items():
        setattr(stand, name, value)
    kept = bought(stand)
    assert (kept.proven, kept.record["faults"], stand.store.opened()) == (False, faults, [])
    assert stand.told[0].endswith(f"The receipt is {NAME}. {' '.join(faults)}")


def test_a_receipt_that_cannot_be_stored_leaves_the_answer_and_the_open_payment(stand: Stand) -> None:
    stand.store.folder.mkdir()
    (stand.store.folder / "receipts").write_text("a file where the folder should be")
    assert stand.buy().body == BODY
    assert "The receipt could not be stored: Cannot write " in stand.told[0]
    assert len(stand.store.opened()) == 1


def test_a_receipt_id_that_could_lead_elsewhere_is_none(stand: Stand) -> None:
    for name in ("../../../etc/passwd", "a/b", "", "x" * 65, "..", "a b", "\u00fc", "a\nb"):
        stand.script = [sold(name)]
        assert stand.buy().receipt_id is None
    assert stand.store.receipts() == []


def test_services_do_not_overwrite_each_others_receipts_and_other_files_are_skipped(stand: Stand) -> None:
    stand.buy()
    stand.pass_seconds(1)
    stand.buy(asking(asked=ASKED._replace(url="http://127.0.0.1:1")))
    for number, content in enumerate((b"", b"[]", b"{}", b'{"paid": {}}', b'{"paid": {"url": 1}}', b'{"paid": 7}')):
        (stand.store.folder / "receipts" / f"{number}.json").write_bytes(content)
    assert [kept.record["service"] for kept in stand.store.receipts()] == ["http://127.0.0.1:1", URL]


def test_a_payer_without_an_account_signs_to_read_the_receipt_and_opens_the_wallet_before_paying(stand: Stand) -> None:
    stand.token, stand.script = None, [lost()]
    with pytest.raises(OpenPaymentError):
        stand.buy()
    stand.script, stand.opened = [sold()], 0
    kept, at_s = bought(stand), stand.clock.now_ms() // 1_000
    assert (kept.proven, stand.opened) == (True, 1)
    proof: Mapping[str, str] = stand.proofs[0]
    signer = recover_personal(f"Read receipt {NAME}\nTime: {at_s}", bytes.fromhex(proof["X-Payer-Signature"][2:]))
    assert (proof["X-Payer-Time"], signer.lower()) == (str(at_s), stand.wallet.address.lower())
    assert stand.proofs[1:] == [NOTHING], "nothing is signed for the manifest"
