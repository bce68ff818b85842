"""The track record over months of hours is what a slow count of the same files says, and its chain can be recomputed.

Verdicts are issued every night on real coins (and on the bundled ones), scored as the hours go by, and counted here
once more from the files: no figure of the service is used but those that are compared.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.models import Bar
from service.storage.database import Database
from service.storage.documents import DocumentStore
from service.verdict.ledger import Ledger
from service.verdict.outcomes import OutcomeScorer
from service.verdict.ruleset import VERSION_1, VERSION_2
from service.verdict.scorecard import BACKTEST, SCORECARD, Scorecard, Scorecards
from service.wire.verdict import CoinVerdict, HorizonRecord, Label
from tests.fakes.clock import FakeClock
from tests.market.recordings import needs_recordings
from tests.verdict.issuing import ORIGIN, Hours, judged
from tests.verdict.jcs import write
from tests.walkforward.reference_bars import BUNDLED, RECORDED, files
from tests.walkforward.reference_bars import Bar as Hour

COINS = ("BTC", "DOGE", "ETH", "SOL", "XRP")
FLAT_PCT = {1: 2.0, 3: 3.5, 7: 5.0}
LABELS: tuple[Label, ...] = ("strong-bear", "bear", "neutral", "bull", "strong-bull")


class Scored(NamedTuple):
    """A verdict and how it turned out, counted here: the move in percent, none where no hour tells it."""

    symbol: str
    issued_ms: int
    verdict: CoinVerdict
    days: int
    move: float | None


MARKETS = [
    pytest.param(BUNDLED, id="bundled"),
    pytest.param(RECORDED, id="recorded", marks=[pytest.mark.recorded, needs_recordings]),
]


class Market:
    """Hourly bars of some coins; one has a gap that leaves outcomes unknown, and one after which they are told late."""

    def __init__(self, folder: Path) -> None:
        self.bars: dict[str, dict[int, Hour]] = {}
        for coin, rows in files(folder / "candles-1h"):
            if coin in COINS:
                self.bars[coin] = {row["t"] // HOUR_MS: Hour(*(float(row[field]) for field in "ohlcv")) for row in rows}
        hours = sorted(self.bars["BTC"])
        self.first_day, self.last_hour = -(-hours[0] // 24) + 2, hours[-1]
        unknown, late = ((self.first_day + day) * 24 for day in (30, 45))
        missing = {*range(unknown - 6, unknown + 9), *range(late - 2, late + 6)}
        self.bars["SOL"] = {hour: bar for hour, bar in self.bars["SOL"].items() if hour not in missing}

    def last_price(self, coin: str, at_ms: int) -> float:
        return next(
            self.bars[coin][hour].close for hour in range(at_ms // HOUR_MS - 1, 0, -1) if hour in self.bars[coin]
        )

    def move(self, coin: str, entry: float, due_ms: int) -> float | None:
        """By how much the price had moved when an hour first opened at or after an instant, six hours later at most."""
        for hour in range(-(-due_ms // HOUR_MS), (due_ms + 6 * HOUR_MS) // HOUR_MS + 1):
            if hour in self.bars[coin]:
                return round((self.bars[coin][hour].open / entry - 1) * 100, 4)
        return None

    def nights(self) -> Iterator[tuple[int, int]]:
        """Each day, and when its verdicts are issued: half an hour after midnight."""
        for day in range(self.first_day, self.last_hour // 24 + 1):
            yield day, day * DAY_MS + 30 * MINUTE_MS


def verdict_of(market: Market, coin: str, at_ms: int) -> CoinVerdict:
    """Whatever follows the last day's move: it matters only that there are verdicts of every class.

    Those of DOGE are of version 1 of the rules, which are another record.
    """
    price, rules = market.last_price(coin, at_ms), VERSION_1 if coin == "DOGE" else VERSION_2
    moved = (price / market.last_price(coin, at_ms - DAY_MS) - 1) * 100
    return judged(coin, price, LABELS[sum(moved > bound for bound in (-4, -1.5, 1.5, 4))], moved / 10, rules)


@pytest.mark.slow
@pytest.mark.parametrize("folder", MARKETS)
async def test_the_track_record_is_a_count_of_what_the_hours_say(
    folder: Path, database: Database, clock: FakeClock
) -> None:
    market = Market(folder)
    issued, scorecards, ledger = await _lived_through(market, database, clock)
    now_ms = (market.last_hour + 1) * HOUR_MS
    scored = [
        Scored(verdict.symbol, at_ms, verdict, days, market.move(verdict.symbol, price, at_ms + days * DAY_MS))
        for verdict, price, at_ms in issued
        for days in FLAT_PCT
        if at_ms + days * DAY_MS < now_ms - HOUR_MS
    ]
    assert sum(one.move is None for one in scored) in range(1, 10)
    written = await database.read(
        "SELECT symbol, issued_ms, days, move_pct FROM verdict_outcomes JOIN verdict_ledger USING (seq)"
    )
    assert {tuple(row) for row in written} == {(one.symbol, one.issued_ms, one.days, one.move) for one in scored}
    assert len(written) == len(scored)

    told = 0
    for label in LABELS:
        for symbol in COINS:
            record = scorecards.track(judged(symbol, 1.0, label), await ledger.head())
            everything = [one for one in scored if one.move is not None and one.verdict.ruleset.version == 2]
            for horizon in record.live.all_coins:
                told += _is_counted(horizon, label, everything)
            for horizon in record.live.this_coin:
                told += _is_counted(horizon, label, [one for one in everything if one.symbol == symbol])
            assert record.entries == len(issued)
    assert told >= 15


async def _lived_through(
    market: Market, database: Database, clock: FakeClock
) -> tuple[list[tuple[CoinVerdict, float, int]], Scorecards, Ledger]:
    """Every night's verdicts, scored once a week and at the end; what was issued, at which price and when."""
    store, ledger, shelf = Hours(database), Ledger(database), DocumentStore(database)
    drawer = shelf.document(SCORECARD, Scorecard)
    scorecards = Scorecards(drawer, shelf.document(BACKTEST, Scorecard), lambda: ORIGIN)
    scoring = OutcomeScorer(clock, database, store.store, drawer, lambda: ORIGIN)
    await store.list_coins(*COINS)
    for coin, bars in market.bars.items():
        rows = [Bar(hour * HOUR_MS, *bar, trades=1) for hour, bar in bars.items()]
        await store.store.put_bars(ORIGIN, coin, rows, 2**52, interval="1h")
    issued = []
    for day, at_ms in market.nights():
        verdicts = [verdict_of(market, coin, at_ms) for coin in COINS]
        assert await ledger.issue_day(ORIGIN, day - 1, verdicts, at_ms)
        issued += [(verdict, market.last_price(verdict.symbol, at_ms), at_ms) for verdict in verdicts]
        if day % 7 == 0:
            clock.set_wall(at_ms + 45 * MINUTE_MS)
            await scoring.round()
    clock.set_wall((market.last_hour + 1) * HOUR_MS)
    await scoring.round()
    return issued, scorecards, ledger


def _is_counted(told: HorizonRecord, label: Label, pool: list[Scored]) -> bool:
    """Hold a record to a count of the pool it is about; whether there was enough to be told."""
    of_horizon = [one for one in pool if one.days == told.days]
    own = [one for one in of_horizon if one.verdict.verdict == label]
    assert told.outcomes == len(own)
    days = {one.issued_ms // DAY_MS for one in own}
    assert told.days_seen == len(days)
    if len(days) < 60:
        assert (told.hit_rate, told.hit_rate_low, told.hit_rate_high, told.base_rate, told.mean_move_pct) == (None,) * 5
        return False
    assert told.hit_rate == pytest.approx(fmean(_came_true(one, label) for one in own), abs=0.000051)
    assert told.base_rate == pytest.approx(fmean(_came_true(one, label) for one in of_horizon), abs=0.000051)
    assert told.mean_move_pct == pytest.approx(fmean(one.move or 0.0 for one in own), abs=0.000051)
    assert told.hit_rate is not None
    assert told.hit_rate_low is not None
    assert told.hit_rate_high is not None
    assert told.hit_rate_low < told.hit_rate < told.hit_rate_high
    return True


def _came_true(one: Scored, label: Label) -> bool:
    assert one.move is not None
    if "bull" in label:
        return one.move > 0
    return one.move < 0 if "bear" in label else abs(one.move) <= FLAT_PCT[one.days]


@pytest.mark.slow
async def test_anybody_can_recompute_the_chain_from_the_rows(database: Database, clock: FakeClock) -> None:
    market = Market(BUNDLED)
    issued, _, ledger = await _lived_through(market, database, clock)
    columns = (
        "seq, kind, day, origin, symbol, issued_ms, verdict_id, verdict, score, confidence, probability_up, price, body"
    )
    rows = await database.read(f"SELECT {columns}, previous, hash FROM verdict_ledger ORDER BY seq")  # noqa: S608 - constant
    assert len(rows) == len(issued)
    before = "0" * 64
    for (*cells, previous, digest), (verdict, price, at_ms) in zip(rows, issued, strict=True):
        entry = dict(zip(columns.split(", "), cells, strict=True))
        body = zlib.decompress(entry["body"])
        assert json.loads(body)["verdict_id"] == entry["verdict_id"] == verdict.verdict_id
        assert (entry["symbol"], entry["price"], entry["issued_ms"]) == (verdict.symbol, price, at_ms)
        entry["body"] = hashlib.sha256(body).hexdigest()
        assert previous == before
        before = hashlib.sha256(previous.encode() + write(entry)).hexdigest()
        assert digest == before
    assert (await ledger.head()).hash == before
