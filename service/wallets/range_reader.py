"""Reading a range of blocks from one node, so that it is of one piece: nothing is written down, nothing is compared."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from service.wallets.chain import Header, Node, Transfer

MOST_TRANSFERS: Final = 2_000
"""Taken of one range, where it can be divided: they are written down in one transaction, which others wait for."""

MOST_HEADERS: Final = 250
"""Asked for within one range, where it can be divided and the node does not tell times with its logs."""

_AT_ONCE: Final = 8


class TooMuchError(Exception):
    """There is more in the range than is taken at once."""


class RangeTransfers(Struct, frozen=True):
    """What a node has of a range: its last block, the blocks in which something moved, by number, and what moved."""

    last: Header
    blocks: Mapping[int, Header]
    transfers: Sequence[Transfer]


async def read_header(node: Node, number: int) -> Header:
    """A block that the node should have.

    Raises:
        UpstreamError: If it does not tell, or has not got that far.
    """
    header = await node.header(number)
    if header is None:
        raise node.lie("the node has not got that far")
    return header


async def read_range(node: Node, addresses: Sequence[str], first: int, last: Header) -> RangeTransfers:
    """Transfers out of and into wallets, with their blocks.

    Args:
        node: Who is asked.
        addresses: The wallets.
        first: The range's first block.
        last: Its last one, as the node gave it just before. It is asked for again when all is read: if it still is the
            same, so are all blocks below it.

    Raises:
        UpstreamError: If the node does not tell, contradicts itself, or its chain has changed meanwhile.
        TooMuchError: If there is too much in it, and it can be divided.
    """
    transfers = _merged(
        node,
        [
            *await node.transfers(first, last.number, out_of=addresses, into=()),
            *await node.transfers(first, last.number, out_of=(), into=addresses),
        ],
    )
    undated = {transfer.block for transfer in transfers if transfer.at_ms is None} - {last.number}
    if first < last.number and (len(transfers) > MOST_TRANSFERS or len(undated) > MOST_HEADERS):
        raise TooMuchError
    headers = {last.number: last, **await _headers(node, sorted(undated))}
    blocks = _blocks(node, transfers, last, headers)
    if await read_header(node, last.number) != last:
        raise node.lie("the chain has changed while it was read")
    return RangeTransfers(last, blocks, transfers)


def _merged(node: Node, transfers: Iterable[Transfer]) -> list[Transfer]:
    """Each transfer once, in the chain's order: one between two wallets is returned twice."""
    merged: dict[tuple[int, int], Transfer] = {}
    for transfer in transfers:
        if merged.setdefault((transfer.block, transfer.log_index), transfer) != transfer:
            raise node.lie("the node told of two transfers in one place")
    return [transfer for _, transfer in sorted(merged.items())]


async def _headers(node: Node, numbers: Sequence[int]) -> dict[int, Header]:
    found: dict[int, Header] = {}
    for start in range(0, len(numbers), _AT_ONCE):
        headers = await asyncio.gather(*(read_header(node, number) for number in numbers[start : start + _AT_ONCE]))
        found |= {header.number: header for header in headers}
    return found


def _blocks(
    node: Node, transfers: Sequence[Transfer], last: Header, headers: Mapping[int, Header]
) -> dict[int, Header]:
    """The blocks of transfers: each has one hash and one time, and none is younger than the last."""
    blocks: dict[int, Header] = {}
    for transfer in transfers:
        number = transfer.block
        at_ms = headers[number].at_ms if transfer.at_ms is None else transfer.at_ms
        block = Header(number, transfer.block_hash, at_ms)
        if blocks.setdefault(number, headers.get(number, block)) != block or at_ms > last.at_ms:
            raise node.lie("the node told of a block that cannot be there")
    return blocks
