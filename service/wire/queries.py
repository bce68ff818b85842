"""What the routes about coins, categories, the market, keys and receipts take."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.wire.access import DisplayPrefix
from service.wire.parameters import CursorText, Instant, PageSize, SymbolText, instant_ms
from service.wire.quality import SignalType

RegimeAction = Literal["active", "signals", "confidence", "history"]
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
    """What to be told of the regime; `symbol` narrows every action down to one coin."""

    action: RegimeAction = "active"
    symbol: Annotated[SymbolText, Meta(extra={"required_when": {"action": "history"}})] | None = None


class HistoricalQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A coin, and how many hours or days back."""

    symbol: SymbolText
    count: Annotated[int, Meta(ge=1, le=1000, description="How many intervals back")] = 24
    unit: Literal["h", "d"] = "h"


class AlertsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which funding alerts: of one coin, fired at or after an instant; a page of them.

    Raises:
        ServiceError: `BAD_REQUEST` for an instant that the pattern lets through and the calendar does not: a mistake in
            a parameter is told before a quota is looked at.
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
