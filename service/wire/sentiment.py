"""Payloads of the routes of sentiment, and the mood of a coin as the risk context carries it."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from service.wire.market import Stance

Score = Annotated[float, Meta(ge=-1, le=1)]


class CoinSentiment(Struct, frozen=True):
    """A coin's part of a category's sentiment; the score is null where nothing was written about it."""

    symbol: str
    stance: Stance
    score: Score | None


class CategorySentiment(Struct, frozen=True):
    """What is written about a category and how its coins trade.

    `score` is -1 to 1, null without items; `slope_24h` its change over 24 hours; `mentions` items of the last 7 days;
    `sources` who wrote them; `newest_at` ISO 8601 UTC of the newest item, null without items.
    """

    name: str
    stance: Stance
    score: Score | None
    slope_24h: float | None
    mentions: int
    sources: list[str]
    summary: str
    coins: list[CoinSentiment]
    newest_at: str | None


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
