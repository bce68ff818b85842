"""The dollar tokens that are paid with: each by its contract, whose six decimals and signing domain are known here.

Sources: https://developers.circle.com/stablecoins/usdc-contract-addresses, EIP-712 domains as the tokens answer them.
"""

from typing import Final, NamedTuple


class Dollar(NamedTuple):
    """USDC on one chain.

    Attributes:
        network: CAIP-2 id of the chain.
        chain_id: EIP-155 number of the chain.
        shown: Its name, for people.
        is_real: Whether it is worth anything.
        asset: Address of the token (EIP-55).
        name: Of the token's signing domain (EIP-712).
        version: Likewise.
    """

    network: str
    chain_id: int
    shown: str
    is_real: bool
    asset: str
    name: str
    version: str


DOLLARS: Final = {
    dollar.network: dollar
    for dollar in (
        Dollar(
            "eip155:84532", 84_532, "Base Sepolia, a test network: no real money", is_real=False,
            asset="0x036CbD53842c5426634e7929541eC2318f3dCF7e", name="USDC", version="2",
        ),
        Dollar(
            "eip155:8453", 8_453, "Base: real money", is_real=True,
            asset="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", name="USD Coin", version="2",
        ),
    )
}  # fmt: skip
"""By network."""
