"""The tokens that stand for coins where wallets are followed. A table of contracts, as what moves is valued by."""

from collections.abc import Mapping
from typing import Final

from service.wallets.prices import COINS

_CONTRACTS: Final[Mapping[str, Mapping[int, str]]] = {
    coin.symbol: {chain: contract for (chain, contract), other in COINS.items() if other.symbol == coin.symbol}
    for coin in COINS.values()
}


WRAPPED: Final[Mapping[str, str]] = {"WETH": "ETH", "WBTC": "BTC"}
"""Symbols of tokens that are asked for by their own, and the coins that they stand for."""


def is_token(coin: str) -> bool:
    """Whether a coin is known as a token of any chain."""
    return coin in _CONTRACTS


def contract_of(coin: str, chain_id: int | None) -> str | None:
    """The contract that stands for a coin.

    Args:
        coin: Its ticker.
        chain_id: Where it is wanted; null: nobody knows yet.

    Returns:
        In lower case: that of the chain, else the first that is known; null where none is.
    """
    contracts = _CONTRACTS.get(coin, {})
    return contracts.get(chain_id or 0, next(iter(contracts.values()), None))


def coin_of(contract: str) -> str | None:
    """The coin that a contract stands for on any chain; null where it is none that is known."""
    return next((coin for coin, contracts in _CONTRACTS.items() if contract.lower() in contracts.values()), None)
