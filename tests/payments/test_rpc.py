"""A node may say anything: what is no proper answer is no answer, and nothing it says brings the service down."""

from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.payments.facilitators.rpc import EthereumRpc, open_rpc
from service.upstream.failures import UpstreamError
from service.upstream.http_client import HttpClient, Reply
from service.upstream.json_rpc import NodeError, RevertedError

USDC = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
HASH = "0x" + "ab" * 32


class Saying:
    """A node that names its chain and then says one thing."""

    def __init__(self, reply: bytes | dict[str, Any] | UpstreamError, status: int = 200) -> None:
        self.reply = reply
        self.status = status
        self.asked: list[Any] = []

    async def post(self, _: str, body: bytes) -> Reply:
        asked = msgspec.json.decode(body)
        self.asked.append(asked)
        if asked["method"] == "eth_chainId":
            return Reply(200, msgspec.json.encode({"jsonrpc": "2.0", "id": asked["id"], "result": "0x14a34"}))
        if isinstance(self.reply, UpstreamError):
            raise self.reply
        if isinstance(self.reply, bytes):
            return Reply(self.status, self.reply)
        return Reply(self.status, msgspec.json.encode({"jsonrpc": "2.0", "id": asked["id"], **self.reply}))


def node(reply: bytes | dict[str, Any] | UpstreamError, status: int = 200) -> EthereumRpc:
    return EthereumRpc(cast(HttpClient, Saying(reply, status)), "eip155:84532")


async def test_the_chain_is_asked_for_once_and_numbers_are_read() -> None:
    saying = Saying({"result": "0xff"})
    rpc = EthereumRpc(cast(HttpClient, saying), "eip155:84532")
    assert await rpc.balance(USDC) == 255
    assert await rpc.sent_by(USDC, waiting=True) == 255
    assert await rpc.sent_by(USDC, waiting=False) == 255
    assert [asked["method"] for asked in saying.asked].count("eth_chainId") == 1
    assert [asked["params"][-1] for asked in saying.asked[2:]] == ["pending", "latest"]
    assert len({asked["id"] for asked in saying.asked}) == 4


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"<html>502</html>",
        b"[]",
        b"null",
        b'{"jsonrpc":"2.0","id":1,"result":"0x1"}',
        b'{"jsonrpc":"2.0","id":2}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}',
        b"[" * 100_000,
        b"\xff",
        {"result": None},
        {"result": 5},
        {"result": "5"},
        {"result": "0x"},
        {"result": "-0x1"},
        {"result": "0x" + "f" * 65},
        {"result": ["0x1"]},
        {"error": {"code": "x", "message": "no"}},
        {"error": {"code": -32005, "message": "limit exceeded"}},
    ],
)
async def test_an_answer_that_is_none_is_told_as_such(reply: bytes | dict[str, Any]) -> None:
    with pytest.raises(NodeError, match="eth_getBalance") as raised:
        await node(reply, 503).balance(USDC)
    assert not isinstance(raised.value, RevertedError)


@given(st.binary(max_size=200))
async def test_whatever_bytes_come_they_are_an_answer_or_none(reply: bytes) -> None:
    with pytest.raises(NodeError):
        await node(reply).block("latest")


async def test_no_answer_is_told_without_the_nodes_address() -> None:
    async with open_rpc("http://127.0.0.1:1/secret-key", "eip155:84532") as rpc:
        with pytest.raises(NodeError, match=r"eth_chainId: Connection refused") as raised:
            await rpc.tip()
        with pytest.raises(UpstreamError) as failed:
            await rpc._node._http.post("", b"")
    assert "secret" not in str(raised.value)
    assert failed.value.upstream == "node"


def error_string(said: bytes) -> str:
    size = len(said).to_bytes(32).hex()
    return "0x08c379a0" + f"{32:064x}" + size + (said + bytes(-len(said) % 32)).hex()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            {"code": 3, "message": "execution reverted", "data": error_string(b"no money")},
            "no money; execution reverted",
        ),
        ({"code": -32015, "message": "VM error.", "data": "Reverted " + error_string(b"poor")}, "poor; VM error."),
        ({"code": -32603, "message": "Internal", "data": {"cause": {"message": "revert: x"}}}, "revert: x; Internal"),
        ({"code": 3, "message": "reverted", "data": {"a": {"b": {"c": {"d": "too deep"}}}}}, "reverted"),
        ({"code": 3, "message": "reverted", "data": ["x"]}, "reverted"),
        ({"code": -32000, "message": "execution reverted: no money"}, "execution reverted: no money"),
        ({"code": 3, "message": "reverted", "data": "0x"}, "reverted"),
        ({"code": 3, "message": "reverted", "data": "0x08c379a0zz"}, "reverted"),
        ({"code": 3, "message": "reverted", "data": "0x08c379a0"}, "reverted"),
        ({"code": 3, "message": "reverted", "data": "0x08c379a0" + "f" * 192}, "\ufffd" * 32 + "; reverted"),
        ({"code": 3, "message": "reverted", "data": {"reason": "x"}}, "x; reverted"),
        ({"code": 3, "message": "x" * 30 + " " + "y " * 9_000}, None),
    ],
)
async def test_a_contracts_refusal_is_told_from_a_nodes(error: dict[str, Any], words: str | None) -> None:
    with pytest.raises(RevertedError) as raised:
        await node({"error": error}).call(USDC, b"")
    assert words is None or str(raised.value) == words
    assert len(str(raised.value)) <= 200


async def test_a_reason_is_read_before_it_is_redacted_and_repeated_only_after() -> None:
    said = "execution reverted: FiatTokenV2: authorization is used or canceled"
    with pytest.raises(RevertedError) as raised:
        await node({"error": {"code": -32000, "message": said}}).call(USDC, b"")
    assert raised.value.reason == said
    assert str(raised.value) == "execution reverted: FiatTokenV2: [redacted] is used or canceled"


def receipt(**changes: Any) -> dict[str, Any]:
    return {"transactionHash": HASH, "status": "0x1", "blockNumber": "0x10", "logs": [], **changes}


async def test_a_receipt_of_another_transaction_is_none() -> None:
    mined = await node({"result": receipt()}).mined(HASH)
    assert mined is not None
    assert (mined.succeeded, mined.block) == (True, 16)
    assert await node({"result": None}).mined(HASH) is None
    failed = await node({"result": receipt(status="0x0")}).mined(HASH)
    assert failed is not None
    assert not failed.succeeded
    for wrong in (
        receipt(transactionHash="0x" + "cd" * 32),
        receipt(status=True),
        receipt(logs=[{}]),
        receipt(logs=None),
    ):
        with pytest.raises(NodeError):
            await node({"result": wrong}).mined(HASH)


async def test_calls_say_who_asks_and_after_which_block() -> None:
    saying = Saying({"result": "0x00ff"})
    rpc = EthereumRpc(cast(HttpClient, saying), "eip155:84532")
    assert await rpc.call(USDC, b"\x01", at=16) == b"\x00\xff"
    await rpc.call(USDC, b"\x01", sender=HASH[:42])
    assert saying.asked[-2]["params"] == [{"to": USDC, "data": "0x01"}, "0x10"]
    assert saying.asked[-1]["params"] == [{"to": USDC, "data": "0x01", "from": HASH[:42]}, "latest"]


async def test_events_are_asked_for_by_contract_topics_and_blocks() -> None:
    saying = Saying({"result": []})
    await EthereumRpc(cast(HttpClient, saying), "eip155:84532").logs(USDC, [[HASH], HASH], 1, 16)
    assert saying.asked[-1]["params"] == [
        {"address": USDC, "topics": [[HASH], HASH], "fromBlock": "0x1", "toBlock": "0x10"}
    ]
