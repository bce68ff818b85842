"""Check of `verdict admin doctor`: whether the JSON-RPC nodes can follow the watched wallets."""

import asyncio
from collections.abc import Sequence
from typing import Final

from service.admin.doctor_checks import DoctorCheck, judge
from service.clock import MINUTE_MS, Clock
from service.settings import Settings, SettingsError
from service.storage.engine import DatabaseError
from service.storage.store import open_snapshot
from service.upstream.failures import UpstreamError
from service.upstream.session import open_session
from service.wallets.chain import Node
from service.wallets.nodes import BEHIND_MS, WEIGHT_PER_MINUTE
from service.wallets.prices import known_contracts
from service.wallets.watchlist import Watched, read_listed, watched_in

_NAME: Final = "wallets"
_REMEDY: Final = (
    "Set VERDICT_WALLETS_RPC to JSON-RPC nodes of one chain, separated by commas, that are in sync and have eth_getLogs"
)


def check_wallets(settings: Settings, address: str, clock: Clock) -> DoctorCheck:
    """Check each node, if a wallet is watched."""
    try:
        watched = _watched(settings, address)
    except SettingsError as error:
        return DoctorCheck(_NAME, "invalid setting", [str(error)], "set it right")
    except DatabaseError:  # a finding of the database, not of the nodes
        return DoctorCheck(_NAME, "the watched wallets cannot be read; no node is called")
    if not watched:
        return DoctorCheck(_NAME, "no wallet is watched; no node is called")
    if settings.source == "fixtures":
        return DoctorCheck(_NAME, f"{len(watched)} are watched on the recorded chain")
    found = asyncio.run(_look_at_all(settings, watched, clock))
    said = f"{len(watched)} are watched"
    return judge(_NAME, said if found else f"{said}, and every node can follow them", found, _REMEDY)


def _watched(settings: Settings, address: str) -> Sequence[Watched]:
    listed = read_listed(settings)
    with open_snapshot(address) as connection:
        return watched_in(connection, listed)


async def _look_at_all(settings: Settings, watched: Sequence[Watched], clock: Clock) -> list[str]:
    """Findings on the nodes. Each is named by its place in the setting, because an address may hold a key."""
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
    """A node's chain and the age of its newest block; requests logs too, which not every node serves."""
    chain_id, newest = await node.chain_id(), await node.newest()
    await ask_logs(node, chain_id, newest.number, address)
    return chain_id, clock.now_ms() - newest.at_ms


async def ask_logs(node: Node, chain_id: int, block: int, address: str) -> None:
    """Ask for the transfers of an address in a block, by known contracts where the node wants contracts named.

    Raises:
        UpstreamError: If the node fails.
    """
    node.contracts = known_contracts(chain_id)
    try:
        await node.transfers(block, block, out_of=[address], into=[])
    except UpstreamError:
        if not node.by_contract:
            raise
        await node.transfers(block, block, out_of=[address], into=[])
