"""A small market that tests recount for themselves: 24 coins, 420 closed days, 10 days of hours, and a coin table."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

from service.ask.answers import write
from service.ask.data_services import Tool, Toolbox
from service.ask.planner.data_reader import Data
from service.ask.planner.planner import Planner
from service.ask.planner.result import Result
from service.ask.query import Query
from service.ask.understanding import Understanding
from service.clock import DAY_MS, HOUR_MS, iso
from service.market.past_prices import PastPrice
from service.market.sources.coingecko import PastCap
from service.table.daily import CoinDays, DailyHistory, PastBar, PastVerdict
from service.table.history import FundingPayment, PastFunding
from service.wire.ask import Archetype
from service.wire.envelope import Answer
from service.wire.verdict import Label
from tests.fakes.clock import FakeClock
from tests.market.gecko import coin

NOW_MS = FakeClock().now_ms()
TODAY_MS = NOW_MS // DAY_MS * DAY_MS
DAYS = 420
COINS = (*(f"C{place:02}" for place in range(20)), "BTC", "ETH", "PEPE", "SOL")
NEW = "C00"
"""Listed 40 days ago."""

GRADES: tuple[Label, ...] = ("strong-bull", "bull", "neutral", "bear", "strong-bear")
CATEGORIES = {"Layer 1 (L1)": ["BTC", "ETH", "SOL", "C01", "C02"], "Meme": ["PEPE", "C03", "C04", "C01"]}


def _coin(symbol: str) -> CoinDays:
    random = Random(symbol)  # noqa: S311 - the same numbers in every run
    days = 40 if symbol == NEW else DAYS
    price, numbers = random.uniform(0.5, 900.0), []
    for _ in range(days):
        start, price = price, price * random.uniform(0.94, 1.065)
        high, low = max(start, price) * random.uniform(1, 1.02), min(start, price) * random.uniform(0.98, 1)
        numbers += [start, high, low, price, random.uniform(1e6, 1e9)]
    first = TODAY_MS // DAY_MS - days

    def codes(known: Sequence[int], length: int) -> "array[int]":
        found: list[int] = []
        while len(found) < days:
            found += [random.choice(known)] * random.randint(1, length)
        return array("b", found[:days])

    verdicts = codes((-1, 0, 1, 2, 3, 4), 6)
    return CoinDays(
        array("i", range(first, first + days)),
        array("d", numbers),
        codes((1, 0, -1), 12),
        codes((1, 0, -1, 2), 30),
        codes((1, 0, -1), 20),
        verdicts,
        array("b", [0 if code < 0 else (2 - code) * 4 + random.randint(0, 3) for code in verdicts]),
    )


class MemoryHistory:
    """The stored history in memory. `reads` counts the series that were read by the hour."""

    def __init__(self) -> None:
        self.coins = {symbol: _coin(symbol) for symbol in COINS}
        regimes = [1, 1, 0, -1] * (DAYS // 4)
        first = TODAY_MS // DAY_MS - DAYS
        self.days = DailyHistory(self.coins, frozenset(COINS), first, regimes, GRADES)
        self.recorded: dict[str, PastVerdict] = {}
        self.unknown_today: set[str] = set()
        self.caps: dict[str, list[PastCap]] = {}

    async def daily(self) -> DailyHistory:
        return self.days

    async def today(self, symbol: str) -> PastBar | None:
        if symbol in self.unknown_today:
            return None
        last = self.days.bars(symbol)[-1].close
        return PastBar(TODAY_MS, last, last * 1.03, last * 0.96, last * 1.01, 5e6, closed=False)

    async def hourly(self, symbol: str, since_ms: int) -> list[PastBar]:
        random, price, bars = Random(f"{symbol} by the hour"), self.days.bars(symbol)[-10].close, []  # noqa: S311
        for open_ms in range(TODAY_MS - 10 * DAY_MS, NOW_MS - HOUR_MS + 1, HOUR_MS):
            start, price = price, price * random.uniform(0.99, 1.01)
            bars.append(PastBar(open_ms, start, max(start, price), min(start, price), price, 1e5))
        return [bar for bar in bars if bar.open_ms >= since_ms]

    async def prices(self, symbols: Sequence[str], at_ms: int, *, is_distant: bool) -> dict[str, PastPrice]:
        oldest_ms = at_ms - (DAY_MS if is_distant else HOUR_MS)
        found = {}
        for symbol in self.coins.keys() & set(symbols):
            hours = [(bar.open_ms + HOUR_MS, bar.close) for bar in await self.hourly(symbol, oldest_ms - HOUR_MS)]
            days = [(bar.open_ms + DAY_MS, bar.close) for bar in self.days.bars(symbol)]
            bars = (*days, *hours) if at_ms % DAY_MS else (*hours, *days)  # both end at a midnight, with other closes
            ended = [(end_ms, close) for end_ms, close in bars if oldest_ms <= end_ms <= at_ms]
            if ended:
                end_ms = max(end_ms for end_ms, _ in ended)
                found[symbol] = PastPrice([close for at, close in ended if at == end_ms][-1], end_ms)
        return found

    async def funding(self, symbol: str, since_ms: int, until_ms: int) -> PastFunding:
        random = Random(f"{symbol} pays")  # noqa: S311
        paid = [
            FundingPayment(at_ms, round(random.uniform(-30, 60), 4), 1.0)
            for at_ms in range(TODAY_MS - 90 * DAY_MS, NOW_MS, HOUR_MS)
        ]
        within = [payment for payment in paid if since_ms < payment.paid_ms <= until_ms]
        return PastFunding(sum(one.apr for one in within) / len(within) if within else None, within)

    async def verdict(self, symbol: str, at_ms: int) -> PastVerdict | None:
        return self.recorded.get(symbol) or self.days.verdict(symbol, at_ms)

    async def market_caps(self, symbol: str, since_ms: int, until_ms: int) -> list[PastCap]:
        return [cap for cap in self.caps.get(symbol, []) if since_ms <= cap.at_ms < until_ms]


def row(symbol: str, **changed: Any) -> Any:
    """A row of the coin table; some values are not known."""
    random = Random(f"{symbol} now")  # noqa: S311

    def some(value: Any) -> Any:
        return None if random.random() < 0.12 else value

    facts = {
        "symbol": symbol,
        "name": symbol.title(),
        "rank": some(random.randint(1, 400)),
        "price": random.uniform(0.01, 5_000),
        "change_1h": some(random.uniform(-3, 3)),
        "change_24h": some(random.uniform(-12, 12)),
        "change_7d": some(random.uniform(-30, 30)),
        "change_30d": some(random.uniform(-50, 80)),
        "volume_24h_usd": some(random.uniform(1e5, 3e9)),
        "open_interest_usd": some(random.uniform(1e5, 3e9)),
        "market_cap": some(random.uniform(1e7, 2e12)),
        "funding_apr": some(random.uniform(-40, 80)),
        "trend_daily": some(random.choice(("UP", "HODL", "DOWN"))),
        "trend_weekly": some(random.choice(("UP", "HODL", "DOWN"))),
        "streak_days": some(random.randint(1, 60)),
        "regime": some(random.choice(("risk-on", "neutral", "risk-off"))),
        "verdict": some(random.choice(GRADES)),
        "score": some(round(random.uniform(-4, 4) * 4) / 4),
        "sentiment_stance": some(random.choice(("accumulation", "neutral", "capitulation"))),
        "btc_correlation": some(random.uniform(-1, 1)),
        "stale_fields": [],
    }
    return SimpleNamespace(**{**facts, **changed})


Tools = Mapping[str, Callable[[Any], Any]]


class World:
    """The market, its planner, and what a question to it is answered with."""

    def __init__(self, tools: Sequence[Tool] = (), /, **changed: Mapping[str, Any]) -> None:
        self.clock = FakeClock()
        self.history = MemoryHistory()
        self.table = {symbol: row(symbol, **changed.get(symbol, {})) for symbol in COINS}
        self.index: tuple[int, int] | None = (55, TODAY_MS)
        self.judged = {"verdict": "bull", "confidence": "medium", "as_of": iso(NOW_MS)}
        self.judgements: dict[str, dict[str, str]] = {}
        self.planner = Planner(
            Data(
                self.clock,
                self,
                self.history,
                Toolbox(tools),
                CATEGORIES.__getitem__,
                lambda: [*CATEGORIES],
                lambda: self.index,
                self.verdicts,
                lambda: {"PEPE": coin("kPEPE", None, None)},
            )
        )

    async def verdicts(self, symbols: Sequence[str]) -> Any:
        return {symbol: SimpleNamespace(**{**self.judged, **self.judgements.get(symbol, {})}) for symbol in symbols}

    def rows(self) -> Mapping[str, Any]:
        return self.table

    def as_of_ms(self, symbols: Sequence[str]) -> int | None:
        return NOW_MS - 60_000 if symbols else None

    async def ask(self, query: Query) -> Result:
        return await self.planner.run(query, None)

    async def say(self, *queries: Query, archetype: Archetype = "base") -> str:
        results = [await self.ask(query) for query in queries]
        return "\n\n".join(write(Understanding(queries=queries), results, archetype))


def tool(id_: str, query: type, answer: Callable[[Any], Any], as_of_ms: int | None = NOW_MS) -> Tool:
    """A tool that answers what a function makes of its arguments."""
    return Tool(id_, query, lambda args, _: Answer(answer(args), as_of_ms))
