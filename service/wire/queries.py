"""What the routes about coins, categories, the market, keys and receipts take."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.errors import ServiceError
from service.wire.access import DisplayPrefix
from service.wire.parameters import CursorText, Instant, PageSize, SymbolText, instant_ms
from service.wire.quality import SignalType

RegimeAction = Literal["active", "signals", "confidence", "history"]
SentimentAction = Literal[
    "market", "latest", "summary", "narratives", "categories", "health", "slopes", "entity-slopes", "coin", "category",
    "narrative",
]  # fmt: skip
SignalDetail = Literal["full", "brief"]
"""How much of a verdict is answered: `brief` leaves out its inputs, claims without a probability, empty records."""

WalkforwardAction = Literal["signals", "positions", "outcomes"]


CategoryName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        description="The exact name of a category such as Layer 1 (L1), case included",
        examples=["Layer 1 (L1)"],
    ),
]


class NoParameters(Struct, frozen=True, forbid_unknown_fields=True):
    """A route that takes nothing."""


class OfSymbol(Struct, frozen=True, forbid_unknown_fields=True):
    """A route about one asset."""

    symbol: SymbolText


class OfPrefix(Struct, frozen=True, forbid_unknown_fields=True):
    """A route about one of the caller's keys."""

    prefix: DisplayPrefix


class OfCategory(Struct, frozen=True, forbid_unknown_fields=True):
    """A route about one category."""

    name: CategoryName


class HealthQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """`context=1` adds what the figures mean."""

    context: Literal[0, 1] = 0


class RegimeQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """What to answer of the regime; `symbol` narrows every action down to one coin."""

    action: RegimeAction = "active"
    symbol: Annotated[SymbolText, Meta(extra={"required_when": {"action": "history"}})] | None = None


SymbolList = Annotated[
    str,
    Meta(
        pattern=r"^[ -~]*\Z",
        max_length=200,
        description="Tickers, separated by commas, in any case; without it all coins",
        examples=["BTC,ETH,SOL"],
    ),
]


class PricesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose prices, and whether those of the past are added."""

    symbols: SymbolList | None = None
    baselines: Annotated[Literal[0, 1], Meta(description="1 adds the prices 4 h, 24 h and 7 d ago")] = 0


class BaselinesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose past prices, and which."""

    symbols: SymbolList | None = None
    horizons: (
        Annotated[
            str,
            Meta(
                pattern=r"^((4h|24h|7d)(,(4h|24h|7d))*)?\Z",
                max_length=60,
                description="How long ago, separated by commas: 4h, 24h, 7d; without it all three",
                examples=["4h,7d"],
            ),
        ]
        | None
    ) = None


class SentimentQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sentiment to show; `symbol` belongs to `coin`, `name` to `category` and `narrative`.

    Raises:
        ServiceError: `BAD_REQUEST` for a symbol or a name with another action.
    """

    action: SentimentAction = "market"
    symbol: Annotated[SymbolText, Meta(extra={"required_when": {"action": "coin"}})] | None = None
    name: Annotated[CategoryName, Meta(extra={"required_when": {"action": ("category", "narrative")}})] | None = None

    def __post_init__(self) -> None:
        """Refuse what the action does not take."""
        for parameter, actions in (("symbol", ("coin",)), ("name", ("category", "narrative"))):
            if getattr(self, parameter) is not None and self.action not in actions:
                raise ServiceError(
                    "BAD_REQUEST",
                    f"{parameter} needs action={' or action='.join(actions)}.",
                    details={"parameter": parameter},
                )


class HistoricalQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A coin, and how many hours or days back."""

    symbol: SymbolText
    count: Annotated[int, Meta(ge=1, le=1000, description="How many intervals back")] = 24
    unit: Literal["h", "d"] = "h"


class AlertsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which funding alerts: of one coin, fired at or after an instant; a page of them.

    Raises:
        ServiceError: `BAD_REQUEST` for an instant that the pattern lets through and the calendar does not: a mistake in
            a parameter is refused before the quota is read.
    """

    symbol: SymbolText | None = None
    since: Instant | None = None
    limit: PageSize = 50
    cursor: CursorText | None = None

    def __post_init__(self) -> None:
        """Read the instant; no pattern knows the lengths of months."""
        if self.since is not None:
            instant_ms(self.since, "since")


class SignalQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A coin, and the instant whose knowledge is to be judged (none: now).

    Raises:
        ServiceError: `BAD_REQUEST` for an instant that the calendar does not know.
    """

    symbol: SymbolText
    as_of: Instant | None = None
    detail: SignalDetail = "full"

    def __post_init__(self) -> None:
        """Read the instant; no pattern knows the lengths of months."""
        if self.as_of is not None:
            instant_ms(self.as_of, "as_of")


class WalkforwardQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which records of the last walk-forward run: of one coin, a page of them."""

    action: WalkforwardAction = "signals"
    symbol: SymbolText | None = None
    limit: PageSize = 50
    cursor: CursorText | None = None


class SignalQualityQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The coin and the kind of signal whose record is asked for."""

    asset: SymbolText
    signal_type: SignalType = "mean_reversion"


class ReceiptsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of the caller's receipts."""

    limit: PageSize = 50
    cursor: CursorText | None = None


class OfReceipt(Struct, frozen=True, forbid_unknown_fields=True):
    """A route about one of the caller's receipts."""

    id: Annotated[
        str,
        Meta(
            pattern=r"^rcp_[0-9A-Za-z]{22}\Z",
            description="A receipt's id, as `X-Receipt-Id` says it",
            examples=["rcp_4kYw0VqGmTtq2fA1zZ9bXc"],
        ),
    ]
