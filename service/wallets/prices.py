"""What a transfer was worth: by a table of contracts that are coins, at the price of the coin at the block's time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from service.clock import MINUTE_MS
from service.market.past_prices import PastPrice, PastPriceReader

_CENTS: Final = 2


class TokenCoin(Struct, frozen=True):
    """The coin that a contract is one of, by its symbol here, and the contract's decimals."""

    symbol: str
    decimals: int = 18


COINS: Final[Mapping[tuple[int, str], TokenCoin]] = {
    (1, "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"): TokenCoin("ETH"),
    (1, "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599"): TokenCoin("BTC", 8),
    (1, "0x514910771af9ca656af840dff83e8264ecf986ca"): TokenCoin("LINK"),
    (1, "0x1f9840a85d5af5bf1d1762f925bdaddc4201f984"): TokenCoin("UNI"),
    (1, "0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9"): TokenCoin("AAVE"),
    (1, "0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2"): TokenCoin("MKR"),
    (1, "0x5a98fcbea516cf06857215779fd812ca3bef1b32"): TokenCoin("LDO"),
    (1, "0xd533a949740bb3306d119cc777fa900ba034cd52"): TokenCoin("CRV"),
    (1, "0xc00e94cb662c3520282e6f5717214004a7f26888"): TokenCoin("COMP"),
    (1, "0xc18360217d8f7ab5e7c516566761ea12ce7f9d72"): TokenCoin("ENS"),
    (1, "0x6b3595068778dd592e39a122f4f5a5cf09c90fe2"): TokenCoin("SUSHI"),
    (8453, "0x4200000000000000000000000000000000000006"): TokenCoin("ETH"),
}
"""By chain and contract: any token can be called WETH, but its address is unique.

Wrapped coins count as what they wrap. Dollar tokens are not here: no price of theirs is known to this service, and a
dollar is what they promise, not what they are worth.
"""


_DOLLARS: Final = frozenset(
    {
        (1, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"),
        (1, "0xdac17f958d2ee523a2206206994597c13d831ec7"),
        (1, "0x6b175474e89094c44da98b954eedeac495271d0f"),
        (8453, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
    }
)
"""USDC, USDT and DAI, by chain and contract."""


def known_contracts(chain_id: int) -> set[str]:
    """The contracts of a chain that are known before any transfer was seen: coins and dollar tokens."""
    return {contract for chain, contract in COINS.keys() | _DOLLARS if chain == chain_id}


def contract_of(symbol: str, chain_id: int | None) -> str | None:
    """The contract of a coin on a chain, else on the first chain that has one; null where none is known."""
    contracts = {chain: contract for (chain, contract), coin in COINS.items() if coin.symbol == symbol}
    return contracts.get(chain_id or 0, next(iter(contracts.values()), None))


class UnvaluedTransfer(NamedTuple):
    """A transfer in a block: of a contract, in lower case, in its smallest units; `at_ms` is the block's time."""

    block: int
    log_index: int
    tx: str
    contract: str
    amount: int
    at_ms: int


class TransferPrices:
    """Values transfers at the price of their block's time.

    The price is that of `service.market.past_prices` at the last whole minute by then, an hour older at most. Nothing
    later enters it.

    Args:
        past: Reads past prices.
        venue_symbol: The venue symbol of a coin; null if it is not listed.
    """

    def __init__(self, past: PastPriceReader, venue_symbol: Callable[[str], str | None]) -> None:
        self._past = past
        self._venue_symbol = venue_symbol

    def contracts(self, chain_id: int) -> list[str]:
        """The contracts of a chain whose transfers can have a value."""
        return [contract for chain, contract in COINS if chain == chain_id]

    async def value(self, chain_id: int, transfers: Sequence[UnvaluedTransfer]) -> list[float | None]:
        """What each transfer was worth, USD to the cent; null where the price at its time is not known.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        coins = [COINS.get((chain_id, transfer.contract)) for transfer in transfers]
        names = [None if coin is None else self._venue_symbol(coin.symbol) for coin in coins]
        minutes = [transfer.at_ms // MINUTE_MS * MINUTE_MS for transfer in transfers]
        wanted = {minute for minute, name in zip(minutes, names, strict=True) if name is not None}
        prices = await self._past.read(sorted({name for name in names if name is not None}), sorted(wanted), ())
        return [
            _worth(transfer.amount, coin, prices.get(name or "", {}).get(minute))
            for transfer, coin, name, minute in zip(transfers, coins, names, minutes, strict=True)
        ]


def _worth(amount: int, coin: TokenCoin | None, price: PastPrice | None) -> float | None:
    return None if coin is None or price is None else round(amount / 10**coin.decimals * price.usd, _CENTS)
