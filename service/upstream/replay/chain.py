"""A recorded piece of an EVM chain at any instant of recorded time, with the one reorganisation that is in it."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from service.clock import SECOND_MS

SEGMENT_FILE: Final = "chain/segment.json"
LOGS_FILE: Final = "chain/logs.json"
ORPHANS_FILE: Final = "chain/orphans.json"
WALLETS_FILE: Final = "chain/wallets.toml"
"""Who is watched where nobody names another file."""

BLOCK_S: Final = 12


class Log(msgspec.Struct, frozen=True, array_like=True):
    """An event in a block. `transaction` numbers it through the recording, `place` within its block, from 0."""

    block: int
    place: int
    index: int
    transaction: int
    address: str
    topics: list[str]
    data: str


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded beside the events.

    Attributes:
        chain_id: The chain's number (EIP-155).
        first_block: The first block recorded; one follows in `BLOCK_S` seconds.
        first_s: Its recorded time, epoch seconds.
        fork: The last block that both branches share.
        orphaned: Blocks after it that were replaced once the next one was there: `logs` has what replaced them,
            `orphans` what stood there before.
        answers: Contract → call data → what the call returns. A contract reverts on everything else.
    """

    chain_id: int
    first_block: int
    first_s: int
    fork: int
    orphaned: int
    answers: Mapping[str, Mapping[str, str]]


class Chain:
    """The chain as a node tells it.

    Args:
        segment: What is recorded beside the events.
        logs: Events of the chain, by block and index.
        orphans: Events of the blocks that were replaced, likewise.
    """

    def __init__(self, segment: Segment, logs: Sequence[Log], orphans: Sequence[Log]) -> None:
        self.segment = segment
        self._logs = logs
        fork = _count_before(logs, segment.fork + 1)
        self._logs_before = [*logs[:fork], *orphans]

    def head(self, now_ms: int) -> int:
        """The newest block at an instant of recorded time."""
        return self.segment.first_block + (now_ms // SECOND_MS - self.segment.first_s) // BLOCK_S

    def time_s(self, block: int) -> int:
        """When a block was made, recorded time in epoch seconds."""
        return self.segment.first_s + (block - self.segment.first_block) * BLOCK_S

    def hash(self, block: int, head: int) -> str:
        """A block's hash, as long as the head is there."""
        stands = block <= self.segment.fork or self._is_settled(head)
        return _digest(f"block {block}" if stands else f"orphan {block}")

    def logs(self, first: int, last: int, head: int) -> Sequence[Log]:
        """Events from one block to another, both included, as long as the head is there."""
        logs = self._logs if self._is_settled(head) else self._logs_before
        return logs[_count_before(logs, first) : _count_before(logs, last + 1)]

    def _is_settled(self, head: int) -> bool:
        return head > self.segment.fork + self.segment.orphaned


def read_chain(files: Mapping[str, bytes]) -> Chain | None:
    """The chain of a fixture set; none where the set has none.

    Args:
        files: Path below the fixture set → content, unpacked.
    """
    if SEGMENT_FILE not in files:
        return None
    logs, orphans = (msgspec.json.decode(files[file], type=list[Log]) for file in (LOGS_FILE, ORPHANS_FILE))
    return Chain(msgspec.json.decode(files[SEGMENT_FILE], type=Segment), logs, orphans)


def transaction_hash(transaction: int) -> str:
    """The hash of a transaction: the same in whatever block it is."""
    return _digest(f"transaction {transaction}")


def _count_before(logs: Sequence[Log], block: int) -> int:
    return bisect_left(logs, block, key=lambda log: log.block)


def _digest(named: str) -> str:
    """Recorded blocks are not whole, so what they would hash to is made up: of 32 bytes, and never twice."""
    return "0x" + sha256(f"verdict fixtures, {named}".encode()).hexdigest()
