"""Pages of one topic each, as tables: walk-forward, funding, categories, wallets, shows."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from html import unescape
from statistics import fmean
from typing import Final, NamedTuple

from service import formats
from service.pages.coins import coin_lists, is_stale, signed
from service.pages.dependencies import PageDependencies
from service.pages.rendering import HtmlPage, PageView
from service.pages.snapshot import MOST_COINS
from service.pages.wording import FILTERS, UNKNOWN
from service.wire.coins import CoinRow, Coins
from service.wire.market import FundingAlerts
from service.wire.transcripts import Highlights, TranscriptSources
from service.wire.walkforward import WalkforwardOutcome, WalkforwardOutcomes
from service.wire.wallets import Watchlist

KEPT_S: Final = 15.0
ALERTS: Final = 60
PASSAGES: Final = 40
WALLETS: Final = 100
MOST_OUTCOMES: Final = 100_000
_FEWEST: Final = 2
"""Coins of a category, at least: one coin is no category."""


class TopicCell(NamedTuple):
    """Text, its style class (`num` for numbers), the page that it leads to, and whether it is stale."""

    text: str
    style: str = ""
    path: str = ""
    stale: bool = False


class TopicTable(NamedTuple):
    """A table: its title, a sentence about it, its head, its rows, and its time where it shows the present."""

    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[TopicCell]]
    as_of_ms: int | None = None


class TopicContent(NamedTuple):
    """A page: its title, one sentence that says what it shows, and its tables."""

    title: str
    about: str
    tables: Sequence[TopicTable]


class TopicPages:
    """Shows the pages.

    Args:
        dependencies: What they read.
    """

    def __init__(self, dependencies: PageDependencies) -> None:
        self._dependencies = dependencies
        makers: Mapping[str, Callable[[], Awaitable[TopicContent]]] = {
            "/funding": self._funding,
            "/categories": self._categories,
            "/walk-forward": self._walk_forward,
            "/wallets": self._wallets,
            "/shows": self._shows,
        }
        self.views: Mapping[str, PageView] = {path: self._view(path, make) for path, make in makers.items()}

    def _view(self, path: str, make: Callable[[], Awaitable[TopicContent]]) -> PageView:
        async def render() -> HtmlPage:
            topic, now_ms = await make(), self._dependencies.clock.now_ms()
            return self._dependencies.templates.page("topic.html", topic=topic, path=path, now_ms=now_ms)

        async def show(_segment: str, _query: Mapping[str, str]) -> HtmlPage:
            return await self._dependencies.cache.page(path, render, KEPT_S)

        return show

    async def _funding(self) -> TopicContent:
        ask = self._dependencies.routes.ask
        found = await ask("coins", Coins, limit=MOST_COINS)
        lists = coin_lists(found.data.coins, None)
        events = (await ask("funding.alerts", FundingAlerts, limit=ALERTS)).data.events
        rates = [
            (
                _coin(row.coin.symbol),
                _rate(row.coin.funding_apr, is_stale(row.coin, "funding_apr")),
                _money([row.coin], "open_interest_usd"),
            )
            for row in lists.tiles
        ]
        alerts = [
            (
                _coin(event.asset),
                TopicCell(event.triggerZone, f"zone {event.triggerZone}"),
                _rate(event.fundingAtTrigger),
                TopicCell(formats.short_moment(event.firedAt)),
                TopicCell("still on" if event.clearedAt is None else formats.short_moment(event.clearedAt)),
            )
            for event in events
        ]
        mean = _rate(lists.mean_apr).text
        about = f"Longs pay on {lists.paying} coins, shorts on {lists.receiving}; the mean is {mean} a year."
        return TopicContent(
            "Funding",
            about,
            [
                TopicTable(
                    "Rates now",
                    "% a year; longs pay above 0",
                    ("Coin", "Funding", "Open interest"),
                    rates,
                    found.as_of_ms,
                ),
                TopicTable("Alerts", "UTC, newest first", ("Coin", "Zone", "Funding", "Began", "Ended"), alerts),
            ],
        )

    async def _categories(self) -> TopicContent:
        table = await self._dependencies.routes.ask("coins", Coins, limit=MOST_COINS)
        members: dict[str, list[CoinRow]] = defaultdict(list)
        for coin in table.data.coins:
            for name in coin.categories or ():
                members[name].append(coin)
        named = sorted(
            members.items(), key=lambda each: (-sum(coin.volume_24h_usd or 0.0 for coin in each[1]), each[0])
        )
        rows = [_category(name, found) for name, found in named if len(found) >= _FEWEST]
        head = ("Category", "Coins", "In an uptrend", "24 h, mean", "7 d, mean", "Volume", "Most traded")
        return TopicContent(
            "Categories",
            "Categories of CoinGecko over the coins that are listed here.",
            [TopicTable("All categories", "the most traded first", head, rows, table.as_of_ms)],
        )

    async def _walk_forward(self) -> TopicContent:
        record = await self._dependencies.routes.ask(
            "walkforward", WalkforwardOutcomes, action="outcomes", limit=MOST_OUTCOMES
        )
        summary = record.data.summary
        if summary is None:
            return TopicContent("Walk-forward", record.data.meta.message or "No run has been recorded yet.", [])
        strategies = [
            (
                TopicCell(formats.label(one.strategy)),
                TopicCell("published" if one.published else f"refused: {one.refused}", "" if one.published else "loss"),
                TopicCell(f"{one.total:,}", "num"),
                TopicCell(FILTERS["share"](one.winRate), "num"),
                _change(one.returnPct if one.published else None),
                TopicCell(FILTERS["number"](one.sharpe), "num"),
                TopicCell(FILTERS["share"](one.deflatedSharpe), "num"),
                TopicCell(FILTERS["percent"](one.maxDrawdownPct if one.published else None), "num"),
            )
            for one in summary.strategies
        ]
        held = summary.buyAndHold
        hold = f"holding the same {summary.coins} coins brought {FILTERS['change'](held.returnPct)}"
        about = (
            f"Strategies on days that did not choose their parameters, {summary.firstDay} to {summary.lastDay}; {hold}."
        )
        return TopicContent(
            "Walk-forward",
            about,
            [
                TopicTable(
                    "Strategies and the leakage gate",
                    "after fees, slippage and funding",
                    ("Strategy", "Gate", "Trades", "Won", "Return", "Sharpe", "Deflated", "Drawdown"),
                    strategies,
                ),
                TopicTable(
                    "Folds",
                    "by decision",
                    ("Fold", "First entry", "Last exit", "Trades", "Won", "Mean"),
                    _folds(record.data.outcomes),
                ),
            ],
        )

    async def _wallets(self) -> TopicContent:
        found = (await self._dependencies.routes.ask("wallets", Watchlist, action="watchlist", limit=WALLETS)).data
        rows = [
            (
                TopicCell(wallet.label or UNKNOWN),
                TopicCell(wallet.kind or UNKNOWN),
                TopicCell(wallet.address, "mono"),
                TopicCell(f"{sum(token.movements for token in wallet.tokens):,}", "num"),
                TopicCell(", ".join(token.symbol or UNKNOWN for token in wallet.tokens[:6])),
            )
            for wallet in found.watchlist
        ]
        count = formats.count(found.meta.total, "wallet")
        note = count if len(rows) == found.meta.total else f"{len(rows)} of {count}"
        head = ("Wallet", "Kind", "Address", "Movements", "Tokens")
        return TopicContent(
            "Wallets",
            "Wallets that are watched on one chain. A token's symbol proves nothing: its contract does.",
            [TopicTable("Watched wallets", note, head, rows)],
        )

    async def _shows(self) -> TopicContent:
        ask = self._dependencies.routes.ask
        said = (await ask("transcripts", Highlights, limit=PASSAGES)).data
        sources = (await ask("transcripts", TranscriptSources, action="sources")).data.sources
        passages = [
            (
                TopicCell(formats.day(passage.publishedAt)),
                TopicCell(unescape(passage.title)),
                TopicCell(unescape(passage.quote), "spoken"),
                TopicCell(passage.stance),
                TopicCell(", ".join(passage.coins)),
            )
            for passage in said.highlights
        ]
        shows = [
            (
                TopicCell(source.name),
                TopicCell(source.kind),
                TopicCell(f"{source.episodes:,}", "num"),
                TopicCell(UNKNOWN if source.lastEpisodeAt is None else formats.day(source.lastEpisodeAt)),
                TopicCell(source.status),
            )
            for source in sources
        ]
        return TopicContent(
            "Shows",
            "What podcasts and videos say of coins, in the words that were spoken.",
            [
                TopicTable(
                    "Passages", "the newest episode first", ("Day", "Episode", "Said", "Sounds", "Coins"), passages
                ),
                TopicTable("Shows that are read", "", ("Show", "Kind", "Episodes", "Newest", "Status"), shows),
            ],
        )


def _category(name: str, coins: Sequence[CoinRow]) -> Sequence[TopicCell]:
    most = sorted(coins, key=lambda coin: (-(coin.volume_24h_usd or 0.0), coin.symbol))
    trends = [coin.trend_daily for coin in coins if coin.trend_daily is not None]
    return (
        TopicCell(name),
        TopicCell(str(len(coins)), "num"),
        TopicCell(f"{trends.count('UP')} of {len(trends)}", "num", stale=_any_stale(coins, "trend_daily")),
        _mean_change(coins, "change_24h"),
        _mean_change(coins, "change_7d"),
        _money(coins, "volume_24h_usd"),
        TopicCell(", ".join(coin.symbol for coin in most[:5])),
    )


def _folds(outcomes: Sequence[WalkforwardOutcome]) -> Sequence[Sequence[TopicCell]]:
    folds: dict[int, list[WalkforwardOutcome]] = defaultdict(list)
    for outcome in outcomes:
        folds[outcome.fold].append(outcome)
    return [
        (
            TopicCell(str(fold)),
            TopicCell(min(outcome.entryDate for outcome in found)),
            TopicCell(max(outcome.exitDate for outcome in found)),
            TopicCell(f"{len(found):,}", "num"),
            TopicCell(FILTERS["share"](sum(outcome.returnPct > 0 for outcome in found) / len(found)), "num"),
            _change(fmean(outcome.returnPct for outcome in found)),
        )
        for fold, found in sorted(folds.items())
    ]


def _known(coins: Sequence[CoinRow], field: str) -> Sequence[float]:
    return [value for coin in coins if (value := getattr(coin, field)) is not None]


def _any_stale(coins: Sequence[CoinRow], field: str) -> bool:
    return any(is_stale(coin, field) for coin in coins)


def _mean_change(coins: Sequence[CoinRow], field: str) -> TopicCell:
    known = _known(coins, field)
    return _change(fmean(known) if known else None, _any_stale(coins, field))


def _money(coins: Sequence[CoinRow], field: str) -> TopicCell:
    """The sum over the coins of which the amount is known."""
    known = _known(coins, field)
    return TopicCell(FILTERS["money"](sum(known) if known else None), "num", stale=_any_stale(coins, field))


def _coin(symbol: str) -> TopicCell:
    return TopicCell(symbol, path=f"/coin/{FILTERS['in_path'](symbol)}")


def _rate(apr: float | None, stale: bool = False) -> TopicCell:
    return TopicCell(FILTERS["rate"](apr), "num", stale=stale)


def _change(percent: float | None, stale: bool = False) -> TopicCell:
    return TopicCell(FILTERS["change"](percent), f"num {signed(percent)}", stale=stale)
