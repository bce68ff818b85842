"""The chains that payments may come from, and the dollar token on each.

Sources: https://developers.circle.com/stablecoins/usdc-contract-addresses, EIP-712 domains as the tokens answer them.
"""

from typing import Final, Literal

from msgspec import Struct

from service.settings import Settings
from service.wire.payment import TokenExtra

ChainId = Literal["eip155:84532", "eip155:8453"]


class Network(Struct, frozen=True):
    """A chain by its CAIP-2 id and its x402 v1 name.

    Attributes:
        chain_id: CAIP-2 id.
        v1_name: Its name in x402 v1.
        usdc: Address of USDC.
        domain: EIP-712 domain of USDC.
        rpc_url: Public JSON-RPC endpoint, asked beside a remote facilitator if the operator names none.
    """

    chain_id: ChainId
    v1_name: str
    usdc: str
    domain: TokenExtra
    rpc_url: str


NETWORKS: Final[dict[ChainId, Network]] = {
    network.chain_id: network
    for network in (
        Network(
            chain_id="eip155:84532",
            v1_name="base-sepolia",
            usdc="0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            domain=TokenExtra(name="USDC", version="2"),
            rpc_url="https://sepolia.base.org",
        ),
        Network(
            chain_id="eip155:8453",
            v1_name="base",
            usdc="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            domain=TokenExtra(name="USD Coin", version="2"),
            rpc_url="https://mainnet.base.org",
        ),
    )
}


def node_url(settings: Settings) -> str:
    """JSON-RPC endpoint of the chain: the operator's, else the network's public one."""
    return settings.rpc_url or NETWORKS[settings.network].rpc_url
