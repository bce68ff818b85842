"""What is said of categories, from memory: CoinGecko tells who belongs to one, the venue what its coins do."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from msgspec import Raw

from service.clock import DAY_MS, HOUR_MS, Clock
from service.errors import ServiceError
from service.market.categories.backlog import calls_until
from service.market.categories.gecko import UPSTREAM, GeckoDrawers, known_coins, known_members
from service.market.filling import Filling
from service.market.freshness import Freshness, Limits, span_around
from service.market.observed import CoinView
from service.market.silence import nothing_to_say
from service.market.sources.coingecko import GeckoCategory, GeckoCoin
from service.market.symbols import unit_of
from service.units import Symbol
from service.wire.envelope import Answer, encode
from service.wire.market import CategoryCoin, CategoryInfo, TrendCounts

FIGURES: Final = Limits(stale=HOUR_MS, gone=48 * HOUR_MS)
"""CoinGecko's figures: past the contract's 48 hours they are null."""

EXTREMES: Final = 3
"""Leaders and laggards, each, at the most."""

MOST_CANDIDATES: Final = 5
_LIKENESS: Final = 0.6
_DECIMALS: Final = 4


class _Said(NamedTuple):
    """An answer; what it was made of; while it holds, unless that changes: from `since_ms` until `until_ms`."""

    answer: Answer
    view: Mapping[str, CoinView]
    revisions: tuple[int, ...]
    since_ms: int
    until_ms: int

    def holds(self, view: Mapping[str, CoinView], revisions: tuple[int, ...], now_ms: int) -> bool:
        return self.view is view and self.revisions == revisions and self.since_ms <= now_ms < self.until_ms


class CategoryDesk:
    """Answers what is asked of categories.

    Args:
        clock: Ages are judged by it.
        drawers: What is known of CoinGecko.
        view: The venue's coins as they stand now; the same mapping while nothing changes.
        wait_s: How many seconds so many calls of CoinGecko take.
    """

    def __init__(
        self,
        clock: Clock,
        drawers: GeckoDrawers,
        view: Callable[[], Mapping[str, CoinView]],
        wait_s: Callable[[int], float],
    ) -> None:
        self._clock = clock
        self._drawers = drawers
        self._view = view
        self._wait_s = wait_s
        self._said: dict[str, _Said] = {}

    @property
    def revisions(self) -> tuple[int, ...]:
        """Revisions of all that is known of CoinGecko: others whenever something in it changes."""
        return tuple(drawer.now.revision for drawer in self._drawers)

    def info(self, name: str) -> Answer:
        """Break a category's trends down.

        Args:
            name: Exact, as CoinGecko writes it.

        Returns:
            The encoded `CategoryInfo`. It is as old as the oldest price in it; without any price, as CoinGecko's
            figures.

        Raises:
            ServiceError: `UNKNOWN_CATEGORY` with `{"candidates": [...]}`; `UPSTREAM_4XX` or `UPSTREAM_5XX` where
                CoinGecko has failed and nothing is known of the category; `UNAVAILABLE` before it was asked.
        """
        view, now_ms = self._view(), self._clock.now_ms()
        revisions = self.revisions
        said = self._said.get(name)
        if said is None or not said.holds(view, revisions, now_ms):
            said = self._assess(name, view, revisions, now_ms)
            self._said[name] = said
        return said.answer

    def find(self, name: str) -> GeckoCategory:
        """The category of that exact name.

        Raises:
            ServiceError: As `info`.
        """
        kept = self._drawers.categories.now
        if kept.value is None:
            nothing_to_say(UPSTREAM, kept.failure, "categories", self.filling())
        for category in kept.value.categories:
            if category.name == name:
                return category
        candidates = closest_names(name, self.category_names())
        hint = f"; the closest: {', '.join(map(repr, candidates))}" if candidates else ""
        raise ServiceError(
            "UNKNOWN_CATEGORY",
            f"no category is called {name!r} (names are exact, capitals included){hint}",
            details={"candidates": candidates},
        )

    def category_names(self) -> Sequence[str]:
        """Names of all categories, the largest first; none while none are known."""
        kept = self._drawers.categories.now
        return [] if kept.value is None else [category.name for category in kept.value.categories]

    def members(self, name: str) -> Sequence[Symbol]:
        """The venue's coins of one category, the largest market cap first; may be none.

        Args:
            name: Exact, as CoinGecko writes it.

        Raises:
            ServiceError: As `info`, prices aside.
        """
        return [Symbol(symbol) for symbol, _ in self._coins_of(self.find(name), self._view())]

    def memberships(self) -> Mapping[str, Sequence[Symbol]]:
        """The venue's coins of every category whose coins have been read, the largest market cap first; may be none."""
        members, ranked = known_members(self._drawers.members.now), self._ranked(self._view())
        places: dict[str, list[int]] = {}
        for place, (_, row) in enumerate(ranked):
            places.setdefault(row.id, []).append(place)
        kept = self._drawers.categories.now
        return {
            category.name: [
                Symbol(ranked[place][0])
                for place in sorted(place for coin_id in members[category.id].ids for place in places.get(coin_id, ()))
            ]
            for category in (() if kept.value is None else kept.value.categories)
            if category.id in members
        }

    def titles(self) -> Mapping[Symbol, str]:
        """What people call the venue's coins, by ticker, of those CoinGecko knows."""
        return {Symbol(symbol): row.name for symbol, row in known_coins(self._drawers.coins.now).items()}

    def filling(self, name: str | None = None) -> Filling:
        """Of how many categories the members are known, and how long it takes until one category's are.

        Args:
            name: That category; null for the largest.
        """
        kept, members = self._drawers.categories.now, known_members(self._drawers.members.now)
        categories = () if kept.value is None else kept.value.categories
        place = 0 if name is None else self.category_names().index(name)
        calls = calls_until(place, [category.id in members for category in categories], len(self.titles()))
        return Filling(len(members), len(categories), "categories", self._wait_s(calls) if calls else None)

    def readiness(self) -> Mapping[str, object]:
        """How much is known: categories, those of them whose coins are known, our coins at CoinGecko; and failures."""
        return {
            "categories": len(self.category_names()),
            "read": len(known_members(self._drawers.members.now)),
            "coins": len(known_coins(self._drawers.coins.now)),
            "failing": any(drawer.now.failure is not None for drawer in self._drawers),
        }

    def _assess(self, name: str, view: Mapping[str, CoinView], revisions: tuple[int, ...], now_ms: int) -> _Said:
        category = self.find(name)
        coins = self._coins_of(category, view)
        seen = [category.seen_ms, *(row.seen_ms for _, row in coins)]
        since_ms, until_ms = span_around(now_ms, (turn for at_ms in seen for turn in FIGURES.turns(at_ms)))
        told = FIGURES.judge(category.seen_ms, now_ms) is not Freshness.GONE
        views = [(view[symbol], row) for symbol, row in coins]
        priced = [coin.price_ms for coin, _ in views if coin.price_ms is not None]
        charted = [coin.through_ms for coin, _ in views if coin.through_ms is not None]
        observed = priced or ([category.seen_ms] if told else charted)
        if not observed:
            nothing_to_say(UPSTREAM, self._drawers.categories.now.failure, f"data of the category {name!r}")
        info = _break_down(category if told else None, name, category.description, views, now_ms)
        return _Said(Answer(Raw(encode(info)), min(observed)), view, revisions, since_ms, until_ms)

    def _coins_of(self, category: GeckoCategory, view: Mapping[str, CoinView]) -> list[tuple[str, GeckoCoin]]:
        """The venue's coins in a category, as CoinGecko last showed them."""
        kept = self._drawers.members.now
        membership = known_members(kept).get(category.id)
        if membership is None:
            filling = self.filling(category.name)
            nothing_to_say(UPSTREAM, kept.failure, f"coins of the category {category.name!r}", filling)
        return [(symbol, row) for symbol, row in self._ranked(view) if row.id in membership.ids]

    def _ranked(self, view: Mapping[str, CoinView]) -> list[tuple[str, GeckoCoin]]:
        """The coins that both know, the largest market cap first."""
        both = ((symbol, row) for symbol, row in known_coins(self._drawers.coins.now).items() if symbol in view)
        return sorted(both, key=lambda coin: (-(coin[1].market_cap or 0.0), coin[0]))


def closest_names(name: str, known: Iterable[str]) -> list[str]:
    """The categories a caller may have meant: at most five, the most likely first, capitals not regarded.

    Args:
        name: What was asked for.
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
    told: GeckoCategory | None,
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
        market_cap=None if told is None else told.market_cap,
        change_24h=None if told is None or told.change_24h is None else round(told.change_24h, _DECIMALS) + 0.0,
        volume_24h=None if told is None else told.volume_24h,
        leaders=symbols[:best],
        laggards=symbols[::-1][:worst],
    )


def _coin(coin: CoinView, row: GeckoCoin, now_ms: int) -> CategoryCoin:
    return CategoryCoin(
        symbol=coin.symbol,
        name=name_of(coin, row),
        price=coin.price,
        change_24h=coin.change_24h,
        market_cap=_cap(row, now_ms),
        trend_daily=coin.trend_daily,
        streak_days=streak_days(coin),
    )


def name_of(coin: CoinView, row: GeckoCoin) -> str:
    """The name of a coin. Where the venue's unit is a thousand of it, the name says so, as the price is that unit's."""
    _, units = unit_of(coin.venue_symbol)
    return row.name if units == 1 else f"{units} {row.name}"


def _cap(row: GeckoCoin, now_ms: int) -> float | None:
    return None if FIGURES.judge(row.seen_ms, now_ms) is Freshness.GONE else row.market_cap


def streak_days(coin: CoinView) -> int | None:
    """Closed days for which the daily trend has lasted, its first day included; null where not known."""
    if coin.trend_daily is None or coin.trend_daily_since_ms is None or coin.through_ms is None:
        return None
    return (coin.through_ms - coin.trend_daily_since_ms) // DAY_MS + 1
