"""Whether watched wallets can be followed: what `verdict doctor` asks of the nodes of their chain."""

import asyncio
from collections.abc import Sequence
from typing import Final

from service.clock import MINUTE_MS, Clock
from service.operator.check import Check, judge
from service.settings import Settings, SettingsError
from service.storage.engine import DatabaseError
from service.storage.store import looking
from service.upstream.failure import UpstreamError
from service.upstream.session import open_session
from service.wallets.chain import Node
from service.wallets.nodes import BEHIND_MS, WEIGHT_PER_MINUTE
from service.wallets.prices import known_contracts
from service.wallets.watchlist import Watched, read_listed, watched_in

_NAME: Final = "wallets"
_REMEDY: Final = (
    "let VERDICT_WALLETS_RPC name JSON-RPC nodes of one chain that follow it and answer eth_getLogs, commas between"
)


def check_wallets(settings: Settings, address: str, clock: Clock) -> Check:
    """Ask each node what following takes; nobody is asked where nobody is watched."""
    try:
        watched = _watched(settings, address)
    except SettingsError as error:
        return Check(_NAME, "a setting cannot be used", [str(error)], "set it right")
    except DatabaseError:  # a finding of the database, not of the nodes
        return Check(_NAME, "who is watched cannot be read, and no node is asked")
    if not watched:
        return Check(_NAME, "nobody is watched, and no node is asked")
    if settings.source == "fixtures":
        return Check(_NAME, f"{len(watched)} are watched on the recorded chain")
    found = asyncio.run(_look_at_all(settings, watched, clock))
    said = f"{len(watched)} are watched"
    return judge(_NAME, said if found else f"{said}, and every node can follow them", found, _REMEDY)


def _watched(settings: Settings, address: str) -> Sequence[Watched]:
    listed = read_listed(settings)
    with looking(address) as connection:
        return watched_in(connection, listed)


async def _look_at_all(settings: Settings, watched: Sequence[Watched], clock: Clock) -> list[str]:
    """What is wrong with the nodes, each by its place in the setting: an address may hold a key."""
    chains: dict[int, int] = {}
    found: list[str] = []
    for place, url in enumerate(settings.wallets_rpc, 1):
        name = f"node {place}"
        async with open_session(name, url.text, clock, weight_per_minute=WEIGHT_PER_MINUTE) as session:
            try:
                chains[place], age_ms = await _look(Node(session), watched[0].address, clock)
            except UpstreamError as error:
                found.append(f"{error.message}: {error.body}")
                continue
        if age_ms > BEHIND_MS:
            found.append(f"the newest block of {name} is {age_ms // MINUTE_MS} minutes old")
    if len(set(chains.values())) > 1:
        found.append(f"they are on different chains: {', '.join(map(str, chains.values()))}")
    return found


async def _look(node: Node, address: str, clock: Clock) -> tuple[int, int]:
    """A node's chain, and the age of its newest block; its logs are asked for too, which not every node tells."""
    chain_id, newest = await node.chain_id(), await node.newest()
    await ask_logs(node, chain_id, newest.number, address)
    return chain_id, clock.now_ms() - newest.at_ms


async def ask_logs(node: Node, chain_id: int, block: int, address: str) -> None:
    """Ask for the transfers of an address in a block, by known contracts where the node wants contracts named.

    Raises:
        UpstreamError: If the node does not tell.
    """
    node.contracts = known_contracts(chain_id)
    try:
        await node.transfers(block, block, out_of=[address], into=[])
    except UpstreamError:
        if not node.by_contract:
            raise
        await node.transfers(block, block, out_of=[address], into=[])
