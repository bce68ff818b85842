"""From scored items to moods: what was written about each coin and category, weighed by age. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from service.clock import DAY_MS, iso
from service.sentiment.stance import Judgement, NewsTone, Trading, judge
from service.wire.market import Stance
from service.wire.sentiment import CategorySentiment, CoinSentiment, NewsProvenance

WINDOW_MS: Final = 7 * DAY_MS
HORIZON_MS: Final = WINDOW_MS + DAY_MS
"""Older items enter nothing: neither a score nor that of a day before."""

HALF_LIFE_MS: Final = DAY_MS
PRIOR: Final = 1.0
"""Weight of the silence: one fresh headline alone moves a score half of its way."""

_DECIMALS: Final = 4


class ScoredItem(Struct, frozen=True):
    """A news item, scored and attributed: `coins` are symbols, `categories` those it names itself."""

    id: str
    source: str
    title: str
    url: str
    published_ms: int
    score: float
    coins: tuple[str, ...]
    categories: tuple[str, ...]
    scored_ms: int


class Index(Struct, frozen=True):
    """The newest value of Fear & Greed, 0 to 100, and when the day began that it is of."""

    value: int
    of_ms: int


class CoinMood(Struct, frozen=True):
    """What was concluded of a coin, or of the whole market.

    `slope_24h` is the change of the score over 24 hours, `mentions` the items of seven days, `newest_ms` when the
    newest was published.
    """

    stance: Stance
    summary: str
    score: float | None
    slope_24h: float | None
    mentions: int
    newest_ms: int | None


class FeedState(Struct, frozen=True):
    """When a feed last answered, and why it failed when it was last asked, null if it did not.

    `unread` and `undated` count items of the last answer that do not count: unreadable; without a certain date or dated
    in the future.
    """

    answered_ms: int | None = None
    failure: str | None = None
    unread: int = 0
    undated: int = 0

    @property
    def detail(self) -> str:
        """The state in words."""
        counts = ((self.unread, "unreadable"), (self.undated, "without a usable date"))
        lost = ", ".join(f"{count} {what}" for count, what in counts if count)
        return self.failure or f"Answered{f'; items left out: {lost}' if lost else ''}."


class Conclusions(Struct, frozen=True):
    """Everything that was concluded at once: by symbol and by category.

    `newest_ms` is when the newest item scored was published, null without items; `news_ms` when a feed last had
    anything, null where news did not enter; `index` the market's Fear & Greed, where that is known; `read_with` names
    the coins and categories that texts were searched for; `market` is the mood of the whole market; `feeds` the state
    of each feed by name.
    """

    newest_ms: int | None
    news_ms: int | None
    index: Index | None
    read_with: str
    coins: dict[str, CoinMood]
    categories: dict[str, CategorySentiment]
    market: CoinMood
    feeds: dict[str, FeedState]


def conclude_market(
    items: Iterable[ScoredItem], tape: Mapping[str, Trading], fear_greed: int | None, now_ms: int
) -> CoinMood:
    """Conclude the mood of the whole market, by the rules of categories: all items are about it, all coins are its.

    Args:
        items: Scored items; those of the last eight days count.
        tape: How coins trade, by symbol.
        fear_greed: The market's index, 0 to 100.
        now_ms: The instant ages are counted from.
    """
    return _mood(list(items), _typical(tape.values()), fear_greed, now_ms)


def conclude(
    items: Sequence[ScoredItem],
    tape: Mapping[str, Trading],
    categories: Mapping[str, Sequence[str]],
    fear_greed: int | None,
    now_ms: int,
) -> tuple[dict[str, CoinMood], dict[str, CategorySentiment]]:
    """Conclude the mood of every coin and category.

    Args:
        items: Scored items; those of the last eight days count.
        tape: How coins trade, by symbol.
        categories: Name → symbols of its coins.
        fear_greed: The market's index, 0 to 100.
        now_ms: The instant ages are counted from.

    Returns:
        By symbol, and by the category's name.
    """
    by_coin: dict[str, list[ScoredItem]] = {}
    by_name: dict[str, list[ScoredItem]] = {}
    for item in items:
        for symbol in item.coins:
            by_coin.setdefault(symbol, []).append(item)
        for name in item.categories:
            by_name.setdefault(name, []).append(item)
    coins = {symbol: _mood(by_coin.get(symbol, ()), view, fear_greed, now_ms) for symbol, view in tape.items()}
    return coins, {
        name: _category(name, members, by_name.get(name, ()), by_coin, tape, coins, fear_greed, now_ms)
        for name, members in categories.items()
    }


def weigh(items: Iterable[ScoredItem], now_ms: int) -> NewsTone:
    """Weigh what was written: an item's weight halves every day, and silence weighs as much as one fresh item.

    Returns:
        `score` = Σ weight·score / (Σ weight + 1) over the items of the last seven days; `slope_24h` = that less the
        same a day before, null where either is; `mentions` = how many items there were.
    """
    dated = list(items)
    now, mentions = _score(dated, now_ms)
    before, _ = _score(dated, now_ms - DAY_MS)
    slope = None if now is None or before is None else round(now - before, _DECIMALS) + 0.0
    return NewsTone(None if now is None else round(now, _DECIMALS) + 0.0, slope, mentions)


def _score(items: Iterable[ScoredItem], at_ms: int) -> tuple[float | None, int]:
    weights = weighted = 0.0
    mentions = 0
    for item in items:
        age_ms = at_ms - item.published_ms
        if 0 <= age_ms < WINDOW_MS:
            weight = 0.5 ** (age_ms / HALF_LIFE_MS)
            weights += weight
            weighted += weight * item.score
            mentions += 1
    return (weighted / (weights + PRIOR) if mentions else None), mentions


def _judge(
    items: Iterable[ScoredItem], view: Trading, fear_greed: int | None, now_ms: int
) -> tuple[NewsTone, Judgement]:
    news = weigh(items, now_ms)
    return news, judge(news, view, fear_greed)


def _mood(items: Sequence[ScoredItem], view: Trading, fear_greed: int | None, now_ms: int) -> CoinMood:
    news, judgement = _judge(items, view, fear_greed, now_ms)
    newest_ms = max((item.published_ms for item in items if 0 <= now_ms - item.published_ms < WINDOW_MS), default=None)
    return CoinMood(judgement.stance, judgement.summary, news.score, news.slope_24h, news.mentions, newest_ms)


def _category(
    name: str,
    members: Sequence[str],
    named: Iterable[ScoredItem],
    by_coin: Mapping[str, Sequence[ScoredItem]],
    tape: Mapping[str, Trading],
    coins: Mapping[str, CoinMood],
    fear_greed: int | None,
    now_ms: int,
) -> CategorySentiment:
    about = {item.id: item for item in named}
    about.update((item.id, item) for symbol in members for item in by_coin.get(symbol, ()))
    recent = [item for item in about.values() if 0 <= now_ms - item.published_ms < WINDOW_MS]
    news, judgement = _judge(
        about.values(), _typical([tape[each] for each in members if each in tape]), fear_greed, now_ms
    )
    return CategorySentiment(
        name=name,
        stance=judgement.stance,
        score=news.score,
        slope_24h=news.slope_24h,
        mentions=news.mentions,
        summary=judgement.summary,
        coins=[
            CoinSentiment(symbol, coins[symbol].stance, coins[symbol].score) for symbol in members if symbol in coins
        ],
        provenance=NewsProvenance(
            newest_at=iso(max(item.published_ms for item in recent)) if recent else None,
            sources=sorted({item.source for item in recent}),
        ),
    )


def _typical(views: Collection[Trading]) -> Trading:
    """The median of each figure over a category's coins."""
    typical = Trading()
    for field in ("change_24h", "change_7d", "funding_apr", "volume_ratio"):
        known = [value for view in views if (value := getattr(view, field)) is not None]
        if known:
            typical = replace(typical, **{field: median(known)})
    return typical
