"""Four official clients pay this service on a real EVM: through the official facilitator, and by our own transactions.

Run by `make chain`, which installs the clients.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from service.access.quota import STARTER
from service.wire.offers import QUESTION
from tests.chain.evm import ETHER, Evm, now_s
from tests.chain.node import Node, serving_node
from tests.fakes.serving import PATIENCE_S, Serving, ended

pytestmark = [pytest.mark.chain, pytest.mark.timeout(300)]

CLIENTS: Final = Path(__file__).parent / "clients"
PAGE: Final = Path(__file__).parents[2] / "docs" / "paying.md"
VENV: Final = Path(sys.prefix)
PAYEE: Final = "0x2222222222222222222222222222222222222222"
PAYER: Final = Account.from_key(b"\x11" * 32)
OPERATOR: Final = Account.from_key(b"\x22" * 32)
PURSE: Final = 1_000_000
RISK: Final = "/api/cli/coin/risk/BTC"
BY_NAME: Final = "/api/cli/category/info/Layer%201%20(L1)"
ASKED: Final = json.dumps({"messages": [{"role": "user", "content": "What is the price of BTC?"}]})


class Client(NamedTuple):
    """An official client: what runs it, its script, what it pays for, and which x402 it speaks.

    Those of v1 in Python read `error` as text and nothing else: a question is all that they can buy.
    """

    runs: Path
    script: str
    path: str
    version: int

    def pay(self, url: str, token: str, *question: str) -> Any:
        """Ask for a URL, or there, and pay when told to; what came in the end."""
        key = "0x" + PAYER.key.hex().removeprefix("0x")
        command = [str(self.runs), str(CLIENTS / self.script), key, url, token, *question]
        done = subprocess.run(command, cwd=CLIENTS, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


NODE: Final = Path(shutil.which("node") or "node")
OFFICIAL: Final = {
    "Python, v2": Client(Path(sys.executable), "python_v2.py", RISK, 2),
    "@x402/fetch, v2": Client(NODE, "fetch_v2.mjs", BY_NAME, 2),
    "x402-fetch, v1": Client(NODE, "fetch_v1.mjs", RISK, 1),
    "Python, v1": Client(VENV / "x402-v1" / "bin" / "python", "python_v1.py", QUESTION.path, 1),
}
BUYS: Final = sorted(
    {*((name, client.path) for name, client in OFFICIAL.items()), *((name, QUESTION.path) for name in OFFICIAL)}
)
"""Who buys what: each buys a question, and data where it can read what is said of their price."""


class Shop(NamedTuple):
    """A service whose payments move money on a chain, and a key whose free questions are spent."""

    service: Serving
    chain: Evm
    node: Node
    token: str


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    evm = Evm(
        now_s,
        dollars={PAYER.address: PURSE},
        ether={OPERATOR.address: ETHER, Account.from_key(b"\x33" * 32).address: ETHER},
    )
    with serving_node(evm) as serving:
        yield serving


@contextmanager
def official_facilitator(node: Node) -> Iterator[str]:
    """The facilitator of the `x402` package, in a process of its own: its URL."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("official_facilitator.py")), "0x" + "33" * 32, node.url],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


SETTLES: Final = ("the official facilitator", "our own transactions")


@contextmanager
def opened(node: Node, settles: str, folder: Path, **settings: str) -> Iterator[Serving]:
    """A service that is ready, whose payments are settled in one of two ways."""
    with ExitStack() as stack:
        if settles == SETTLES[0]:
            settings |= {"settlement": "remote", "facilitator_url": stack.enter_context(official_facilitator(node))}
        else:
            settings |= {"settlement": "chain", "operator_key": "0x" + OPERATOR.key.hex().removeprefix("0x")}
        service = Serving(data_dir=str(folder), pay_to=PAYEE, rpc_url=node.url, **settings)
        stack.enter_context(ended(service))
        service.wait_for("ready")
        yield service


@pytest.fixture(params=SETTLES, scope="module")
def shop(request: pytest.FixtureRequest, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with opened(node, request.param, tmp_path_factory.mktemp("shop")) as service:
        yield Shop(service, node.evm, node, spent_key(service))


def spent_key(service: Serving) -> str:
    """A key whose free questions are spent."""
    token = service.make_key()
    for _ in range(STARTER):
        assert service.ask(RISK, token)[0] == 200
    assert service.ask(RISK, token)[0] == 402
    return token


@pytest.fixture(params=SETTLES, scope="module")
def keyless(request: pytest.FixtureRequest, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A service that takes payments without an account, and no key at all."""
    with opened(node, request.param, tmp_path_factory.mktemp("keyless"), anonymous="pay") as service:
        yield Shop(service, node.evm, node, "")


@pytest.mark.promise("pay.chain", "pay.remote", "pay.exact-3009", "pay.headers", "pay.response-headers")
@pytest.mark.promise("question.price", "question.challenge-error")
@pytest.mark.parametrize(("name", "path"), BUYS)
def test_an_official_client_pays_the_price_once_and_has_its_answer(shop: Shop, name: str, path: str) -> None:
    client = OFFICIAL[name]
    if shutil.which(client.runs) is None:
        pytest.skip(f"{client.runs.name} is not here")
    price, question = (QUESTION.price, (ASKED,)) if path == QUESTION.path else (5_000, ())
    before = shop.chain.dollars(PAYER.address), shop.chain.dollars(PAYEE)
    answer = client.pay(f"http://127.0.0.1:{shop.service.port}{path}", shop.token, *question)
    assert answer["status"] == 200, answer
    if question:
        assert answer["headers"]["content-type"] == "text/plain; charset=utf-8"
        assert "BTC" in answer["body"]
    else:
        assert "data" in json.loads(answer["body"])
    after = shop.chain.dollars(PAYER.address), shop.chain.dollars(PAYEE)
    assert (before[0] - after[0], after[1] - before[1]) == (price, price)
    told = json.loads(b64decode(answer["headers"]["x-payment-response" if client.version == 1 else "payment-response"]))
    assert told["success"] is True
    assert told["payer"].lower() == PAYER.address.lower()
    found = shop.chain.block_of(bytes.fromhex(told["transaction"].removeprefix("0x")))
    assert found is not None
    receipt = shop.service.ask(f"/api/receipts/{answer['headers']['x-receipt-id']}", shop.token)[2]["receipt"]
    assert (receipt["transaction"], receipt["amount"]) == (told["transaction"], str(price))
    assert shop.service.ask(RISK, shop.token)[0] == 402, "paying gives no free question"


@pytest.mark.promise("pay.keyless-clients", "pay.keyless-receipts", "pay.keyless-metering")
@pytest.mark.parametrize(("name", "path"), BUYS)
def test_an_official_client_pays_without_a_key(keyless: Shop, name: str, path: str) -> None:
    shop, client = keyless, OFFICIAL[name]
    if shutil.which(client.runs) is None:
        pytest.skip(f"{client.runs.name} is not here")
    price, question = (QUESTION.price, (ASKED,)) if path == QUESTION.path else (5_000, ())
    before = shop.chain.dollars(PAYER.address), shop.chain.dollars(PAYEE)
    answer = client.pay(f"http://127.0.0.1:{shop.service.port}{path}", "", *question)
    assert answer["status"] == 200, answer
    after = shop.chain.dollars(PAYER.address), shop.chain.dollars(PAYEE)
    assert (before[0] - after[0], after[1] - before[1]) == (price, price)
    receipt_id, time = answer["headers"]["x-receipt-id"], str(now_s())
    text = encode_defunct(text=f"Read receipt {receipt_id}\nTime: {time}")
    signature = "0x" + PAYER.sign_message(text).signature.hex().removeprefix("0x")
    proof = {"x-payer-time": time, "x-payer-signature": signature}
    receipt = shop.service.ask(f"/api/receipts/{receipt_id}", **proof)[2]["receipt"]
    assert (receipt["payer"], receipt["amount"], receipt["user_id"]) == (PAYER.address, str(price), 0)
    assert shop.chain.block_of(bytes.fromhex(receipt["transaction"].removeprefix("0x"))) is not None
    assert shop.service.ask(f"/api/receipts/{receipt_id}")[0] == 403


def test_payments_without_a_key_leave_the_ledgers_equal_and_make_no_user(keyless: Shop) -> None:
    listed = json.loads(keyless.service.verdict("admin", "payments", "list", "--json").stdout)["payments"]
    assert {payment["state"] for payment in listed} <= {"settled", "delivered"}
    assert {payment["userId"] for payment in listed} <= {None}
    used = json.loads(keyless.service.verdict("admin", "usage", "--json").stdout)["users"]
    assert [(row["userId"], row["total"], row["paid"]) for row in used] == [(None, 0, len(listed))]
    keyless.service.verdict("admin", "doctor")


def test_the_example_of_the_readme_pays(shop: Shop, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    script = tmp_path / "pay.py"
    script.write_text(example.replace("http://127.0.0.1:8402", f"http://127.0.0.1:{shop.service.port}"))
    before = shop.chain.dollars(PAYEE)
    said = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"KEY": shop.token, "WALLET_KEY": "0x" + PAYER.key.hex().removeprefix("0x")},
        capture_output=True, text=True, timeout=PATIENCE_S, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert said[0].startswith("200 ")
    assert json.loads(said[1])["receipt"]["resource"].endswith("/api/cli/signal/ETH")
    assert shop.chain.dollars(PAYEE) - before == 5_000


def test_what_was_paid_is_what_moved_and_what_the_operator_sees(shop: Shop) -> None:
    listed = json.loads(shop.service.verdict("admin", "payments", "list", "--json").stdout)["payments"]
    assert {payment["state"] for payment in listed} <= {"settled", "delivered"}
    assert len({payment["transaction"] for payment in listed}) == len(listed)
    for payment in listed:
        assert shop.chain.block_of(bytes.fromhex(payment["transaction"].removeprefix("0x"))) is not None
    shop.service.verdict("admin", "doctor")
