"""Checks of `verdict admin doctor` that ask others: proxies, settlement, language model and nodes of wallets."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from service.admin.doctor_checks import judge
from service.ask.llm_writer import endpoint_of
from service.cli.doctor_command import DoctorCheck
from service.clock import MINUTE_MS, SECOND_MS, Clock
from service.ethereum.addresses import checksum_address, keccak256
from service.ethereum.typed_data import domain_separator
from service.formats import sentence
from service.payments.facilitators.operator_account import open_operator_account
from service.payments.facilitators.remote import open_remote
from service.payments.facilitators.rpc import EthereumRpc, open_rpc
from service.payments.networks import NETWORKS, node_url
from service.proxies import proxy_for
from service.settings import UPSTREAMS, Settings, SettingsError
from service.storage.engine import DatabaseError
from service.storage.store import open_snapshot
from service.upstream.completions import ChatMessage, CompletionError, open_completions
from service.upstream.failures import TITLES, UpstreamError
from service.upstream.json_rpc import NodeError
from service.upstream.session import open_session
from service.wallets.chain import Node
from service.wallets.nodes import BEHIND_MS, WEIGHT_PER_MINUTE
from service.wallets.prices import known_contracts
from service.wallets.watchlist import Watched, read_listed, watched_in

_GWEI: Final = 10**9
_ETHER: Final = 10**18
_GAS: Final = 100_000
"""Gas of a settlement, rounded up: USDC's transfer by authorization, its proxy included."""

_FEWEST: Final = 100
"""Settlements that the operator's account should hold gas for."""

_OLDEST_BLOCK_MS: Final = 10 * MINUTE_MS
_DOMAIN_SEPARATOR: Final = keccak256(b"DOMAIN_SEPARATOR()")[:4]
_ANOTHER_FACILITATOR: Final = "Set VERDICT_FACILITATOR_URL to an x402 facilitator that settles on VERDICT_NETWORK."
_ANOTHER_NODE: Final = "Set VERDICT_RPC_URL to a node of VERDICT_NETWORK that is in sync."
_CORRECT_SETTING: Final = "Correct the setting."
_ANOTHER_MODEL: Final = (
    "Set VERDICT_LLM_URL to an OpenAI-compatible API that streams (the part before /chat/completions), "
    "VERDICT_LLM_MODEL to one of its models, and VERDICT_LLM_KEY to its key. Until then the rules write every answer."
)
_OTHER_WALLET_NODES: Final = (
    "Set VERDICT_WALLETS_RPC to JSON-RPC nodes of one chain, separated by commas, that are in sync and have "
    "eth_getLogs."
)


def check_proxies(settings: Settings) -> list[DoctorCheck]:
    """The proxies of the environment with the upstreams that use them; empty if none is used."""
    users: dict[str, list[str]] = {}
    for name, url in _configured(settings):
        try:
            proxy = proxy_for(url)
        except SettingsError as error:
            return [DoctorCheck("proxy", "invalid setting", [str(error)], "Correct the variable, or unset it.")]
        if proxy is not None:
            users.setdefault(str(proxy), []).append(name)
    used = [f"{proxy} for {', '.join(names)}" for proxy, names in users.items()]
    direct = "webhooks, transcript feeds and redirects to other hosts connect directly"
    return [DoctorCheck("proxy", "; ".join([*used, direct]))] if users else []


def _configured(settings: Settings) -> Iterator[tuple[str, str]]:
    """Name and URL of every configured upstream."""
    if settings.source == "live":
        for name in UPSTREAMS:
            yield TITLES[name], settings.url_of(name)
        for place, url in enumerate(settings.wallets_rpc, 1):
            yield f"node {place}", url.text
    if settings.settlement == "remote" and settings.facilitator_url:
        yield "facilitator", settings.facilitator_url
    if settings.settlement != "ledger" or settings.rpc_url:
        yield "payment chain", node_url(settings)
    if settings.llm_url:
        yield "model", settings.llm_url


Findings = list[tuple[str, str]]
"""Each finding with its remedy."""


async def check_settlement(settings: Settings, clock: Clock) -> DoctorCheck:
    """Check everything that a settlement needs, without moving money."""
    if settings.settlement == "ledger":
        return DoctorCheck("settlement", "payments are recorded, and no money moves on a chain")
    findings: Findings
    try:
        said, findings = await (_try_chain if settings.settlement == "chain" else _try_facilitator)(settings, clock)
    except SettingsError as error:
        said, findings = "invalid setting", [(str(error), _CORRECT_SETTING)]
    except NodeError as error:
        said, findings = "the node gives no answer", [(str(error), _ANOTHER_NODE)]
    except UpstreamError as error:
        answer = f"The answer is: {error.body}" if error.body else "The answer is empty."
        finding = error.body if error.upstream_status is None else answer
        status = "" if error.upstream_status is None else f" (status {error.upstream_status})"
        said, findings = f"the facilitator gives no usable answer{status}", [(finding, _ANOTHER_FACILITATOR)]
    remedies = dict.fromkeys(remedy for _, remedy in findings)
    return judge("settlement", said, said, [finding for finding, _ in findings], " ".join(remedies))


async def _try_facilitator(settings: Settings, clock: Clock) -> tuple[str, Findings]:
    async with open_rpc(node_url(settings), settings.network) as rpc:
        findings = await _try_node(rpc, settings, clock)
    async with open_remote(settings, clock) as facilitator:
        versions = await facilitator.versions()
    names = {1: NETWORKS[settings.network].v1_name, 2: settings.network}
    missing = [
        (f"It does not settle `exact` of x402 v{version} on {name}.", _ANOTHER_FACILITATOR)
        for version, name in names.items()
        if version not in versions
    ]
    said = "the facilitator does not settle all payments" if missing else "the facilitator settles what is sold here"
    return said, [*findings, *missing]


async def _try_chain(settings: Settings, clock: Clock) -> tuple[str, Findings]:
    account = await open_operator_account(settings)
    address = checksum_address(account.address)
    async with open_rpc(node_url(settings), settings.network) as rpc:
        findings = await _try_node(rpc, settings, clock)
        price = (await rpc.block("latest")).base_fee + await rpc.tip()
        balance = await rpc.balance(account.address)
    enough_for = balance // (_GAS * max(price, 1))
    cap = settings.gas_cap_gwei
    if price > cap * _GWEI:
        said = f"Gas costs {price / _GWEI:g} gwei and VERDICT_GAS_CAP_GWEI is {cap}, so nothing is settled."
        findings.append((said, "Wait until gas is cheaper, or raise VERDICT_GAS_CAP_GWEI."))
    if enough_for < _FEWEST:
        findings.append(("The operator's account is running out of gas.", f"Send ether to {address}."))
    return f"{address} has {balance / _ETHER:.6g} ETH, gas for {enough_for} settlements", findings


async def _try_node(rpc: EthereumRpc, settings: Settings, clock: Clock) -> Findings:
    network, number = NETWORKS[settings.network], int(settings.network.removeprefix("eip155:"))
    age_ms = clock.now_ms() - (await rpc.block("latest")).time_s * SECOND_MS
    domain = await rpc.call(network.usdc, _DOMAIN_SEPARATOR)
    findings = []
    if age_ms > _OLDEST_BLOCK_MS:
        findings.append((f"The node's newest block is {age_ms // MINUTE_MS} minutes old.", _ANOTHER_NODE))
    if domain != domain_separator(network.domain.name, network.domain.version, number, network.usdc):
        findings.append((f"The token at {network.usdc} is not the one that payers sign for.", _ANOTHER_NODE))
    return findings


async def check_model(settings: Settings, clock: Clock) -> DoctorCheck:
    """Ask the configured model one short question, outside the daily budget."""
    endpoint = endpoint_of(settings)
    if endpoint is None:
        return DoctorCheck("model", "no model is configured, so the rules write every answer")
    usage, failure = "reports its usage", None
    try:
        async with open_completions(endpoint, clock) as completions:
            completion = await completions.complete((ChatMessage("user", "Answer with the one word: ready"),))
    except CompletionError as error:
        failure = str(error)
    else:
        failure = None if completion.text.strip() else "Its answer is empty."
        usage = usage if completion.tokens else "does not report its usage, so the maximum is counted"
    found = [] if failure is None else [f"The model {endpoint.model} failed: {failure}"]
    return judge("model", f"{endpoint.model} answers and {usage}", "it does not answer", found, _ANOTHER_MODEL)


async def check_wallets(settings: Settings, address: str, clock: Clock) -> DoctorCheck:
    """Check each node, if a wallet is watched."""
    try:
        watched = await asyncio.to_thread(_watched, settings, address)
    except SettingsError as error:
        return DoctorCheck("wallets", "invalid setting", [str(error)], _CORRECT_SETTING)
    except DatabaseError:  # a finding of the database, not of the nodes
        return DoctorCheck("wallets", "the watched wallets cannot be read, so no node is called")
    if not watched:
        return DoctorCheck("wallets", "no wallet is watched, so no node is called")
    said = f"{len(watched)} are watched"
    if settings.source == "fixtures":
        return DoctorCheck("wallets", f"{said} on the recorded chain")
    found = await _try_wallet_nodes(settings, watched[0].address, clock)
    return judge("wallets", f"{said}, and every node can follow them", said, found, _OTHER_WALLET_NODES)


def _watched(settings: Settings, address: str) -> Sequence[Watched]:
    listed = read_listed(settings)
    with open_snapshot(address) as connection:
        return watched_in(connection, listed)


async def _try_wallet_nodes(settings: Settings, address: str, clock: Clock) -> list[str]:
    """Findings on the nodes. Each is named by its place in the setting, because an address may hold a key."""
    chains: list[int] = []
    found: list[str] = []
    for place, url in enumerate(settings.wallets_rpc, 1):
        name = f"node {place}"
        async with open_session(name, url.text, clock, weight_per_minute=WEIGHT_PER_MINUTE) as session:
            try:
                chain_id, _, late = await look_at_node(Node(session), clock, address)
            except UpstreamError as error:
                found.append(f"{error.message} {sentence(error.body)}" if error.body else error.message)
                continue
        chains.append(chain_id)
        if late:
            found.append(f"The newest block of {name} is {late} minutes old.")
    if len(set(chains)) > 1:
        found.append(f"The nodes are on different chains: {', '.join(map(str, chains))}.")
    return found


async def look_at_node(node: Node, clock: Clock, address: str) -> tuple[int, int, int]:
    """Ask for the transfers of an address in the newest block, by known contracts where the node wants them named.

    Returns:
        Chain id, number of the newest block, and its age in minutes; 0 if the node is up to date.

    Raises:
        UpstreamError: If the node fails.
    """
    chain_id, newest = await node.chain_id(), await node.newest()
    node.contracts = known_contracts(chain_id)
    try:
        await node.transfers(newest.number, newest.number, out_of=[address], into=[])
    except UpstreamError:
        if not node.by_contract:
            raise
        await node.transfers(newest.number, newest.number, out_of=[address], into=[])
    age_ms = clock.now_ms() - newest.at_ms
    return chain_id, newest.number, age_ms // MINUTE_MS if age_ms > BEHIND_MS else 0
