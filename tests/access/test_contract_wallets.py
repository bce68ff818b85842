"""Contract wallets sign in: what their node is asked, and what is believed of its answers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from service.access.contract_wallets import open_contract_wallets
from service.access.factory import Access, open_access
from service.access.secrets import Secrets
from service.errors import ServiceError
from service.ethereum.contract_signatures import ACCEPTED, WRAPPED, question, unwrap
from service.ethereum.signatures import personal_digest
from service.settings import Settings
from service.storage.database import Database
from service.wire.access import Login
from tests.access.signing import CHAIN_ID, NETWORK, login, message, sign, wallet
from tests.fakes.clock import START_MS, FakeClock
from tests.upstream.conftest import listening

WALLET = "0x00000000000000000000000000000000C0DE0001"
FACTORY = bytes.fromhex("4e" * 20)
OTHER_KEY = wallet(9)
YES = "0x" + ACCEPTED.hex()
NEEDS = (
    "This address needs a signature of its own key, or an operator who sets VERDICT_RPC_URL: then the contract of a "
    "wallet is asked."
)


class Node:
    """A node that answers `eth_call` in turn; the last answer is repeated. A dictionary is an error."""

    def __init__(self) -> None:
        self.url = ""
        self.chain_id = CHAIN_ID
        self.answers: list[Any] = [YES]
        self.raw: web.Response | None = None
        self.calls: list[dict[str, str]] = []
        self.methods: list[str] = []

    async def serve(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.methods.append(asked["method"])
        if asked["method"] == "eth_chainId":
            return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": hex(self.chain_id)})
        assert asked["method"] == "eth_call"
        call, block = asked["params"]
        assert block == "latest"
        self.calls.append(call)
        if self.raw is not None:
            return self.raw
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        kind = "error" if isinstance(answer, dict) else "result"
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], kind: answer})


@pytest.fixture
async def node() -> AsyncIterator[Node]:
    made, app = Node(), web.Application()
    app.router.add_post("/", made.serve)
    async with listening(app) as made.url:
        yield made


@asynccontextmanager
async def signing_in(
    url: str | None, settings: Settings, secrets: Secrets, db: Database, clock: FakeClock
) -> AsyncIterator[Access]:
    async with open_contract_wallets(url, CHAIN_ID) as contracts:
        yield await open_access(settings, secrets, db, clock, contracts)


@pytest.fixture
async def asking(
    node: Node, settings: Settings, secrets: Secrets, db: Database, clock: FakeClock
) -> AsyncIterator[Access]:
    async with signing_in(node.url, settings, secrets, db, clock) as access:
        yield access


def of_contract(access: Access, signature: bytes = b"any form", /, **changed: str) -> Login:
    text = message(WALLET, access.accounts.nonce().nonce, START_MS, **changed)
    return Login(text, "0x" + signature.hex())


async def refusal(access: Access, asked: Login) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        await access.accounts.login(asked, NETWORK)
    return caught.value


def wrapped(signature: bytes, preparation: bytes = b"create it") -> bytes:
    def tail(content: bytes) -> bytes:
        return len(content).to_bytes(32) + content.ljust(-(-len(content) // 32) * 32, b"\0")

    first = tail(preparation)
    head = FACTORY.rjust(32, b"\0") + (96).to_bytes(32) + (96 + len(first)).to_bytes(32)
    return head + first + tail(signature) + WRAPPED


async def test_a_wallet_whose_contract_accepts_the_signature_signs_in(asking: Access, node: Node) -> None:
    asked = of_contract(asking)
    session = await asking.accounts.login(asked, NETWORK)
    assert session.wallet_address == WALLET
    assert (await asking.authenticator.authenticate(session.token)).wallet == WALLET
    [call] = node.calls
    assert call == {"to": WALLET, "data": "0x" + question(personal_digest(asked.message), b"any form").hex()}
    assert call["data"].startswith("0x1626ba7e" + personal_digest(asked.message).hex() + f"{64:064x}{8:064x}")
    assert node.methods == ["eth_chainId", "eth_call"]


async def test_a_key_signs_in_without_asking_the_node(asking: Access, node: Node) -> None:
    session = await asking.accounts.login(login(wallet(), asking.accounts.nonce().nonce, START_MS), NETWORK)
    assert session.wallet_address == wallet().address
    assert node.methods == []


@pytest.mark.parametrize(
    "signature", [b"", b"\x01", b"s" * 64, bytes(65), b"\xff" * 65, b"s" * 97, b"s" * 8_192], ids=len
)
async def test_a_contract_has_its_own_form_of_signature(signature: bytes, asking: Access, node: Node) -> None:
    await asking.accounts.login(of_contract(asking, signature), NETWORK)
    assert len(node.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "0x",
        "0x1626ba7e",
        "0x" + "00" * 32,
        "0xffffffff" + "00" * 28,
        "0x" + "00" * 28 + "1626ba7e",
        "0x" + "00" * 31 + "01",
        YES + "00" * 32,
        "0x1626ba7e" + "00" * 27 + "01",
        {"code": 3, "message": "execution reverted"},
        {"code": -32000, "message": "execution reverted: not the owner", "data": YES},
    ],
)
async def test_every_other_answer_of_a_contract_refuses_the_signature(answer: Any, asking: Access, node: Node) -> None:
    node.answers = [answer]
    refused = await refusal(asking, of_contract(asking))
    assert (refused.status, refused.headers) == (401, {"WWW-Authenticate": "Bearer"})
    assert refused.message == (
        "The signature is not the one of the wallet the message names: it is not by the key of that address, and no "
        f"contract at that address on chain {CHAIN_ID} accepts it."
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"code": -32005, "message": "limit exceeded"},
        {"code": -32601, "message": "no such method"},
        1,
        None,
        "0x123",
        {"a": 1},
    ],
)
async def test_a_node_that_does_not_tell_is_503_and_spends_no_nonce(answer: Any, asking: Access, node: Node) -> None:
    node.answers = [answer]
    asked = of_contract(asking)
    refused = await refusal(asking, asked)
    assert (refused.status, refused.code) == (503, "UNAVAILABLE")
    assert "limit exceeded" not in refused.message
    node.answers = [YES]
    assert (await asking.accounts.login(asked, NETWORK)).wallet_address == WALLET


@pytest.mark.parametrize(
    "raw",
    [
        {"text": "not JSON"},
        {"status": 500, "text": "{}"},
        {"status": 302, "headers": {"Location": "/"}},
        {"text": json.dumps({"jsonrpc": "2.0", "id": 99, "result": YES})},
        {"text": " " * 70_000 + json.dumps({"jsonrpc": "2.0", "id": 2, "result": YES})},
        {"text": "[" * 10_000},
    ],
    ids=["text", "500", "redirect", "another id", "too large", "nested"],
)
async def test_a_broken_answer_of_the_node_is_never_a_sign_in(raw: dict[str, Any], asking: Access, node: Node) -> None:
    node.raw = web.Response(**raw)
    assert (await refusal(asking, of_contract(asking))).code == "UNAVAILABLE"


async def test_a_node_that_is_gone_or_of_another_chain_is_503(
    node: Node, settings: Settings, secrets: Secrets, db: Database, clock: FakeClock
) -> None:
    node.chain_id = 1
    async with signing_in(node.url, settings, secrets, db, clock) as access:
        assert (await refusal(access, of_contract(access))).code == "UNAVAILABLE"
        assert node.calls == []
    async with signing_in("http://127.0.0.1:1", settings, secrets, db, clock) as access:
        assert (await refusal(access, of_contract(access))).code == "UNAVAILABLE"


@pytest.mark.parametrize(
    "changed",
    [
        {"domain": "evil.example"},
        {"chain_id": "1"},
        {"issued_at": "2020-01-01T00:00:00Z"},
        {"nonce": "a" * 40},
        {"after": "\nExpiration Time: 2025-07-25T11:59:59Z"},
        {"after": "\nNot Before: 2025-07-25T12:00:01Z"},
        {"version": "2"},
    ],
)
async def test_a_message_that_is_not_good_is_refused_before_the_node_is_asked(
    changed: dict[str, str], asking: Access, node: Node
) -> None:
    assert (await refusal(asking, of_contract(asking, b"any form", **changed))).code in {"AUTH_INVALID", "BAD_REQUEST"}
    assert node.methods == []


async def test_of_ten_sign_ins_at_once_with_one_nonce_one_succeeds(asking: Access) -> None:
    asked = of_contract(asking)
    came = await asyncio.gather(*(asking.accounts.login(asked, NETWORK) for _ in range(10)), return_exceptions=True)
    refused = [each for each in came if isinstance(each, ServiceError)]
    assert len(refused) == 9
    assert {each.code for each in refused} == {"AUTH_INVALID"}


@pytest.mark.parametrize("signature", [b"", b"s" * 64, bytes(65), b"\xff" * 65, b"s" * 97, wrapped(b"s")], ids=len)
async def test_without_a_node_a_contract_wallet_learns_what_it_needs(
    signature: bytes, settings: Settings, secrets: Secrets, db: Database, clock: FakeClock
) -> None:
    async with signing_in(None, settings, secrets, db, clock) as access:
        refused = await refusal(access, of_contract(access, signature))
        assert refused.code == "AUTH_INVALID"
        assert refused.message.startswith("The signature is not valid: ")
        assert refused.message.endswith(NEEDS)
        text = message(WALLET, access.accounts.nonce().nonce, START_MS)
        other = await refusal(access, Login(text, sign(OTHER_KEY, text)))
        assert other.message == f"The signature is not the one of the wallet the message names. {NEEDS}"


async def test_a_wallet_that_is_not_created_yet_is_asked_after_its_factory(asking: Access, node: Node) -> None:
    node.answers = ["0x", YES]
    asked = of_contract(asking, wrapped(b"inner"))
    await asking.accounts.login(asked, NETWORK)
    deployed, undeployed = node.calls
    inner = question(personal_digest(asked.message), b"inner").hex()
    assert deployed == {"to": WALLET, "data": "0x" + inner}
    assert undeployed.keys() == {"data"}
    assert undeployed["data"].endswith(b"create it".hex() + inner)
    assert FACTORY.hex() in undeployed["data"]


async def test_a_wrapped_signature_of_a_created_wallet_needs_no_factory(asking: Access, node: Node) -> None:
    await asking.accounts.login(of_contract(asking, wrapped(b"inner")), NETWORK)
    assert len(node.calls) == 1
    node.answers = ["0x"]
    assert (await refusal(asking, of_contract(asking, wrapped(b"inner")))).code == "AUTH_INVALID"


@pytest.mark.parametrize(
    "signature",
    [
        WRAPPED,
        bytes(95) + WRAPPED,
        b"\x01" + wrapped(b"s")[1:],
        wrapped(b"s")[:32] + b"\xff" * 32 + wrapped(b"s")[64:],
        wrapped(b"s")[:64] + (10**6).to_bytes(32) + wrapped(b"s")[96:],
        wrapped(b"s")[:96] + b"\xff" * 32 + wrapped(b"s")[128:],
    ],
    ids=["nothing", "short", "no address", "far offset", "offset behind the end", "endless"],
)
async def test_a_wrapped_signature_that_cannot_be_read_is_refused(signature: bytes, asking: Access, node: Node) -> None:
    refused = await refusal(asking, of_contract(asking, signature))
    assert refused.message == (
        "The signature is not valid: it ends as an ERC-6492 signature does, and is not encoded as one."
    )
    assert node.methods == []


def test_only_the_last_32_bytes_make_a_wrapped_signature() -> None:
    assert unwrap(WRAPPED + b"\0") is None
    assert unwrap(b"") is None
    found = unwrap(wrapped(b"s" * 33, b"p" * 70))
    assert found == (FACTORY, b"p" * 70, b"s" * 33)
