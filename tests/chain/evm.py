"""A chain of our own, in this process: py-evm under Base Sepolia's id, with a dollar token where USDC is.

It keeps transactions waiting as nodes do (by nonce, replaced only for a tenth more) and makes blocks when told, or at
once; blocks can be taken back. The token and the wallet are Vyper's; their compiled code stands beside their source.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from eth.chains.base import MiningChain
from eth.constants import POST_MERGE_DIFFICULTY, POST_MERGE_MIX_HASH, POST_MERGE_NONCE
from eth.db.atomic import AtomicDB
from eth.db.backends.memory import MemoryDB
from eth.vm.forks import PragueVM
from eth.vm.message import Message
from eth_utils import ValidationError, keccak, to_canonical_address

from service.clock import SECOND_MS, SystemClock
from service.payments.networks import NETWORKS

# py-evm has just asked for ten times as much, for contracts that call each other a thousand deep. JSON nested like that
# would then overflow the stack of whoever tests with it, where a service refuses it.
sys.setrecursionlimit(1_000)

CHAIN_ID: Final = 84532
USDC: Final = NETWORKS["eip155:84532"].usdc
WALLET: Final = "0x00000000000000000000000000000000c0de0001"
"""A contract wallet (EIP-1271)."""

ETHER: Final = 10**18
GAS_OF_A_CALL: Final = 10_000_000
_HERE: Final = Path(__file__).parent
_GAS_LIMIT: Final = 30_000_000


def now_s() -> int:
    """The present time as blocks bear it, epoch seconds."""
    return SystemClock().now_ms() // SECOND_MS


class EvmError(Exception):
    """What a node says when it does not do what is asked; `data` is what a contract reverted with, or another value."""

    def __init__(self, message: str, code: int = -32000, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Mined(NamedTuple):
    """A block, and what its transactions came to (py-evm's own objects)."""

    block: Any
    transactions: tuple[Any, ...]
    receipts: tuple[Any, ...]
    state: dict[bytes, bytes]


class Chain(MiningChain):  # type: ignore[misc]  # py-evm's types are not read
    """The rules of today's Ethereum."""

    chain_id = CHAIN_ID
    vm_configuration = ((0, PragueVM),)


class Evm:
    """One chain.

    Args:
        now_s: What its block makers' clock says.
        dollars: Atomic units at the start, by address.
        ether: Wei at the start, by address.
        owner: Whose the contract wallet is.
        code: Further contracts, by address.

    Attributes:
        at_once: Whether a transaction is in a block as soon as it is sent.
        final: How many blocks below the newest one are not final yet.
    """

    def __init__(
        self,
        now_s: Callable[[], int],
        dollars: dict[str, int] | None = None,
        ether: dict[str, int] | None = None,
        owner: str = "0x" + "00" * 20,
        code: dict[str, bytes] | None = None,
    ) -> None:
        self.at_once = True
        self.final = 0
        self.waiting: dict[tuple[bytes, int], Any] = {}
        self._now_s = now_s
        self._kept: dict[bytes, bytes] = {}
        state = _state(dollars or {}, ether or {}, owner)
        state |= {to_canonical_address(at): _account("0x" + each.hex()) for at, each in (code or {}).items()}
        chain = Chain.from_genesis(AtomicDB(MemoryDB(self._kept)), _genesis(now_s()), state)
        self.chain = chain
        self.blocks = [Mined(chain.get_canonical_block_by_number(0), (), (), dict(self._kept))]

    @property
    def head(self) -> Mined:
        """The newest block."""
        return self.blocks[-1]

    @property
    def finalized(self) -> int:
        """Number of the newest final block."""
        return max(0, len(self.blocks) - 1 - self.final)

    def mine(self, blocks: int = 1) -> None:
        """Make blocks, the first of everything that waits and can pay for it."""
        for _ in range(blocks):
            self._mine(self._ready())

    def take_back(self, blocks: int) -> None:
        """Forget the newest blocks, as a reorganisation does; their transactions wait again."""
        gone = self.blocks[-blocks:]
        del self.blocks[-blocks:]
        self._kept = dict(self.head.state)
        self.chain = Chain(AtomicDB(MemoryDB(self._kept)))
        for mined in gone:
            for transaction in mined.transactions:
                self.waiting[transaction.sender, transaction.nonce] = transaction

    def forget(self) -> None:
        """Drop everything that waits, as a node that was restarted."""
        self.waiting.clear()

    def send(self, raw: bytes) -> bytes:
        """Take a signed transaction; its hash.

        Raises:
            EvmError: In a node's words.
        """
        try:
            transaction = self._vm().get_transaction_builder().decode(raw)
            transaction.validate()
            sender = transaction.sender
        except Exception as error:
            raise EvmError(f"rlp: {error}") from error
        if self.block_of(transaction.hash) is not None:
            raise EvmError("already known")
        self._check(transaction, sender)
        self.waiting[sender, transaction.nonce] = transaction
        if self.at_once:
            self.mine()
        return bytes(transaction.hash)

    def call(
        self, to: bytes, data: bytes, sender: bytes, *, gas: int = GAS_OF_A_CALL, number: int | None = None
    ) -> Any:
        """Run a call in the block after `number` (py-evm's computation); nothing of it stays."""
        state = self._vm(number).state
        message = Message(
            gas=gas, to=to, sender=sender, value=0, data=data, code=state.get_code(to), create_address=None
        )
        context = state.get_transaction_context_class()(gas_price=0, origin=sender)
        return state.computation_class.apply_message(state, message, context)

    def create(self, init: bytes, *, gas: int = GAS_OF_A_CALL) -> Any:
        """Run init code in the next block (py-evm's computation); nothing of it stays."""
        state = self._vm().state
        message = Message(gas=gas, to=b"", sender=bytes(20), value=0, data=b"", code=init, create_address=b"\xc0" * 20)
        context = state.get_transaction_context_class()(gas_price=0, origin=bytes(20))
        return state.computation_class.apply_create_message(state, message, context)

    def read(self, to: str, data: bytes) -> bytes:
        """What a view answers.

        Raises:
            EvmError: If it reverts.
        """
        computation = self.call(to_canonical_address(to), data, bytes(20))
        if computation.is_error:
            raise EvmError("execution reverted", 3, bytes(computation.output))
        return bytes(computation.output)

    def dollars(self, address: str) -> int:
        """An address's balance of the token, atomic units."""
        return int.from_bytes(self.read(USDC, keccak(text="balanceOf(address)")[:4] + _word(address)))

    def ether(self, address: str) -> int:
        """An address's balance, wei."""
        return int(self._vm().state.get_balance(to_canonical_address(address)))

    def state_at(self, number: int | None = None) -> Any:
        """py-evm's state after a block; the newest by default."""
        return self._vm(number).state

    def pending_nonce(self, address: bytes) -> int:
        """The nonce after everything that waits without a gap."""
        nonce = int(self._vm().state.get_nonce(address))
        while (address, nonce) in self.waiting:
            nonce += 1
        return nonce

    def block_of(self, transaction_hash: bytes) -> tuple[Mined, int] | None:
        """The block that holds a transaction, and its place in it."""
        for mined in self.blocks:
            for place, transaction in enumerate(mined.transactions):
                if transaction.hash == transaction_hash:
                    return mined, place
        return None

    def base_fee(self) -> int:
        """Of the next block, wei a gas."""
        return int(self.chain.header.base_fee_per_gas)

    def _vm(self, number: int | None = None) -> Any:
        parent = (self.head if number is None else self.blocks[number]).block.header
        header = self.chain.create_header_from_parent(parent, gas_limit=parent.gas_limit)
        return self.chain.get_vm(header.copy(timestamp=max(parent.timestamp + 1, self._now_s())))

    def _check(self, transaction: Any, sender: bytes) -> None:
        state = self._vm().state
        if transaction.nonce < state.get_nonce(sender):
            raise EvmError("nonce too low")
        other = self.waiting.get((sender, transaction.nonce))
        if other is not None and other.hash == transaction.hash:
            raise EvmError("already known")
        if other is not None and _fees(transaction) < tuple(fee * 110 // 100 for fee in _fees(other)):
            raise EvmError("replacement transaction underpriced")
        if state.get_balance(sender) < transaction.gas * transaction.max_fee_per_gas + transaction.value:
            raise EvmError("insufficient funds for gas * price + value")

    def _ready(self) -> list[Any]:
        chosen = []
        next_of: dict[bytes, int] = {}
        for (sender, nonce), transaction in sorted(self.waiting.items(), key=lambda waiting: waiting[0]):
            due = next_of.get(sender, int(self._vm().state.get_nonce(sender)))
            if nonce == due and transaction.max_fee_per_gas >= self.base_fee():
                chosen.append(transaction)
                next_of[sender] = due + 1
        return chosen

    def _mine(self, transactions: Sequence[Any]) -> None:
        chain = self.chain
        parent = self.head.block.header
        chain.header = chain.header.copy(timestamp=max(parent.timestamp + 1, self._now_s()), gas_limit=parent.gas_limit)
        done, receipts = [], []
        for transaction in transactions:
            del self.waiting[transaction.sender, transaction.nonce]
            try:
                _, receipt, _ = chain.apply_transaction(transaction)
            except ValidationError:
                continue
            done.append(transaction)
            receipts.append(receipt)
        block = chain.mine_block(mix_hash=keccak(chain.header.parent_hash))
        self.blocks.append(Mined(block, tuple(done), tuple(receipts), dict(self._kept)))
        for place in [(sender, nonce) for sender, nonce in self.waiting if nonce < self._vm().state.get_nonce(sender)]:
            del self.waiting[place]


def _fees(transaction: Any) -> tuple[int, int]:
    return transaction.max_fee_per_gas, transaction.max_priority_fee_per_gas


def _word(address: str) -> bytes:
    return bytes(to_canonical_address(address)).rjust(32, b"\0")


def _compiled(name: str) -> Any:
    return json.loads((_HERE / f"{name}.json").read_text())


def _genesis(now_s: int) -> dict[str, Any]:
    return {
        "coinbase": bytes(20),
        "difficulty": POST_MERGE_DIFFICULTY,
        "extra_data": b"",
        "gas_limit": _GAS_LIMIT,
        "mix_hash": POST_MERGE_MIX_HASH,
        "nonce": POST_MERGE_NONCE,
        "timestamp": now_s - 2,
    }


def _state(dollars: dict[str, int], ether: dict[str, int], owner: str) -> dict[bytes, Any]:
    token, wallet = _compiled("token"), _compiled("wallet")

    def slot(address: str) -> int:
        return int.from_bytes(keccak(token["slots"]["balanceOf"].to_bytes(32) + _word(address)))

    state = {to_canonical_address(address): _account(balance=balance) for address, balance in ether.items()}
    state[to_canonical_address(USDC)] = _account(
        token["code"], {slot(address): amount for address, amount in dollars.items()}
    )
    state[to_canonical_address(WALLET)] = _account(wallet["code"], {0: int(owner, 16)})
    return state


def _account(code: str = "0x", storage: dict[int, int] | None = None, balance: int = 0) -> dict[str, Any]:
    return {"balance": balance, "nonce": 0, "code": bytes.fromhex(code[2:]), "storage": storage or {}}
