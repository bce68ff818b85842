"""Finds narratives in items and measures them. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Final, Literal

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS, iso
from service.wire.market import Stance
from service.wire.sentiment import AttentionState, Narrative, Surfaces

WINDOW_MS: Final = 7 * DAY_MS
HALF_LIFE_HOURS: Final = 24
MIN_SOURCES: Final = 2
MAX_COINS: Final = 5
ATTENTION_RATIO: Final = 1.5

_DECIMALS: Final = 4

Surface = Literal["news", "podcast", "video"]


class NarrativeItem(Struct, frozen=True):
    """A headline or a passage: where and when it appeared, its sentiment (-1 to 1), what it is about."""

    source: str
    surface: Surface
    published_ms: int
    score: float
    categories: tuple[str, ...]
    coins: tuple[str, ...]


class MeasuredNarrative(Struct, frozen=True):
    """A narrative, and what its row does not show."""

    row: Narrative
    slope_24h: float | None
    sources: int
    newest_ms: int
    newer: int
    older: int


class NarrativeSnapshot(Struct, frozen=True):
    """All narratives, the most mentioned first. `freshness_score` is null without any."""

    narratives: Sequence[MeasuredNarrative]
    freshness_score: float | None
    surfaces: Surfaces
    attention: AttentionState


def find_narratives(items: Iterable[NarrativeItem], stances: Mapping[str, Stance], now_ms: int) -> NarrativeSnapshot:
    """Find the narratives of now.

    Args:
        items: Those of the last eight days; older ones do not count.
        stances: Stance by category, as far as it is known.
        now_ms: Ages are counted from here, epoch milliseconds.
    """
    dated = [item for item in items if 0 <= now_ms - item.published_ms < WINDOW_MS + DAY_MS]
    by_name: dict[str, list[NarrativeItem]] = {}
    for item in dated:
        for name in item.categories:
            by_name.setdefault(name, []).append(item)
    found, about = [], []
    for name, named in by_name.items():
        recent = [item for item in named if now_ms - item.published_ms < WINDOW_MS]
        if len({item.source for item in recent}) >= MIN_SOURCES:
            found.append(_measure(name, named, recent, stances.get(name, "neutral"), now_ms))
            about += recent
    unique = list({id(item): item for item in about}.values())
    counts = Counter(item.surface for item in unique)
    states = Counter(_attention(each) for each in found)
    return NarrativeSnapshot(
        sorted(found, key=lambda each: (-each.row.mentions, each.row.name)),
        _freshness(unique, now_ms) if unique else None,
        Surfaces(news=counts["news"], podcasts=counts["podcast"], videos=counts["video"]),
        AttentionState(rising=states["rising"], steady=states["steady"], fading=states["fading"]),
    )


def _measure(
    name: str, named: Sequence[NarrativeItem], recent: Sequence[NarrativeItem], stance: Stance, now_ms: int
) -> MeasuredNarrative:
    score = fmean(item.score for item in recent)
    before = [item.score for item in named if now_ms - item.published_ms >= DAY_MS]
    times = [item.published_ms for item in recent]
    newer = sum(now_ms - at_ms < WINDOW_MS // 2 for at_ms in times)
    row = Narrative(
        name=name,
        stance=stance,
        score=_rounded(score),
        freshness_score=_freshness(recent, now_ms),
        mentions=len(recent),
        coins=", ".join(_most_named(recent)),
        first_seen=iso(min(times)),
        last_seen=iso(max(times)),
    )
    slope = _rounded(score - fmean(before)) if before else None
    sources = len({item.source for item in recent})
    return MeasuredNarrative(row, slope, sources, max(times), newer, len(recent) - newer)


def _attention(found: MeasuredNarrative) -> str:
    if found.newer >= ATTENTION_RATIO * found.older:
        return "rising"
    return "fading" if found.older >= ATTENTION_RATIO * found.newer else "steady"


def _most_named(items: Iterable[NarrativeItem]) -> list[str]:
    counts = Counter(coin for item in items for coin in item.coins)
    return sorted(counts, key=lambda coin: (-counts[coin], coin))[:MAX_COINS]


def _freshness(items: Sequence[NarrativeItem], now_ms: int) -> float:
    weights = [0.5 ** ((now_ms - item.published_ms) / (HALF_LIFE_HOURS * HOUR_MS)) for item in items]
    return _rounded(fmean(weights))


def _rounded(value: float) -> float:
    return round(value, _DECIMALS) + 0.0
