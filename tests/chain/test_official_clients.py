"""Four official clients pay this service on a real EVM: through the official facilitator, and by our own transactions.

Run by `make chain`, which installs the clients.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from eth_account import Account

from service.access.quota import STARTER
from service.wire.offers import QUESTION
from tests.chain.evm import ETHER, Evm
from tests.chain.node import Node, serving_node
from tests.fakes.serving import PATIENCE_S, Serving, ended

pytestmark = [pytest.mark.chain, pytest.mark.timeout(300)]

CLIENTS: Final = Path(__file__).parent / "clients"
README: Final = Path(__file__).parents[2] / "README.md"
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
        lambda: int(time.time()),
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


@pytest.fixture(params=["the official facilitator", "our own transactions"], scope="module")
def shop(request: pytest.FixtureRequest, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    if request.param == "the official facilitator":
        with official_facilitator(node) as url:
            yield from opened(node, tmp_path_factory, settlement="remote", facilitator_url=url)
    else:
        key = "0x" + OPERATOR.key.hex().removeprefix("0x")
        yield from opened(node, tmp_path_factory, settlement="chain", operator_key=key)


def opened(node: Node, folders: pytest.TempPathFactory, **settings: str) -> Iterator[Shop]:
    service = Serving(data_dir=str(folders.mktemp("shop")), pay_to=PAYEE, rpc_url=node.url, **settings)
    with ended(service):
        service.wait_for("ready")
        token = service.make_key()
        for _ in range(STARTER):
            assert service.ask(RISK, token)[0] == 200
        assert service.ask(RISK, token)[0] == 402
        yield Shop(service, node.evm, node, token)


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


def test_the_example_of_the_readme_pays(shop: Shop, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
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
    listed = json.loads(shop.service.verdict("payments", "list", "--json").stdout)["payments"]
    assert {payment["state"] for payment in listed} <= {"settled", "delivered"}
    assert len({payment["transaction"] for payment in listed}) == len(listed)
    for payment in listed:
        assert shop.chain.block_of(bytes.fromhex(payment["transaction"].removeprefix("0x"))) is not None
    shop.service.verdict("doctor")
