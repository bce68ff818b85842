"""Check of `verdict admin doctor`: whether payments can be settled."""

import asyncio
from collections.abc import Iterator
from typing import Final, NamedTuple

from service.admin.doctor_checks import DoctorCheck
from service.clock import MINUTE_MS, SECOND_MS, Clock
from service.ethereum.addresses import checksum_address, keccak256
from service.ethereum.typed_data import domain_separator
from service.payments.facilitators.operator_account import open_operator_account
from service.payments.facilitators.remote import open_remote
from service.payments.facilitators.rpc import EthereumRpc, open_rpc
from service.payments.networks import NETWORKS, ChainId, node_url
from service.settings import Settings, SettingsError
from service.upstream.failures import UpstreamError
from service.upstream.json_rpc import NodeError

_NAME: Final = "settlement"
_GWEI: Final = 10**9
_ETHER: Final = 10**18
_GAS: Final = 100_000
"""What a settlement takes of gas, roundly: USDC's transfer by authorization, its proxy included."""

_FEWEST: Final = 100
"""For so many settlements the operator's account should hold gas."""

_OLDEST_BLOCK_MS: Final = 10 * MINUTE_MS
_DOMAIN_SEPARATOR: Final = keccak256(b"DOMAIN_SEPARATOR()")[:4]
_ANOTHER_FACILITATOR: Final = "let VERDICT_FACILITATOR_URL name an x402 facilitator that settles on VERDICT_NETWORK"
_ANOTHER_NODE: Final = "let VERDICT_RPC_URL name a node of VERDICT_NETWORK that follows the chain"


class _Finding(NamedTuple):
    said: str
    remedy: str


def check_settlement(settings: Settings, clock: Clock) -> DoctorCheck:
    """Try the way that payments take, up to where money would move."""
    if settings.settlement == "ledger":
        return DoctorCheck(_NAME, "payments are recorded, and nothing moves on a chain")
    look = _look_at_chain if settings.settlement == "chain" else _look_at_facilitator
    try:
        said, findings = asyncio.run(look(settings, clock))
    except SettingsError as error:
        said, findings = "invalid setting", [_Finding(str(error), "set it right")]
    except NodeError as error:
        said, findings = "the node gives no answer", [_Finding(str(error), _ANOTHER_NODE)]
    except UpstreamError as error:
        said, findings = error.message, [_Finding(error.body or "it says nothing", _ANOTHER_FACILITATOR)]
    remedies = dict.fromkeys(found.remedy for found in findings)
    return DoctorCheck(_NAME, said, [found.said for found in findings], "; ".join(remedies) or None)


async def _look_at_facilitator(settings: Settings, clock: Clock) -> tuple[str, list[_Finding]]:
    async with open_rpc(node_url(settings), settings.network) as rpc:
        findings = await _look_at_node(rpc, settings, clock)
    async with open_remote(settings, clock) as facilitator:
        versions = await facilitator.versions()
    names = {1: NETWORKS[settings.network].v1_name, 2: settings.network}
    missing = [
        _Finding(f"it does not settle `exact` on {name} as x402 v{version} has it", _ANOTHER_FACILITATOR)
        for version, name in names.items()
        if version not in versions
    ]
    said = "the facilitator does not settle all payments" if missing else "the facilitator settles what is sold here"
    return said, [*findings, *missing]


async def _look_at_chain(settings: Settings, clock: Clock) -> tuple[str, list[_Finding]]:
    account = await open_operator_account(settings)
    address = checksum_address(account.address)
    async with open_rpc(node_url(settings), settings.network) as rpc:
        findings = await _look_at_node(rpc, settings, clock)
        price = (await rpc.block("latest")).base_fee + await rpc.tip()
        balance = await rpc.balance(account.address)
    enough_for = balance // (_GAS * max(price, 1))
    findings += _judge_price(price, settings.gas_cap_gwei)
    if enough_for < _FEWEST:
        findings.append(_Finding("the operator's account runs out of gas", f"send ether to {address}"))
    return f"{address} has {balance / _ETHER:.6g} ETH, gas for {enough_for} settlements", findings


async def _look_at_node(rpc: EthereumRpc, settings: Settings, clock: Clock) -> list[_Finding]:
    age_ms = clock.now_ms() - (await rpc.block("latest")).time_s * SECOND_MS
    domain = await rpc.call(NETWORKS[settings.network].usdc, _DOMAIN_SEPARATOR)
    return [*_judge_age(age_ms), *_judge_token(settings.network, domain)]


def _judge_age(age_ms: int) -> Iterator[_Finding]:
    if age_ms > _OLDEST_BLOCK_MS:
        yield _Finding(f"the node's newest block is {age_ms // MINUTE_MS} minutes old", _ANOTHER_NODE)


def _judge_token(chain: ChainId, domain: bytes) -> Iterator[_Finding]:
    network = NETWORKS[chain]
    number = int(chain.removeprefix("eip155:"))
    if domain != domain_separator(network.domain.name, network.domain.version, number, network.usdc):
        yield _Finding(f"the token at {network.usdc} is not the one that payers sign for", _ANOTHER_NODE)


def _judge_price(price: int, cap_gwei: int) -> Iterator[_Finding]:
    if price > cap_gwei * _GWEI:
        yield _Finding(
            f"gas costs {price / _GWEI:g} gwei and VERDICT_GAS_CAP_GWEI is {cap_gwei}: nothing is settled",
            "wait until gas is cheaper, or allow more",
        )
