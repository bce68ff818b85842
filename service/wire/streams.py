"""Lines of the live streams: NDJSON, each a struct below, tagged by `type`; and what events hold."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta, Raw, Struct

from service.wire.envelope import ErrorBody
from service.wire.envelope import Meta as Age
from service.wire.market import Stance
from service.wire.parameters import CursorText

StreamName = Literal["funding", "regime", "sentiment", "prices", "alerts", "crossings"]
STREAMS: tuple[StreamName, ...] = get_args(StreamName)

Ending = Literal["end", "limit", "revoked", "quota", "shutdown", "slow-reader"]
"""Why a stream is closed: `max` events were sent; its hour is over; its credential was revoked or has expired; the tier
it was opened with has ended; the service stops; its reader took nothing for 30 seconds."""


class WatchQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which stream, how often at the most, how much of it, and from where on."""

    stream: Annotated[
        str,
        Meta(
            pattern=r"^[a-z-]{1,40}\Z",
            description=f"One of {', '.join(STREAMS)}",
            examples=["prices"],
        ),
    ]
    interval: Annotated[
        int, Meta(ge=10, le=300, description="Seconds between events; alerts and crossings come when they happen")
    ] = 30
    max: Annotated[int, Meta(ge=0, le=10_000, description="How many events to send, then close; 0: no end")] = 0
    diff: Annotated[
        Literal[0, 1], Meta(description="1: after the first event only what changed, and nothing where nothing did")
    ] = 0
    cursor: (
        Annotated[
            CursorText,
            Meta(description="The cursor of the last line that was read: go on after it, leaving out nothing"),
        ]
        | None
    ) = None


class OpenLine(Struct, frozen=True, tag_field="type", tag="open"):
    """The first line. `cursor` resumes from here, with all that should have come next.

    It is null where a stream of states has none yet.
    """

    stream: StreamName
    interval: int
    source: Literal["fixtures", "live"]
    cursor: str | None


class EventMeta(Age, frozen=True):
    """When an event was made (`ts`), and how old its data was then.

    `tick` counts the stream's states, those of all intervals; `cursor` resumes after this event.
    """

    tick: int
    cursor: str


class EventLine(Struct, frozen=True, tag_field="type", tag="event"):
    """Something new; `data` is what the stream of this name tells."""

    stream: StreamName
    data: Raw
    meta: EventMeta


class Beat(Struct, frozen=True):
    """An instant, and whether the upstream behind the stream still feeds it."""

    ts: str
    live: bool


class HeartbeatLine(Struct, frozen=True, tag_field="type", tag="heartbeat"):
    """Nothing new for 15 seconds, or the upstream came or went."""

    meta: Beat


class GapLine(Struct, frozen=True, tag_field="type", tag="gap"):
    """What came between the last cursor and the next line is not kept any more: read the route for the state of now.

    `reason`: `too-old`, the cursor lies before what is kept; `too-slow`, this reader fell behind it; `unknown`, the
    cursor lies ahead, and what it names did not come within five seconds (the store was restored from a backup).
    `cursor` is where the stream goes on.
    """

    reason: Literal["too-old", "too-slow", "unknown"]
    cursor: str | None


class ErrorLine(Struct, frozen=True, tag_field="type", tag="error"):
    """What went wrong; a close follows."""

    error: ErrorBody


class CloseLine(Struct, frozen=True, tag_field="type", tag="close"):
    """The last line, always. `cursor` resumes where it stopped."""

    reason: Ending
    cursor: str | None


Line = OpenLine | EventLine | HeartbeatLine | GapLine | ErrorLine | CloseLine


class PriceTick(Struct, frozen=True):
    """A coin's price in USD and when the venue showed it (ISO 8601 UTC).

    `change_24h` is percent, null where it is not known, and `changes_from` says by span (`24h`) when the price that it
    is measured from was accepted; both as in `coins`, when the price was sent: a diff leaves out a price that rests.
    """

    price: float
    ts: str
    change_24h: float | None = None
    changes_from: dict[str, str] = {}


class PricesState(Struct, frozen=True):
    """`prices`: every coin with a price that is not too old; of a diff, those with another price, null where gone."""

    prices: Mapping[str, PriceTick | None]


Temperature = Literal["cold", "cool", "neutral", "warm", "hot"]


class FundingMarket(Struct, frozen=True):
    """Funding of all coins with a fresh rate: `avgApr` is their mean, in percent a year; how many pay and are paid."""

    temperature: Temperature | None
    avgApr: float | None
    positive: int
    negative: int
    total: int


class FundingMover(Struct, frozen=True):
    """A coin whose rate moved: percent a year now, and its change in points against what was last paid, for an hour."""

    symbol: str
    funding_apr: float
    change_1h: float


class FundingState(Struct, frozen=True):
    """`funding`; movers by the size of their change, ten at the most."""

    market: FundingMarket
    movers: list[FundingMover]


class SentimentState(Struct, frozen=True):
    """`sentiment`: of the whole market, by the rules of categories; `score` -1 to 1, null where nothing is written."""

    stance: Stance
    score: float | None
    summary: str
