"""Answers about categories from memory: CoinGecko provides the members, the venue the values of their coins."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from msgspec import Raw

from service.analytics.states import days_in_state
from service.clock import DAY_MS, HOUR_MS, Clock
from service.errors import ServiceError
from service.market.categories.documents import UPSTREAM, GeckoDocuments, known_coins, known_members
from service.market.categories.refresh import calls_until
from service.market.freshness import AgeLimits, Freshness, span_around
from service.market.loading import LoadProgress, raise_unavailable
from service.market.models import CoinView
from service.market.past_prices import instants_of
from service.market.sources.coingecko import GeckoCategory, GeckoCoin
from service.units import Symbol
from service.wire.envelope import Answer, encode
from service.wire.market import CategoryCoin, CategoryInfo, TrendCounts

FIGURES: Final = AgeLimits(stale=HOUR_MS, gone=48 * HOUR_MS)
"""Age limits of CoinGecko's figures: null after the contract's 48 hours."""

EXTREMES: Final = 3
"""Maximum number of leaders, and of laggards."""

MOST_CANDIDATES: Final = 5
_LIKENESS: Final = 0.6
_DECIMALS: Final = 4


class _CachedAnswer(NamedTuple):
    """An answer, its inputs, and the span in which it is valid: `since_ms` inclusive, `until_ms` exclusive."""

    answer: Answer
    view: Mapping[str, CoinView]
    revisions: tuple[int, ...]
    since_ms: int
    until_ms: int

    def is_valid(self, view: Mapping[str, CoinView], revisions: tuple[int, ...], now_ms: int) -> bool:
        return self.view is view and self.revisions == revisions and self.since_ms <= now_ms < self.until_ms


class CategoryService:
    """Answers questions about categories.

    Args:
        clock: Judges ages.
        documents: Data of CoinGecko.
        view: Current values of the venue's coins; the same mapping while nothing changes.
        wait_s: Estimated seconds for a number of CoinGecko calls.
    """

    def __init__(
        self,
        clock: Clock,
        documents: GeckoDocuments,
        view: Callable[[], Mapping[str, CoinView]],
        wait_s: Callable[[int], float],
    ) -> None:
        self._clock = clock
        self._documents = documents
        self._view = view
        self._wait_s = wait_s
        self._cache: dict[str, _CachedAnswer] = {}

    @property
    def revisions(self) -> tuple[int, ...]:
        """Revisions of all CoinGecko documents; they change with the data."""
        return tuple(document.current.revision for document in self._documents)

    def info(self, name: str) -> Answer:
        """Trends of a category and its coins.

        Args:
            name: Exact name, as CoinGecko writes it.

        Returns:
            The encoded `CategoryInfo`, as of its oldest price; without any price, as of CoinGecko's figures.

        Raises:
            ServiceError: `UNKNOWN_CATEGORY` with `{"candidates": [...]}`; `UPSTREAM_4XX` or `UPSTREAM_5XX` if CoinGecko
                failed and nothing is known of the category; `UNAVAILABLE` before the first answer.
        """
        view, now_ms = self._view(), self._clock.now_ms()
        revisions = self.revisions
        cached = self._cache.get(name)
        if cached is None or not cached.is_valid(view, revisions, now_ms):
            cached = self._assess(name, view, revisions, now_ms)
            self._cache[name] = cached
        return cached.answer

    def find(self, name: str) -> GeckoCategory:
        """The category with that exact name.

        Raises:
            ServiceError: As `info`.
        """
        current = self._documents.categories.current
        if current.value is None:
            raise_unavailable(UPSTREAM, current.failure, "categories", self.load_progress())
        for category in current.value.categories:
            if category.name == name:
                return category
        candidates = closest_names(name, self.category_names())
        hint = f" The closest: {', '.join(map(repr, candidates))}." if candidates else ""
        raise ServiceError(
            "UNKNOWN_CATEGORY",
            f"No category is called {name!r}. Names are exact, including capitals.{hint}",
            details={"candidates": candidates},
        )

    def category_names(self) -> Sequence[str]:
        """Names of all known categories, the largest first."""
        current = self._documents.categories.current
        return [] if current.value is None else [category.name for category in current.value.categories]

    def members(self, name: str) -> Sequence[Symbol]:
        """The venue's coins of a category, the largest market cap first; may be empty.

        Args:
            name: Exact name, as CoinGecko writes it.

        Raises:
            ServiceError: As `info`, except for prices.
        """
        return [Symbol(symbol) for symbol, _ in self._coins_of(self.find(name), self._view())]

    def memberships(self) -> Mapping[str, Sequence[Symbol]]:
        """The venue's coins of every category whose members are known, the largest market cap first; may be empty."""
        members, ranked = known_members(self._documents.members.current), self._ranked(self._view())
        places: dict[str, list[int]] = {}
        for place, (_, row) in enumerate(ranked):
            places.setdefault(row.id, []).append(place)
        current = self._documents.categories.current
        return {
            category.name: [
                Symbol(ranked[place][0])
                for place in sorted(place for coin_id in members[category.id].ids for place in places.get(coin_id, ()))
            ]
            for category in (() if current.value is None else current.value.categories)
            if category.id in members
        }

    def titles(self) -> Mapping[Symbol, str]:
        """Common names of the venue's coins by ticker, as far as CoinGecko knows them."""
        return {Symbol(symbol): row.name for symbol, row in known_coins(self._documents.coins.current).items()}

    def load_progress(self, name: str | None = None) -> LoadProgress:
        """Number of categories with known members, and the estimated time until one category's are.

        Args:
            name: That category; null for the largest.
        """
        current, members = self._documents.categories.current, known_members(self._documents.members.current)
        categories = () if current.value is None else current.value.categories
        place = 0 if name is None else self.category_names().index(name)
        calls = calls_until(place, [category.id in members for category in categories], len(self.titles()))
        return LoadProgress(len(members), len(categories), "categories", self._wait_s(calls) if calls else None)

    def readiness(self) -> Mapping[str, object]:
        """Details for `/readyz`: known categories, those with members, coins identified at CoinGecko, failures."""
        return {
            "categories": len(self.category_names()),
            "read": len(known_members(self._documents.members.current)),
            "coins": len(known_coins(self._documents.coins.current)),
            "failing": any(document.current.failure is not None for document in self._documents),
        }

    def _assess(
        self, name: str, view: Mapping[str, CoinView], revisions: tuple[int, ...], now_ms: int
    ) -> _CachedAnswer:
        category = self.find(name)
        coins = self._coins_of(category, view)
        seen = [category.seen_ms, *(row.seen_ms for _, row in coins)]
        since_ms, until_ms = span_around(now_ms, (turn for at_ms in seen for turn in FIGURES.transitions(at_ms)))
        is_known = FIGURES.judge(category.seen_ms, now_ms) is not Freshness.GONE
        views = [(view[symbol], row) for symbol, row in coins]
        priced = [coin.price_ms for coin, _ in views if coin.price_ms is not None]
        charted = [coin.through_ms for coin, _ in views if coin.through_ms is not None]
        observed = priced or ([category.seen_ms] if is_known else charted)
        if not observed:
            raise_unavailable(UPSTREAM, self._documents.categories.current.failure, f"data of the category {name!r}")
        info = _break_down(category if is_known else None, name, category.description, views, now_ms)
        return _CachedAnswer(Answer(Raw(encode(info)), min(observed)), view, revisions, since_ms, until_ms)

    def _coins_of(self, category: GeckoCategory, view: Mapping[str, CoinView]) -> list[tuple[str, GeckoCoin]]:
        """The venue's coins of a category, as CoinGecko last showed them."""
        current = self._documents.members.current
        membership = known_members(current).get(category.id)
        if membership is None:
            load_progress = self.load_progress(category.name)
            raise_unavailable(UPSTREAM, current.failure, f"coins of the category {category.name!r}", load_progress)
        return [(symbol, row) for symbol, row in self._ranked(view) if row.id in membership.ids]

    def _ranked(self, view: Mapping[str, CoinView]) -> list[tuple[str, GeckoCoin]]:
        """The coins that both know, the largest market cap first."""
        both = ((symbol, row) for symbol, row in known_coins(self._documents.coins.current).items() if symbol in view)
        return sorted(both, key=lambda coin: (-(coin[1].market_cap or 0.0), coin[0]))


def closest_names(name: str, known: Iterable[str]) -> list[str]:
    """Categories that a caller may have meant: at most five, the most likely first, ignoring case.

    Args:
        name: The unknown name.
        known: Names of categories, the largest first.
    """
    asked = name.strip().casefold()
    folded: dict[str, list[str]] = {}
    for other in known:
        folded.setdefault(other.casefold(), []).append(other)
    word = re.compile(rf"\b{re.escape(asked)}")
    holding = [other for other in folded if asked and asked in other]
    holding.sort(key=lambda other: (not word.search(other), other.find(asked)))
    alike = get_close_matches(asked, folded, n=MOST_CANDIDATES, cutoff=_LIKENESS)
    exact = [other for other in folded if other == asked]
    best = dict.fromkeys([*exact, *holding, *alike])
    return [original for other in best for original in folded[other]][:MOST_CANDIDATES]


def _break_down(
    is_known: GeckoCategory | None,
    name: str,
    description: str | None,
    coins: Sequence[tuple[CoinView, GeckoCoin]],
    now_ms: int,
) -> CategoryInfo:
    states = [coin.trend_daily for coin, _ in coins]
    ranked = sorted(
        ((coin.change_24h, coin.symbol) for coin, _ in coins if coin.change_24h is not None),
        key=lambda pair: (-pair[0], pair[1]),
    )
    symbols = [symbol for _, symbol in ranked]
    best = min(EXTREMES, -(-len(symbols) // 2))
    worst = min(EXTREMES, len(symbols) - best)
    return CategoryInfo(
        name=name,
        description=description,
        coins=[_coin(coin, row, now_ms) for coin, row in coins],
        trends=TrendCounts(states.count("UP"), states.count("HODL"), states.count("DOWN")),
        market_cap=None if is_known is None else is_known.market_cap,
        change_24h=None
        if is_known is None or is_known.change_24h is None
        else round(is_known.change_24h, _DECIMALS) + 0.0,
        volume_24h=None if is_known is None else is_known.volume_24h,
        leaders=symbols[:best],
        laggards=symbols[::-1][:worst],
    )


def _coin(coin: CoinView, row: GeckoCoin, now_ms: int) -> CategoryCoin:
    return CategoryCoin(
        symbol=coin.symbol,
        name=row.name,
        price=coin.price,
        change_24h=coin.change_24h,
        market_cap=_cap(row, now_ms),
        trend_daily=coin.trend_daily,
        streak_days=streak_days(coin),
        changes_from=instants_of({"24h": coin.changes_from.get("24h")}),
    )


def _cap(row: GeckoCoin, now_ms: int) -> float | None:
    return None if FIGURES.judge(row.seen_ms, now_ms) is Freshness.GONE else row.market_cap


def streak_days(coin: CoinView) -> int | None:
    """Closed days of the daily trend; null if unknown."""
    if coin.trend_daily is None or coin.trend_daily_since_ms is None or coin.through_ms is None:
        return None
    return days_in_state(coin.trend_daily_since_ms // DAY_MS, coin.through_ms // DAY_MS)
