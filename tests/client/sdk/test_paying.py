"""Programs pay with a wallet: within their limits, to one payee, once for each request; and never without a wallet."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from service.client import (
    AsyncVerdict,
    OpenPaymentError,
    RefusedError,
    UnpaidError,
    UnreachableError,
    UnreadableAnswerError,
    Verdict,
    VerdictError,
    Wallet,
)  # fmt: skip
from service.client.paying.payment_store import PaymentStore
from tests.cli.recorded import ANSWERS
from tests.client.paying.stand import PAYEE, SECRET, asking, payment_in
from tests.client.sdk.peer import Reply, answers, peer, says
from tests.fakes.clock import FakeClock
from tests.fakes.serving import serving, wait_until
from tests.payments.signing import row

WALLET = Wallet(SECRET)
RISK = (ANSWERS / "coin.risk.json").read_bytes()
NO_RECEIPT = says({"error": {"code": "NOT_FOUND", "message": "none"}}, 404)
SOLD = (answers(RISK, x_receipt_id="rcp_1"), NO_RECEIPT)
OTHER = "0x3333333333333333333333333333333333333333"
PATIENCE_S = 20.0


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


async def test_a_call_within_the_limits_is_paid_for_and_names_its_receipt(state: Path) -> None:
    with peer(due(), *SOLD, due(), *SOLD) as there:
        with Verdict(there.url, "k", wallet=WALLET) as client:
            result = client.coin_risk("BTC")
        async with AsyncVerdict(there.url, wallet=WALLET) as asynchronous:
            assert (await asynchronous.coin_risk("BTC")).receipt_id == "rcp_1"
    assert (result.data.symbol, result.receipt_id) == ("BTC", "rcp_1")
    for sent in (there.heard[1], there.heard[4]):
        authorization = payment_in({"PAYMENT-SIGNATURE": sent.headers["payment-signature"]})["payload"]["authorization"]
        assert (authorization["value"], authorization["to"]) == ("5000", PAYEE)
    assert list(json.loads((state / "paying" / "spent.json").read_text())["spent"].values()) == [10_000]
    # Without an account the payer signs to read the receipt.
    assert ["authorization" in heard.headers for heard in there.heard] == [*[True] * 3, *[False] * 3]
    assert ["x-payer-signature" in heard.headers for heard in there.heard] == [*[False] * 5, True]


@pytest.mark.parametrize("limits", [{"max_price_usdc": "0.004"}, {"max_day_usdc": "0.009"}, {"max_price_usdc": "0"}])
def test_a_call_above_a_limit_is_not_paid_and_says_its_price(limits: dict[str, str]) -> None:
    bought = (due(), *SOLD) if "max_day_usdc" in limits else ()
    with peer(*bought, due()) as there:
        if bought:  # the limit of the day holds over clients
            Verdict(there.url, "j", wallet=WALLET).coin_risk("BTC")
        with (
            Verdict(there.url, "k", wallet=WALLET, **limits) as client,  # type: ignore[arg-type]
            pytest.raises(UnpaidError, match=r"0\.005 USDC") as raised,
        ):
            client.coin_risk("BTC")
    assert raised.value.terms is not None
    assert (raised.value.terms.price_usdc, raised.value.terms.pay_to) == ("0.005", PAYEE)
    assert len(there.heard) == len(bought) + 1


def test_another_payee_than_the_first_is_not_paid() -> None:
    with peer(due(), *SOLD, due(payee=OTHER)) as there, Verdict(there.url, "k", wallet=WALLET) as client:
        client.coin_risk("BTC")
        with pytest.raises(UnpaidError, match=OTHER):
            client.coin_risk("ETH")
    assert len(there.heard) == 4


@pytest.mark.parametrize(
    ("reply", "said", "price"),
    [
        (due(), r"wallet=` to pay 0\.005 USDC", "0.005"),
        (says({"error": {"code": "PAYMENT_REQUIRED", "message": "Pay."}}, 402), "wallet=` to pay for it", None),
    ],
)
def test_without_a_wallet_the_price_is_said_and_nothing_is_paid(
    state: Path, reply: Reply, said: str, price: str | None
) -> None:
    with peer(reply) as there, Verdict(there.url) as client, pytest.raises(UnpaidError, match=said) as raised:
        client.coin_risk("BTC")
    assert (raised.value.terms and raised.value.terms.price_usdc) == price
    assert isinstance(raised.value.__cause__, RefusedError)
    assert not state.exists()


def test_a_payment_with_an_unknown_outcome_is_sent_again_by_the_same_call() -> None:
    pending = refuses("PAYMENT_PENDING")
    with peer(due(), *[pending] * 4, due(), *SOLD) as there, Verdict(there.url, "k", wallet=WALLET) as client:
        with pytest.raises(OpenPaymentError, match="not known yet"):
            client.coin_risk("BTC")
        assert client.coin_risk("BTC").receipt_id == "rcp_1"
    signatures = [heard.headers.get("payment-signature") for heard in there.heard]
    assert len({signature for signature in signatures if signature}) == 1


async def cancelled_at(monkeypatch: pytest.MonkeyPatch, url: str, kind: Any, method: str) -> None:
    """Cancel a call when it reaches a method, which goes on afterwards; return when its thread has ended."""
    reached, go_on, ended, real = threading.Event(), threading.Event(), threading.Event(), getattr(kind, method)

    def pause(*given: Any, **named: Any) -> Any:
        reached.set()
        go_on.wait(PATIENCE_S)
        return real(*given, **named)

    client = AsyncVerdict(url, "k", wallet=WALLET)
    ask = client._ask

    def noted(*given: Any) -> Any:
        try:
            return ask(*given)
        finally:
            ended.set()

    monkeypatch.setattr(client, "_ask", noted)
    monkeypatch.setattr(kind, method, pause)
    call = asyncio.create_task(client.coin_risk("BTC"))
    assert await asyncio.to_thread(reached.wait, PATIENCE_S)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    go_on.set()
    assert await asyncio.to_thread(ended.wait, PATIENCE_S)
    client.close()


@pytest.mark.parametrize(
    ("kind", "method", "sent", "spent"),
    [(AsyncVerdict, "_pay", 0, 0), (PaymentStore, "payee", 1, 0), (PaymentStore, "finish", 3, 5_000)],
    ids=["before it is sent", "before it is paid", "after it was paid"],
)
async def test_a_cancelled_call_is_neither_sent_nor_paid_any_more_and_one_that_was_paid_is_finished(
    state: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, method: str, sent: int, spent: int
) -> None:
    with peer(due(), *SOLD) as there:
        await cancelled_at(monkeypatch, there.url, kind, method)
        assert len(there.heard) == sent
    store = PaymentStore(state, FakeClock())
    assert (store.spent_today(), store.opened(), len(store.receipts())) == (spent, [], int(spent > 0))


def test_a_read_that_the_service_was_not_ready_for_is_sent_once_more() -> None:
    unavailable = refuses("UNAVAILABLE")
    with peer(unavailable, answers(RISK), unavailable, unavailable) as there, Verdict(there.url) as client:
        assert client.coin_risk("BTC").data.symbol == "BTC"
        with pytest.raises(RefusedError):
            client.coin_risk("BTC")


@pytest.mark.parametrize(
    ("reply", "method"),
    [
        *((refuses("UNAVAILABLE", wait=wait), "coin_risk") for wait in ("11", "soon")),
        (refuses("PAYMENT_PENDING"), "coin_risk"), (refuses("RATE_LIMITED", 429), "coin_risk"),
        (refuses("UNAVAILABLE"), "question"),
    ],
)  # fmt: skip
def test_nothing_else_is_sent_again(reply: Reply, method: str) -> None:
    with peer(reply) as there, Verdict(there.url) as client, pytest.raises(RefusedError):
        getattr(client, method)("BTC")
    assert len(there.heard) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "ftp://x"}, {"url": "http://u:p@x"}, {"token": "two words"},
        {"wallet": WALLET, "max_price_usdc": "a lot"}, {"wallet": WALLET, "max_day_usdc": "-1"},
    ],
)  # fmt: skip
def test_arguments_that_are_not_valid_are_refused_at_once(arguments: dict[str, Any]) -> None:
    for kind in (Verdict, AsyncVerdict):
        with pytest.raises(ValueError):  # noqa: PT011 - each has its message
            kind(**{"url": "http://127.0.0.1:1", **arguments})


def test_every_error_has_one_base_class() -> None:
    for kind in (RefusedError, UnpaidError, OpenPaymentError, UnreachableError, UnreadableAnswerError):
        assert issubclass(kind, VerdictError)


@pytest.mark.gate
@pytest.mark.process
def test_answers_of_a_running_service_are_bought_without_an_account_and_their_receipts_agree(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    async def buy(url: str) -> str | None:
        async with AsyncVerdict(url, wallet=WALLET) as client:
            return (await client.question("price of ETH")).receipt_id

    with serving(tmp_path / "data", anonymous="pay") as service:
        wait_until(lambda: service.ask("/readyz")[0] == 200)
        url = f"http://127.0.0.1:{service.port}"
        with Verdict(url, wallet=WALLET) as client:
            bought = {client.coin_risk("BTC").receipt_id, client.coin_risk("BTC").receipt_id, asyncio.run(buy(url))}
    receipts = [json.loads(file.read_text()) for file in (state / "paying" / "receipts").glob("*.json")]
    assert {receipt["id"] for receipt in receipts} == bought
    assert [receipt["faults"] for receipt in receipts] == [[], [], []]
