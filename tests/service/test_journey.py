"""A whole journey, all of it through `verdict`: a stranger signs in, asks, pays, proves it, and is let go."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from eth_account import Account
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters, stdio_client

from service.__main__ import run
from service.access.quota import STARTER
from tests.fakes.serving import PATIENCE_S, Serving, serving

pytestmark = pytest.mark.process

WALLET = Account.from_key(b"\x5a" * 32)
PASSWORD = "correct horse battery staple"
PAYEE = "0x2222222222222222222222222222222222222222"
BTC = ("coin", "risk", "BTC")


class Said(NamedTuple):
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output, of one that went well."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The failure that programs are told of."""
        return json.loads(self.err.splitlines()[-1])["error"]


Verdict = Callable[..., Said]


@pytest.fixture
def verdict(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Verdict:
    """Runs `verdict`, as programs do: nobody sits at a terminal."""
    home = tmp_path / "home"
    home.mkdir()
    person = {"HOME": str(home)}

    def command(*typed: str, **environment: str) -> Said:
        code = run(typed, {**person, **environment})
        return Said(code, *capfd.readouterr())

    return command


@pytest.fixture
def keystore(tmp_path: Path) -> str:
    """A wallet's file as other wallets write it, with few rounds."""
    path = tmp_path / "wallet.json"
    path.write_text(json.dumps(Account.encrypt(WALLET.key, PASSWORD, kdf="pbkdf2", iterations=2)))
    return str(path)


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


@pytest.mark.gate
@pytest.mark.promise("signin.keystore", "clients.settings")
def test_from_nothing_to_a_paid_and_proven_answer_and_out_again(
    tmp_path: Path, verdict: Verdict, keystore: str
) -> None:
    with serving(tmp_path / "data", pay_to=PAYEE) as service:
        url = f"http://127.0.0.1:{service.port}"
        assert verdict("manifest", VERDICT_URL=url).document["data"]["payTo"] == PAYEE
        assert verdict("config", "set", "url", url).code == 0
        assert verdict(*BTC).code == 2, "a stranger is nobody"
        key = sign_in(verdict, keystore)
        spend(verdict, key)
        receipt = pay(verdict, key, keystore)
        prove(verdict, key, receipt)
        let_an_agent_pay(verdict, key, tmp_path)
        audit(verdict, service)
        leave(verdict, key)


def sign_in(verdict: Verdict, keystore: str) -> Mapping[str, str]:
    """Sign in with a keystore and make a key: the settings under which it is used."""
    secret = {"VERDICT_KEYSTORE_PASSWORD": PASSWORD}
    assert PASSWORD not in "".join(map(str, verdict("login", "--keystore", keystore, **secret)))
    whoami = verdict("whoami", "--json").document["data"]
    assert (whoami["tier"], whoami["identity"]["walletAddress"]) == ("free", WALLET.address)
    made = verdict("keys", "create", "--name", "journey", "--json").document
    return {"VERDICT_TOKEN": made["key"]}


def spend(verdict: Verdict, key: Mapping[str, str]) -> None:
    """Ask what is free, and one question more."""
    for _ in range(STARTER - 2):
        assert verdict(*BTC, **key).document["data"]["symbol"] == "BTC"
    assert verdict("signal", "BTC", **key).document["data"]["verdict"] != "insufficient-evidence"
    answer = verdict("ask", "What is the price of BTC?", "--json", **key).document
    assert "BTC" in answer["text"]
    due = verdict(*BTC, **key)
    assert (due.code, due.error["code"], due.out) == (3, "PAYMENT_REQUIRED", "")
    unable = verdict(*BTC, "--yes", **key)
    assert (unable.code, "VERDICT_WALLET_KEY" in unable.error["message"]) == (3, True)


def pay(verdict: Verdict, key: Mapping[str, str], keystore: str) -> Any:
    """Pay for an answer and for a question: the first's receipt."""
    assert verdict("config", "set", "keystore", keystore).code == 0
    unasked = verdict(*BTC, VERDICT_KEYSTORE_PASSWORD=PASSWORD, **key)
    assert (unasked.code, "--yes" in unasked.error["message"]) == (3, True)
    dear = verdict(*BTC, "--yes", "--max-price", "0.004", VERDICT_KEYSTORE_PASSWORD=PASSWORD, **key)
    assert (dear.code, "--max-price" in dear.error["message"]) == (3, True)
    wallet = verdict("spending", **key).document
    assert (wallet["address"], wallet["signedTodayUsdc"]) == (WALLET.address, "0.00")
    paid = verdict(*BTC, "--yes", VERDICT_KEYSTORE_PASSWORD=PASSWORD, **key)
    assert paid.document["data"]["symbol"] == "BTC"
    assert f"Paid 0.005 USDC on eip155:84532 to {PAYEE}. The receipt is rcp_" in paid.err
    asked = verdict("ask", "What is the price of BTC?", "--json", "--yes", VERDICT_KEYSTORE_PASSWORD=PASSWORD, **key)
    assert "BTC" in asked.document["text"]
    assert "Paid 0.05 USDC" in asked.err
    wallet = verdict("spending", **key).document
    assert (wallet["signedTodayUsdc"], wallet["open"]) == ("0.055", [])
    question, data = verdict("spending", "receipts", **key).document["receipts"]
    assert (question["receipt"]["route"], question["faults"], data["faults"]) == ("question", [], [])
    return data


def prove(verdict: Verdict, key: Mapping[str, str], receipt: Any) -> None:
    """Show that what is kept here is what the service says and has signed."""
    listed = verdict("billing", "receipts", **key).document
    assert receipt["receipt"] in listed["receipts"]
    assert verdict("billing", "show", receipt["id"], **key).document["receipt"] == receipt["receipt"]
    assert receipt["receipt"]["payer"] == WALLET.address
    signer = verdict("manifest").document["data"]["receiptSigner"]
    assert verdict("admin", "receipts", "verify", receipt["file"], "--signer", signer).code == 0


def let_an_agent_pay(verdict: Verdict, key: Mapping[str, str], tmp_path: Path) -> None:
    """Have tools pay what is below the ceilings, and nothing above them."""
    assert verdict("config", "set", "max-day", "0.06").code == 0
    secret = {"VERDICT_KEYSTORE_PASSWORD": PASSWORD, "HOME": str(tmp_path / "home"), **key}
    started = StdioServerParameters(command=sys.executable, args=["-m", "service", "mcp", "--pay"], env=secret)

    async def call() -> list[types.CallToolResult]:
        with (tmp_path / "told").open("w") as told:
            async with Client(stdio_client(started, told), mode="legacy", read_timeout_seconds=PATIENCE_S) as tools:
                return [await tools.call_tool("coin_risk", {"symbol": "BTC"}) for _ in range(2)]

    paid, refused = asyncio.run(call())
    assert paid.structured_content["symbol"] == "BTC"
    assert f"Paid 0.005 USDC on eip155:84532 to {PAYEE}. The receipt is rcp_" in (tmp_path / "told").read_text()
    (block,) = refused.content
    assert isinstance(block, types.TextContent)
    assert (refused.is_error, block.text.partition(":")[0]) == (True, "PAYMENT_REQUIRED")
    assert "0.06 USDC for today are already signed" in block.text
    assert block.text.endswith("raise the ceilings, or wait for a free question.")
    wallet = verdict("spending", **key).document
    assert (wallet["signedTodayUsdc"], wallet["open"]) == ("0.06", [])


def audit(verdict: Verdict, service: Serving) -> None:
    """See what was paid, as the operator."""
    folder = {"VERDICT_DATA_DIR": service.settings["data_dir"]}
    assert verdict("admin", "payments", "list", "--json", **folder).document["payments"][0]["state"] == "delivered"


def leave(verdict: Verdict, key: Mapping[str, str]) -> None:
    """Revoke the key and sign out: neither opens anything any more."""
    assert verdict("keys", "revoke", key["VERDICT_TOKEN"][:19]).code == 0
    revoked = verdict(*BTC, **key)
    assert (revoked.code, revoked.error["code"]) == (2, "AUTH_INVALID")
    assert verdict("logout").code == 0
    out = verdict(*BTC)
    assert (out.code, out.error["code"]) == (2, "AUTH_REQUIRED")
