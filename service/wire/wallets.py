"""Payloads of `wallets`: who is watched, and what moved."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.errors import ServiceError
from service.wire.parameters import CursorText, PageSize

AddressText = Annotated[
    str,
    Meta(
        pattern=r"^0x[0-9a-fA-F]{40}\Z",
        description="An EVM address: 0x and 40 hexadecimal digits, in any case",
        examples=["0x036CbD53842c5426634e7929541eC2318f3dCF7e"],
    ),
]


class WalletsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The watched wallets, or the movements of a token in and out of them; one address narrows both down.

    Raises:
        ServiceError: `BAD_REQUEST` for a contract where the watchlist is asked for.
    """

    action: Literal["watchlist", "movements"] = "watchlist"
    contract: Annotated[AddressText, Meta(extra={"required_when": {"action": "movements"}})] | None = None
    address: AddressText | None = None
    limit: PageSize = 50
    cursor: CursorText | None = None

    def __post_init__(self) -> None:
        """Look at what no pattern knows."""
        if self.action == "watchlist" and self.contract is not None:
            raise ServiceError(
                "BAD_REQUEST", "The parameter contract is only for action=movements.", details={"parameter": "contract"}
            )


class MovedToken(Struct, frozen=True):
    """A token that moved in or out of a wallet; `symbol` and `decimals` as its contract says, null where it says none.

    A symbol proves nothing: anybody can call a token USDC. The contract is what tells tokens apart.
    """

    contract: str
    symbol: str | None
    decimals: int | None
    movements: int
    last_moved_at: str


class WatchedWallet(Struct, frozen=True):
    """A wallet that is followed; `kind` is the operator's word for it (`exchange`), `tokens` come the last moved first.

    Addresses are written with the checksum of EIP-55, here and in movements.
    """

    address: str
    chainId: int
    label: str | None
    kind: str | None
    tokens: list[MovedToken]


class WatchlistMeta(Struct, frozen=True):
    """How many wallets there are, the chain and the newest of its blocks looked at, and where the next page begins."""

    total: int
    chainId: int | None
    through_block: int | None
    next_cursor: str | None


class Watchlist(Struct, frozen=True):
    """`wallets?action=watchlist`."""

    watchlist: list[WatchedWallet]
    meta: WatchlistMeta


class Movement(Struct, frozen=True):
    """One transfer of an ERC-20 token in or out of a watched wallet; between two of them there are two.

    `amount` is exact decimal text, in whole tokens (in the contract's smallest units where it tells no decimals).
    `amount_usd` is what it was worth at the block's time, to the cent: at the last price known at the whole minute by
    then, an hour older at most. Null where the token has no price here, or none of that time is known. `ts` is the
    block's time; `label` is the watched wallet's.
    """

    id: str
    contract: str
    token: str | None
    address: str
    counterparty: str
    direction: Literal["in", "out"]
    amount: str
    amount_usd: float | None
    tx: str
    block: int
    ts: str
    label: str | None


class MovementsMeta(Struct, frozen=True):
    """How many movements of this contract there are with these filters, where, and where the next page begins."""

    total: int
    contract: str
    chainId: int | None
    next_cursor: str | None


class Movements(Struct, frozen=True):
    """`wallets?action=movements`, the newest first."""

    movements: list[Movement]
    meta: MovementsMeta
