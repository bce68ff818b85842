"""Programs pay with a wallet: within their limits, to one payee, once for each request; and never without a wallet."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from service.client import (
    AsyncVerdict,
    OpenPaymentError,
    RefusedError,
    UnpaidError,
    UnreachableError,
    Verdict,
    VerdictError,
    Wallet,
)
from tests.cli.recorded import ANSWERS
from tests.client.paying.stand import PAYEE, SECRET, asking, payment_in
from tests.client.sdk.peer import Reply, answers, peer, says
from tests.fakes.clock import FakeClock
from tests.payments.signing import row

WALLET = Wallet(SECRET)
RISK = (ANSWERS / "coin.risk.json").read_bytes()
NO_RECEIPT = says({"error": {"code": "NOT_FOUND", "message": "none"}}, 404)
SOLD = (answers(RISK, x_receipt_id="rcp_1"), NO_RECEIPT)
OTHER = "0x3333333333333333333333333333333333333333"


def due(payee: str = PAYEE) -> Reply:
    """A 402 for 0.005 USDC."""
    refusal = asking(row(pay_to=payee))
    return says(refusal.document, 402, payment_required=refusal.headers["payment-required"])


def refuses(code: str, status: int = 503, wait: str = "0") -> Reply:
    return says({"error": {"code": code, "message": "Not now."}}, status, retry_after=wait)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder, on a day that does not end."""
    monkeypatch.setattr("service.client.paying.buyer.SystemClock", FakeClock)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "verdict"


def test_a_call_within_the_limits_is_paid_for_and_names_its_receipt(state: Path) -> None:
    with peer(due(), *SOLD) as there, Verdict(there.url, "k", wallet=WALLET) as client:
        result = client.coin_risk("BTC")
    assert (result.data.symbol, result.receipt_id) == ("BTC", "rcp_1")
    authorization = payment_in({"PAYMENT-SIGNATURE": there.heard[1].headers["payment-signature"]})["payload"]
    assert authorization["authorization"]["value"] == "5000"
    assert authorization["authorization"]["to"] == PAYEE
    assert list(json.loads((state / "paying" / "spent.json").read_text())["spent"].values()) == [5_000]


async def test_the_async_client_pays_too() -> None:
    with peer(due(), *SOLD) as there:
        async with AsyncVerdict(there.url, "k", wallet=WALLET) as client:
            assert (await client.coin_risk("BTC")).receipt_id == "rcp_1"


def test_a_payer_without_an_account_signs_for_the_receipt() -> None:
    with peer(due(), *SOLD) as there, Verdict(there.url, wallet=WALLET) as client:
        client.coin_risk("BTC")
    assert "authorization" not in there.heard[1].headers
    assert there.heard[2].headers["x-payer-signature"].startswith("0x")


@pytest.mark.parametrize("limits", [{"max_price_usdc": "0.004"}, {"max_day_usdc": "0.004"}, {"max_price_usdc": "0"}])
def test_a_call_above_a_limit_is_not_paid_and_says_its_price(limits: dict[str, str]) -> None:
    with (
        peer(due()) as there,
        Verdict(there.url, "k", wallet=WALLET, **limits) as client,  # type: ignore[arg-type]
        pytest.raises(UnpaidError, match=r"0\.005 USDC") as raised,
    ):
        client.coin_risk("BTC")
    assert raised.value.terms is not None
    assert (raised.value.terms.price_usdc, raised.value.terms.pay_to) == ("0.005", PAYEE)
    assert len(there.heard) == 1


def test_the_limit_of_the_day_holds_over_clients() -> None:
    with peer(due(), *SOLD, due()) as there:
        with Verdict(there.url, "k", wallet=WALLET, max_day_usdc="0.009") as client:
            client.coin_risk("BTC")
        with Verdict(there.url, "j", wallet=WALLET, max_day_usdc="0.009") as client, pytest.raises(UnpaidError):
            client.coin_risk("BTC")


def test_another_payee_than_the_first_is_not_paid() -> None:
    with (
        peer(due(), *SOLD, due(payee=OTHER)) as there,
        Verdict(there.url, "k", wallet=WALLET) as client,
    ):
        client.coin_risk("BTC")
        with pytest.raises(UnpaidError, match=OTHER):
            client.coin_risk("ETH")
    assert len(there.heard) == 4


def test_without_a_wallet_the_price_is_said_and_nothing_is_paid(state: Path) -> None:
    with (
        peer(due()) as there,
        Verdict(there.url, "k") as client,
        pytest.raises(UnpaidError, match=r"wallet=` to pay 0\.005 USDC") as raised,
    ):
        client.coin_risk("BTC")
    assert raised.value.terms is not None
    assert raised.value.terms.price_usdc == "0.005"
    assert isinstance(raised.value.__cause__, RefusedError)
    assert not state.exists()


def test_terms_that_are_not_understood_are_none() -> None:
    with (
        peer(says({"error": {"code": "PAYMENT_REQUIRED", "message": "Pay."}}, 402)) as there,
        Verdict(there.url) as client,
        pytest.raises(UnpaidError) as raised,
    ):
        client.coin_risk("BTC")
    assert raised.value.terms is None


def test_a_payment_with_an_unknown_outcome_is_said_and_sent_again_by_the_same_call() -> None:
    pending = refuses("PAYMENT_PENDING")
    with (
        peer(due(), *[pending] * 4, due(), *SOLD) as there,
        Verdict(there.url, "k", wallet=WALLET) as client,
    ):
        with pytest.raises(OpenPaymentError, match="not known yet"):
            client.coin_risk("BTC")
        assert client.coin_risk("BTC").receipt_id == "rcp_1"
    signatures = [heard.headers.get("payment-signature") for heard in there.heard]
    assert len({signature for signature in signatures if signature}) == 1


def test_a_read_that_the_service_was_not_ready_for_is_sent_once_more() -> None:
    with peer(refuses("UNAVAILABLE"), answers(RISK)) as there, Verdict(there.url) as client:
        assert client.coin_risk("BTC").data.symbol == "BTC"


@pytest.mark.parametrize(
    ("reply", "method", "argument"),
    [
        (refuses("UNAVAILABLE", wait="11"), "coin_risk", "BTC"),
        (refuses("UNAVAILABLE", wait="soon"), "coin_risk", "BTC"),
        (refuses("PAYMENT_PENDING"), "coin_risk", "BTC"),
        (refuses("RATE_LIMITED", 429), "coin_risk", "BTC"),
        (refuses("UNAVAILABLE"), "question", "How is BTC?"),
    ],
)
def test_nothing_else_is_sent_again(reply: Reply, method: str, argument: str) -> None:
    with peer(reply) as there, Verdict(there.url) as client, pytest.raises(RefusedError):
        getattr(client, method)(argument)
    assert len(there.heard) == 1


def test_a_second_refusal_of_a_read_is_the_callers() -> None:
    unavailable = refuses("UNAVAILABLE")
    with peer(unavailable, unavailable) as there, Verdict(there.url) as client, pytest.raises(RefusedError):
        client.coin_risk("BTC")


@pytest.mark.parametrize("text", ["", "0x12", "g" * 64, "0x" + "0" * 64, "ff" * 32, "11" * 32 + "\n"])
def test_a_key_that_is_none_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="key") as raised:
        Wallet.from_key(text)
    assert not text or text not in str(raised.value)


def test_a_wallet_is_opened_by_its_key_or_its_keystore(tmp_path: Path) -> None:
    file = tmp_path / "wallet.json"
    file.write_text(json.dumps(Account.encrypt(SECRET, "pass", kdf="pbkdf2", iterations=2)))
    addresses = {Wallet.from_key("0x" + SECRET.hex()).address, Wallet.from_keystore(file, "pass").address}
    assert addresses == {WALLET.address}
    with pytest.raises(ValueError, match="password"):
        Wallet.from_keystore(file, "word")


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "ftp://x"}, {"url": "http://u:p@x"}, {"token": "two words"},
        {"wallet": WALLET, "max_price_usdc": "a lot"}, {"wallet": WALLET, "max_day_usdc": "-1"},
    ],
)  # fmt: skip
def test_arguments_that_are_not_valid_are_refused_at_once(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has its message
        Verdict(**{"url": "http://127.0.0.1:1", **arguments})


def test_every_error_has_one_base_class() -> None:
    for kind in (RefusedError, UnpaidError, OpenPaymentError, UnreachableError):
        assert issubclass(kind, VerdictError)
