"""Looking a chain through for wallets: in ranges that nodes can answer, and back again where the chain has changed."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from service.upstream.failures import UpstreamError
from service.wallets.chain import Header, Node
from service.wallets.ledger import WINDOW, Range, WalletLedger
from service.wallets.nodes import Nodes
from service.wallets.range_reader import RangeTransfers, TooMuchError, read_header, read_range
from service.wallets.store import Moved

FIRST_BLOCKS: Final = 7_200
"""How far back a wallet is looked through that is new: a day of Ethereum's."""

LONGEST_RANGE: Final = 2_000
"""Blocks asked for at once: public nodes give no more."""

_WALLETS: Final = 100
"""Wallets asked for at once: nodes take so many topics and more."""

_TRIES: Final = 4

_log: Final = logging.getLogger("verdict.wallets")


class _ForkedError(Exception):
    """The chain has gone on differently; what lay above the fork is forgotten already."""


class Scanner:
    """Looks one chain through.

    Args:
        ledger: Where it is written down.
        nodes: Who is asked.
    """

    def __init__(self, ledger: WalletLedger, nodes: Nodes) -> None:
        self._ledger = ledger
        self._nodes = nodes
        self._span = LONGEST_RANGE

    async def look(self, chain_id: int, target: int, watched: Collection[str]) -> int:
        """Look through what has not been, up to a block, and once more through the last blocks below.

        Args:
            chain_id: The nodes' chain.
            target: The block.
            watched: Addresses in lower case, at least one.

        Returns:
            The block up to which all of them have been looked through.

        Raises:
            UpstreamError: If no node could answer; what was found before that is kept.
            OvertakenError: If somebody else writes down the same at the same time.
            ServiceError: `UNAVAILABLE` if the store does not answer.
        """
        for _ in range(_TRIES):
            try:
                return await self._look(chain_id, target, watched)
            except _ForkedError:
                continue
        raise UpstreamError("ethereum", None, b"the chain changes faster than it can be read")

    async def _look(self, chain_id: int, target: int, watched: Collection[str]) -> int:
        groups = await self._groups(chain_id, target, watched)
        for before, scans in sorted(groups.items(), reverse=True):
            addresses = sorted(scans)
            for start in range(0, len(addresses), _WALLETS):
                some = addresses[start : start + _WALLETS]
                first = max(before - WINDOW + 1, *(scans[address] for address in some))
                await self._follow(chain_id, some, before, first, target)
        return max(min(groups), target)

    async def _groups(self, chain_id: int, target: int, watched: Collection[str]) -> dict[int, dict[str, int]]:
        """The watched wallets, each with its first block, by the block up to which they have been looked through.

        One that is not watched any more is remembered for as long as one that is new is looked back: who takes it out
        and puts it in again loses nothing.
        """
        first = max(0, target - FIRST_BLOCKS + 1)
        scans = {scan.address: scan for scan in await self._ledger.scans(chain_id)}
        added = set(watched) - scans.keys()
        dropped = [scan.address for scan in scans.values() if scan.address not in watched and scan.through < first - 1]
        if added or dropped:
            await self._ledger.follow(chain_id, sorted(added), first, dropped)
            scans = {scan.address: scan for scan in await self._ledger.scans(chain_id)}
        groups: dict[int, dict[str, int]] = {}
        for address in watched:
            groups.setdefault(scans[address].through, {})[address] = scans[address].first
        return groups

    async def _follow(self, chain_id: int, addresses: Sequence[str], before: int, first: int, target: int) -> None:
        """Look some wallets through, from a block; `before` is as far as they have been."""
        while first <= target > before:
            found = await self._range(chain_id, addresses, before, first, target)
            await self._ledger.add(found)
            first, before = found.last.number + 1, max(before, found.last.number)

    async def _range(self, chain_id: int, addresses: Sequence[str], before: int, first: int, target: int) -> Range:
        """Read as many blocks as are given: half as many after every failure, twice as many after a success."""
        while True:
            last = min(first + self._span - 1, target)

            async def question(node: Node, last: int = last) -> RangeTransfers:
                return await self._read(node, chain_id, addresses, before, first, last)

            try:
                reading = await self._nodes.ask(question)
            except (UpstreamError, TooMuchError):
                self._span = max(1, (last - first + 1) // 2)
                if last == first:
                    raise
            else:
                self._span = min(LONGEST_RANGE, 2 * self._span)
                blocks = list(reading.blocks.values())
                return Range(chain_id, addresses, before, reading.last, blocks, _moved(addresses, reading))

    async def _read(
        self, node: Node, chain_id: int, addresses: Sequence[str], before: int, first: int, last: int
    ) -> RangeTransfers:
        """Read a range from one node, and hold it against what is known.

        Raises:
            _ForkedError: If the chain is not the one that was looked through.
        """
        newest = await read_header(node, last)
        known = dict(await self._ledger.known(chain_id, min(first, before), max(last, before)))
        if before in known:
            await self._compare(node, chain_id, known, await read_header(node, before))
        reading = await read_range(node, addresses, first, newest)
        for block in (*reading.blocks.values(), newest):
            await self._compare(node, chain_id, known, block)
        read = {(transfer.block, transfer.log_index) for transfer in reading.transfers}
        kept = await self._ledger.moved_in(chain_id, addresses, first, last)
        missing = {block for block, log_index in kept if (block, log_index) not in read}
        for number in sorted(missing - reading.blocks.keys()):
            await self._compare(node, chain_id, known, await read_header(node, number))
        if missing:
            # Their blocks still stand: a node may be late with its logs, and a transfer once seen there is not undone.
            _log.warning("A node leaves transfers out.", extra={"upstream": node.name, "blocks": len(missing)})
        return reading

    async def _compare(self, node: Node, chain_id: int, known: Mapping[int, str], block: Header) -> None:
        """Go back to where the chain forked, if a block is known by another hash."""
        block_hash = known.get(block.number, block.hash)
        if block_hash == block.hash:
            return
        wrong = Header(block.number, block_hash, block.at_ms)
        if (await read_header(node, wrong.number)).hash == wrong.hash:
            raise node.lie("the node told of a block that cannot be there")
        fork = await newest_shared(node, await self._ledger.known(chain_id, 0, wrong.number - 1))
        if wrong.number - fork > WINDOW and await self._nodes.hold(wrong, node):
            raise node.lie("the node tells another history than others do")
        _log.warning("The chain has forked.", extra={"upstream": node.name, "block": wrong.number, "fork": fork})
        await self._ledger.roll_back(chain_id, (wrong.number, wrong.hash), fork)
        raise _ForkedError


async def newest_shared(node: Node, known: Sequence[tuple[int, str]]) -> int:
    """The newest of known blocks that a node's chain still holds; -1 where it holds none.

    Args:
        node: Who is asked, as often as their number can be halved: a chain that has one of them has all below it.
        known: Numbers and hashes, the lowest first.

    Raises:
        UpstreamError: If the node does not tell.
    """
    shared, gone = 0, len(known)
    while shared < gone:
        middle = (shared + gone) // 2
        number, block_hash = known[middle]
        if (await read_header(node, number)).hash == block_hash:
            shared = middle + 1
        else:
            gone = middle
    return known[shared - 1][0] if shared else -1


def _moved(addresses: Sequence[str], reading: RangeTransfers) -> list[Moved]:
    """The transfers, once for each wallet and direction, not valued yet."""
    return [
        Moved(
            block=transfer.block,
            log_index=transfer.log_index,
            incoming=incoming,
            address=address,
            contract=transfer.contract,
            counterparty=counterparty,
            amount=transfer.amount,
            amount_usd=None,
            tx=transfer.tx,
            at_ms=reading.blocks[transfer.block].at_ms,
        )
        for transfer in reading.transfers
        for incoming, address, counterparty in (
            (False, transfer.sender, transfer.recipient),
            (True, transfer.recipient, transfer.sender),
        )
        if address in addresses
    ]
