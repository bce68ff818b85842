"""Chains by the names that callers and CoinGecko have for them, and the form of their addresses."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CHAINS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "ethereum": ("ethereum", "eth", "mainnet", "1"),
        "bsc": ("binance-smart-chain", "bsc", "bnb", "bnb chain", "bnb smart chain", "56"),
        "solana": ("solana", "sol"),
        "base": ("base", "8453"),
        "polygon": ("polygon-pos", "polygon", "matic", "pol", "137"),
        "arbitrum": ("arbitrum-one", "arbitrum", "arb", "42161"),
        "optimism": ("optimistic-ethereum", "optimism", "op", "10"),
        "avalanche": ("avalanche", "avax", "43114"),
        "tron": ("tron", "trx"),
        "ton": ("the-open-network", "ton"),
        "sui": ("sui",),
        "aptos": ("aptos", "apt"),
        "near": ("near-protocol", "near"),
        "linea": ("linea", "59144"),
        "scroll": ("scroll", "534352"),
        "zksync": ("zksync", "zksync era", "324"),
        "mantle": ("mantle", "mnt", "5000"),
        "sonic": ("sonic", "146"),
        "hyperevm": ("hyperevm", "hyperliquid", "999"),
    }
)
"""Name here → CoinGecko's id of the chain, then what else it is called: tickers, EIP-155 numbers."""

_OTHER: Final = re.compile(r"[^a-z0-9]+")
_EVM: Final = re.compile(r"0x[0-9a-fA-F]{40}\Z")


def _folded(name: str) -> str:
    return _OTHER.sub("", name.casefold())


_BY_NAME: Final = {_folded(name): chain for chain, names in CHAINS.items() for name in (chain, *names)}


def find_chain(text: str) -> str | None:
    """The chain that a text names, whatever its case and punctuation; null if none is known by it."""
    return _BY_NAME.get(_folded(text))


def normalized(address: str) -> str:
    """An address as it is compared: hexadecimal ones in lower case, others as they are."""
    return address.lower() if _EVM.match(address) else address
