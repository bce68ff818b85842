"""JSON-RPC over the books of the fake facilitator: the dollar token as a node shows it.

A block a second, numbered by its time. Of the token there are `authorizationState`, its domain, balances and events.
"""

from typing import Any, Final

from aiohttp import web
from eth_account.messages import encode_typed_data

from service.clock import SECOND_MS, Clock
from service.payments.facilitators.token import CANCELED, USED
from service.payments.networks import NETWORKS

CHAIN: Final = NETWORKS["eip155:84532"]
TRANSFER: Final = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
_DOMAIN_SEPARATOR: Final = "0x3644e515"
_SIGNED_BY: Final = encode_typed_data(
    {
        "name": CHAIN.domain.name,
        "version": CHAIN.domain.version,
        "chainId": int(CHAIN.chain_id.removeprefix("eip155:")),
        "verifyingContract": CHAIN.usdc,
    },
    {"Nothing": [{"name": "it", "type": "uint256"}]},
    {"it": 0},
)
"""Of any message of the token: its header is the domain separator."""

_ENOUGH: Final = 10**12
_ADDRESS: Final = slice(34, 74)


class Spending:
    """How an authorization ended: in which second, and by which transfer; none if its payer cancelled it."""

    def __init__(self, payer: str, nonce: str, at_s: int, transfer: tuple[str, int, str] | None) -> None:
        self.payer = payer
        self.nonce = nonce
        self.at_s = at_s
        self.transfer = transfer

    def logs(self) -> list[dict[str, Any]]:
        """Its events."""
        payer = _word(self.payer)
        pay_to, value, transaction = self.transfer or ("0x0", 0, "0x" + "ca" * 32)
        said = {
            "address": CHAIN.usdc,
            "data": "0x",
            "blockNumber": hex(self.at_s),
            "transactionHash": transaction,
            "logIndex": "0x0",
        }
        ended = {**said, "topics": [USED if self.transfer else CANCELED, payer, self.nonce]}
        if self.transfer is None:
            return [ended]
        paid = {"topics": [TRANSFER, payer, _word(pay_to)], "data": _word(hex(value)), "logIndex": "0x1"}
        return [ended, {**said, **paid}]


class TokenNode:
    """Answers JSON-RPC.

    Attributes:
        ended: Authorizations that ended, by payer and nonce.
        balances: What payers have, by address in lower case; who is not named has enough.
        clock: Says which block is the newest.
        down: Whether it answers nothing of use.
    """

    def __init__(self, clock: Clock, balances: dict[str, int]) -> None:
        self.ended: dict[tuple[str, str], Spending] = {}
        self.balances = balances
        self.clock = clock
        self.down = False

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one question."""
        asked = await request.json()
        if self.down:
            return web.Response(status=503, text="no node")
        result = self._do(asked["method"], asked["params"])
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    def now_s(self) -> int:
        return self.clock.now_ms() // SECOND_MS

    def _do(self, method: str, parameters: list[Any]) -> Any:
        match method:
            case "eth_chainId":
                return hex(int(CHAIN.chain_id.removeprefix("eip155:")))
            case "eth_getBlockByNumber":
                number = self._number(parameters[0])
                return {"number": hex(number), "timestamp": hex(number), "baseFeePerGas": "0x1"}
            case "eth_call":
                return self._call(parameters[0]["data"], self._number(parameters[1]))
            case "eth_getLogs":
                return self._logs(parameters[0])
            case "eth_getTransactionReceipt":
                return self._receipt(parameters[0])
        raise AssertionError(method)

    def _number(self, tag: str) -> int:
        return self.now_s() if tag in {"latest", "finalized"} else int(tag, 16)

    def _call(self, data: str, number: int) -> str:
        if data == _DOMAIN_SEPARATOR:
            return f"0x{_SIGNED_BY.header.hex()}"
        payer = "0x" + data[_ADDRESS]
        ended = self.ended.get((payer, "0x" + data[74:138]))
        return _word(hex(int(ended is not None and ended.at_s <= number)))

    def _logs(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        _, payer, nonce = wanted["topics"]
        ended = self.ended.get(("0x" + payer[-40:], nonce))
        if ended is None or not int(wanted["fromBlock"], 16) <= ended.at_s <= int(wanted["toBlock"], 16):
            return []
        return ended.logs()[:1]

    def _receipt(self, transaction: str) -> dict[str, Any] | None:
        for ended in self.ended.values():
            if ended.transfer and ended.transfer[2] == transaction:
                block = hex(ended.at_s)
                said = {"transactionHash": transaction, "status": "0x1", "blockNumber": block}
                return {**said, "logs": ended.logs()}
        return None


def _word(value: str) -> str:
    return f"0x{int(value, 16):064x}"
