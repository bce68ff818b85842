"""Payloads of `transcripts`: what was said of coins, sectors and the economy, and where it was said."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from service.errors import ServiceError
from service.wire.parameters import CursorText, Instant, PageSize, SymbolText, instant_ms
from service.wire.queries import CategoryName

Macro = Literal[
    "banking",
    "dollar",
    "elections",
    "energy",
    "etf",
    "fiscal",
    "geopolitics",
    "growth",
    "inflation",
    "jobs",
    "liquidity",
    "rates",
    "regulation",
    "trade",
]
"""Topics of the economy that a highlight may be about; `transcripts` publishes the words that stand for each."""

MACRO: tuple[Macro, ...] = get_args(Macro)

SourceKind = Literal["podcast", "video"]
SourceStatus = Literal["waiting", "ok", "failing", "blocked"]
"""Not asked yet; answered last time; failed last time; its host's robots.txt keeps us out."""

Outlook = Literal["bullish", "bearish", "neutral"]
"""How a quote sounds for what it is about: clearly good, clearly bad, or neither."""

SourceId = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9-]{0,63}\Z",
        description="A source, as action=sources lists it",
        examples=["chain-reaction"],
    ),
]

_OF_HIGHLIGHTS = ("coin", "sector", "macro", "source", "since", "cursor")


class TranscriptsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Highlights of one coin, sector, topic or source since an instant, a page of them; or all sources.

    Raises:
        ServiceError: `BAD_REQUEST` for an instant that the calendar does not know, and for what narrows highlights down
            where sources are asked for.
    """

    action: Literal["highlights", "sources"] = "highlights"
    coin: SymbolText | None = None
    sector: CategoryName | None = None
    macro: Macro | None = None
    source: SourceId | None = None
    since: Instant | None = None
    limit: PageSize = 50
    cursor: CursorText | None = None

    def __post_init__(self) -> None:
        """Look at what no pattern knows."""
        if self.since is not None:
            instant_ms(self.since, "since")
        if self.action == "sources":
            for name in _OF_HIGHLIGHTS:
                if getattr(self, name) is not None:
                    raise ServiceError(
                        "BAD_REQUEST",
                        f"The parameter {name} is only for action=highlights.",
                        details={"parameter": name},
                    )


class Highlight(Struct, frozen=True):
    """One passage of an episode, in the words that were spoken.

    `publishedAt` is the episode's (ISO 8601 UTC); `start_seconds` is where in it the passage begins; `url` leads to the
    episode. `title`, `speaker` and `quote` are other people's words: plain text whose `<`, `>` and `&` are escaped as
    in HTML.
    `coins` are tickers, `sectors` names of categories, in the order in which they are named.
    """

    id: str
    source: str
    title: str
    publishedAt: str
    speaker: str | None
    quote: str
    start_seconds: int
    url: str
    coins: list[str]
    sectors: list[str]
    macro: list[Macro]
    stance: Outlook


class HighlightsMeta(Struct, frozen=True):
    """How many highlights there are with these filters, in all and by source, and where the next page begins."""

    total: int
    by_source: Mapping[str, int]
    next_cursor: str | None


class Highlights(Struct, frozen=True):
    """`transcripts?action=highlights`: the newest episodes first, the best passages of an episode first."""

    highlights: list[Highlight]
    meta: HighlightsMeta


class TranscriptSource(Struct, frozen=True):
    """A feed that is read, without what its address asks for; `episodes` are those whose transcript was read."""

    id: str
    name: str
    kind: SourceKind
    feed: str
    language: str | None
    lastEpisodeAt: str | None
    episodes: int
    status: SourceStatus


class TranscriptSources(Struct, frozen=True):
    """`transcripts?action=sources`."""

    sources: list[TranscriptSource]
