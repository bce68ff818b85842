"""Payloads of the routes of sentiment, and the mood of a coin as the risk context carries it."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from service.wire.market import Stance

Score = Annotated[float, Meta(ge=-1, le=1)]


class CoinSentiment(Struct, frozen=True):
    """A coin's part of a category's sentiment; the score is null where nothing was written about it."""

    symbol: str
    stance: Stance
    score: Score | None


class NewsProvenance(Struct, frozen=True):
    """Who published the items of a category, and when the newest was published, ISO 8601 UTC, null without items."""

    newest_at: str | None
    sources: list[str]


class CategorySentiment(Struct, frozen=True):
    """What is written about a category and how its coins trade.

    `score` is -1 to 1, null without items; `slope_24h` its change over 24 hours; `mentions` items of the last 7 days.
    Six values and one list at the top level: generic printers of clients show all of them then.
    """

    name: str
    stance: Stance
    score: Score | None
    slope_24h: float | None
    mentions: int
    summary: str
    coins: list[CoinSentiment]
    provenance: NewsProvenance


class Mood(Struct, frozen=True):
    """A coin's stance, a sentence that says what it rests on, and when its newest input was observed, epoch ms UTC.

    `stance`, `summary` and `observed_ms` are null together: nothing is known.
    """

    stance: Stance | None = None
    summary: str | None = None
    observed_ms: int | None = None
    stale: bool = False


NO_MOOD: Final = Mood()
"""Nothing is known of a coin."""


SubjectKind = Literal["market", "coin", "category", "narrative"]


class SentimentItem(Struct, frozen=True):
    """Sentiment of the market, a coin, a category or a narrative.

    `entity_id` is `market`, a ticker or a name. `score` is -1 to 1, null without news; `slope_24h` its change over 24
    hours; `mentions` items of the last 7 days. `created_at` is when it was computed, `newest_at` when its newest item
    was published, null without items; ISO 8601 UTC. `id` is a whole number below 2^48, derived from `type`,
    `entity_id` and `created_at`.
    """

    id: int
    entity_id: str
    stance: Stance
    score: Score | None
    mentions: int
    summary: str
    type: SubjectKind
    created_at: str
    slope_24h: float | None
    newest_at: str | None


class OneCoinSentiment(Struct, frozen=True):
    """`coin/sentiment/{symbol}` and `sentiment?action=coin`."""

    success: bool
    symbol: str
    data: SentimentItem


class OneSentiment(Struct, frozen=True):
    """`sentiment` of one category or narrative."""

    success: bool
    data: SentimentItem


class SentimentItems(Struct, frozen=True):
    """`sentiment?action=market`: one item; `action=latest`: every coin and category with news, most mentioned first."""

    success: bool
    data: list[SentimentItem]


class CategoryScore(Struct, frozen=True):
    """A category's sentiment in a list; fields as in `SentimentItem`."""

    name: str
    stance: Stance
    score: Score | None
    slope_24h: float | None
    mentions: int
    newest_at: str | None


class SentimentCategories(Struct, frozen=True):
    """`sentiment?action=categories`: all categories, the most mentioned first."""

    success: bool
    interval: Literal["1d"]
    total_count: int
    categories: list[CategoryScore]


class CategorySlope(Struct, frozen=True):
    """How a category's score changed over 24 hours."""

    name: str
    score: Score
    slope_24h: float
    mentions: int


class CategorySlopes(Struct, frozen=True):
    """`sentiment?action=slopes`: categories whose slope is known, the greatest rise first.

    `snapshot_hour` is the hour in which the scores were computed, ISO 8601 UTC.
    """

    snapshot_hour: str
    count: int
    categories: list[CategorySlope]


class CoinSlope(Struct, frozen=True):
    """How a coin's score changed over 24 hours."""

    symbol: str
    score: Score
    slope_24h: float
    mentions: int


class CoinSlopes(Struct, frozen=True):
    """`sentiment?action=entity-slopes`: as `CategorySlopes`, of coins."""

    snapshot_hour: str
    count: int
    entities: list[CoinSlope]


class FeedCheck(Struct, frozen=True):
    """State of one feed: `as_of` is when it last answered, ISO 8601 UTC, null if it has not yet."""

    name: str
    ok: bool
    detail: str
    as_of: str | None


class SentimentHealth(Struct, frozen=True):
    """`sentiment?action=health`: `ok` if every feed answered when it was last asked."""

    ok: bool
    checks: list[FeedCheck]


class Narrative(Struct, frozen=True):
    """A category that at least two sources mentioned in the last 7 days.

    `score` is the mean sentiment of its items, -1 to 1; `freshness_score` their count with a half-life of 24 hours over
    their count, 0 to 1. `coins` are the tickers most often named in them, at most five. `first_seen` and `last_seen`
    are when the oldest and the newest were published, ISO 8601 UTC.
    """

    name: str
    stance: Stance
    score: Score
    freshness_score: float
    mentions: int
    coins: str
    first_seen: str
    last_seen: str


class AttentionState(Struct, frozen=True):
    """How many narratives have at least 1.5 times as many items in the newer half of the week, neither, or fewer."""

    rising: int
    steady: int
    fading: int


class NarrativeAttention(Struct, frozen=True):
    """`sentiment?action=narratives`: narratives, the most mentioned first, under `sources`."""

    success: bool
    interval: Literal["1d"]
    total_count: int
    freshness_score: float | None
    sources: list[Narrative]
    attention_state: AttentionState


class FreshnessConfig(Struct, frozen=True):
    """How freshness decays."""

    half_life_hours: int


class Surfaces(Struct, frozen=True):
    """Items about narratives by where they appeared."""

    news: int
    podcasts: int
    videos: int


class Narratives(Struct, frozen=True):
    """`narratives`: the most mentioned first. `periods_back` is days."""

    success: bool
    interval: Literal["1d"]
    periods_back: int
    total_count: int
    analysis_type: Literal["mentions"]
    cache_age_minutes: int
    freshness_config: FreshnessConfig
    surfaces: Surfaces
    narratives: list[Narrative]
