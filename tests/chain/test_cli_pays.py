"""`verdict` pays on a real EVM: what was agreed to moves once, whatever breaks between signing and the answer."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from tests.chain.evm import ETHER, Evm, now_s
from tests.chain.node import PASS, HungUp, serving_node
from tests.chain.test_official_clients import OPERATOR, PAYEE, PAYER, PURSE, Shop, opened, spent_key
from tests.fakes.serving import PATIENCE_S, environment

pytestmark = [pytest.mark.chain, pytest.mark.timeout(300)]

PRICE = 5_000
SENDING = "eth_sendRawTransaction"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A service that settles by its own transactions."""
    evm = Evm(now_s, dollars={PAYER.address: PURSE}, ether={OPERATOR.address: ETHER})
    folder = tmp_path_factory.mktemp("shop")
    with serving_node(evm) as node, opened(node, "our own transactions", folder) as service:
        yield Shop(service, evm, node, spent_key(service))


@pytest.fixture(autouse=True)
def _honest(shop: Shop) -> Iterator[None]:
    """Let no test's faults outlive it."""
    yield
    shop.node.fault = lambda _method, _parameters: PASS


class Person:
    """Somebody with a wallet and a home of their own."""

    def __init__(self, shop: Shop, home: Path, key: bytes = bytes(PAYER.key)) -> None:
        self._settings = {
            "url": f"http://127.0.0.1:{shop.service.port}",
            "token": shop.token,
            "wallet_key": "0x" + key.hex(),
        }
        self._home = {"HOME": str(home), "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}

    def start(self, *typed: str) -> "subprocess.Popen[str]":
        """Begin a command."""
        return subprocess.Popen(
            [sys.executable, "-m", "service", *typed],
            env={**environment(self._settings), **self._home},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def verdict(self, *typed: str) -> tuple[int, str, str]:
        """Run a command to its end: exit code, output, what it said beside it."""
        started = self.start(*typed)
        out, err = started.communicate(timeout=PATIENCE_S)
        return started.returncode, out, err

    def buy(self, symbol: str = "BTC") -> tuple[int, str, str]:
        return self.verdict("coin", "risk", symbol, "--yes")

    def receipts(self) -> list[Any]:
        rows: list[Any] = json.loads(self.verdict("spending", "receipts")[1])["receipts"]
        return rows

    def wallet(self) -> Any:
        return json.loads(self.verdict("spending")[1])


def moved(shop: Shop) -> int:
    """What has reached the payee."""
    return shop.chain.dollars(PAYEE)


def test_the_price_moves_once_and_the_receipt_names_the_transaction(shop: Shop, tmp_path: Path) -> None:
    person, before = Person(shop, tmp_path), moved(shop)
    code, out, err = person.buy()
    assert (code, json.loads(out)["data"]["symbol"]) == (0, "BTC"), err
    assert moved(shop) - before == PRICE
    (kept,) = person.receipts()
    assert kept["faults"] == []
    assert shop.chain.block_of(bytes.fromhex(kept["receipt"]["transaction"].removeprefix("0x"))) is not None
    assert (person.wallet()["signedTodayUsdc"], person.wallet()["open"]) == ("0.005", [])


@pytest.mark.promise("pay.keyless-receipts")
def test_without_a_token_the_price_moves_once_and_the_receipt_is_read_by_the_payers_signature(
    shop: Shop, tmp_path: Path
) -> None:
    with opened(shop.node, "our own transactions", tmp_path / "data", anonymous="pay") as service:
        person, before = Person(Shop(service, shop.chain, shop.node, ""), tmp_path / "home"), moved(shop)
        code, out, err = person.buy()
        assert (code, json.loads(out)["data"]["symbol"]) == (0, "BTC"), err
        assert moved(shop) - before == PRICE
        (kept,) = person.receipts()
        assert (kept["faults"], kept["receipt"]["payer"].lower()) == ([], PAYER.address.lower())


def test_a_question_moves_its_own_price(shop: Shop, tmp_path: Path) -> None:
    person, before = Person(shop, tmp_path), moved(shop)
    code, out, err = person.verdict("ask", "What is the price of BTC?", "--json", "--yes")
    assert (code, "BTC" in json.loads(out)["text"]) == (0, True), err
    assert moved(shop) - before == 10 * PRICE


def test_a_node_that_does_not_say_what_it_did_costs_one_payment(shop: Shop, tmp_path: Path) -> None:
    person, before, left = Person(shop, tmp_path), moved(shop), [1]

    def fault(method: str, _parameters: list[Any]) -> Any:
        if method == SENDING and left:
            left.pop()
            raise HungUp(done=True)
        return PASS

    shop.node.fault = fault
    code, _, err = person.buy()
    if code != 0:  # nobody could say yet within a few tries: the next identical command goes on
        assert (code, "Send the same request again" in err) == (5, True), err
        code, _, err = person.buy()
    assert (code, left) == (0, []), err
    assert moved(shop) - before == PRICE
    assert person.wallet()["signedTodayUsdc"] == "0.005"


def test_a_command_that_is_killed_while_it_is_settled_has_its_answer_from_the_next(shop: Shop, tmp_path: Path) -> None:
    person, before = Person(shop, tmp_path), moved(shop)
    reached, gone = threading.Event(), threading.Event()

    def fault(method: str, _parameters: list[Any]) -> Any:
        if method == SENDING:
            reached.set()
            assert gone.wait(PATIENCE_S)
        return PASS

    shop.node.fault = fault
    killed = person.start("coin", "risk", "BTC", "--yes")
    try:
        assert reached.wait(PATIENCE_S)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate(timeout=PATIENCE_S)
    finally:
        gone.set()
    (row,) = person.wallet()["open"]
    assert row["amountUsdc"] == "0.005"
    code, out, err = person.buy()
    assert (code, json.loads(out)["data"]["symbol"]) == (0, "BTC"), err
    assert err.startswith("Sending the payment of 0.005 USDC")
    assert moved(shop) - before == PRICE
    assert (person.wallet()["signedTodayUsdc"], person.wallet()["open"]) == ("0.005", [])
    assert [kept["faults"] for kept in person.receipts()] == [[]]


def test_two_commands_at_once_for_the_same_thing_never_pay_more_than_they_count(shop: Shop, tmp_path: Path) -> None:
    person, before = Person(shop, tmp_path), moved(shop)
    both = [person.start("coin", "risk", "BTC", "--yes") for _ in range(2)]
    said = [started.communicate(timeout=PATIENCE_S) for started in both]
    assert [started.returncode for started in both] == [0, 0], said
    paid = moved(shop) - before
    assert paid in {PRICE, 2 * PRICE}
    assert float(person.wallet()["signedTodayUsdc"]) == paid / 1_000_000


def test_a_wallet_without_money_pays_nothing_and_is_told_so(shop: Shop, tmp_path: Path) -> None:
    poor = Account.from_key(b"\x44" * 32)
    person, before = Person(shop, tmp_path, bytes(poor.key)), moved(shop)
    code, out, err = person.buy()
    assert (code, out) == (3, "")
    assert "refused the payment" in err
    assert moved(shop) == before
    again = person.buy()
    assert (again[0], "can be signed after" in again[2]) == (3, True)
    assert person.wallet()["signedTodayUsdc"] == "0.005"
