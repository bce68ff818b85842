"""What the whole service asks of every upstream: never more than four fifths of what it allows in any minute.

Live, against a replay, by the budgets that are published. Every call is counted, as it is let go.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from service.market.ingest.quotes import QUOTES_EVERY_S
from service.market.plausibility.references import CHECK_EVERY_S
from service.market.sources.coingecko import REFRESH_S
from service.rwa.factory import QUOTES_EVERY_S as ASSETS_EVERY_S
from service.upstream.budget import SHARE, WeightBudget
from service.wiring.upstreams import PUBLISHED
from tests.fakes.clock import FakeClock
from tests.fakes.handful import COINS
from tests.service.indoors import Indoors, Kept, indoors, is_complete
from tests.upstream.faults import answer

pytestmark = pytest.mark.slow

ALL_COINS, ALL_CATEGORIES = 230, 700
"""What the venue lists, and what CoinGecko files it under, of the order of."""

STEADY = 20 * 60 * (1 / QUOTES_EVERY_S + 1 / ASSETS_EVERY_S) + 2 * 20 / 60
"""Weight a minute: quotes of both dexs, and the listing of assets once an hour."""

PER_COIN = 2 * 21 / 60
"""Its newest hourly bar and its newest payment, once an hour."""

GECKO_STEADY = 4 / (REFRESH_S / 60)
"""Two pages of coins, the list of categories and the totals of the market."""

BINANCE_STEADY = 2 * (40 + 10) * 60 / CHECK_EVERY_S
"""All tickers and all premiums, to compare prices of coins with, and once more those of real-world assets."""

Spent = Mapping[int, list[tuple[float, int]]]


class Progress(logging.Handler):
    """When, on the service's clock, the log said how far something is."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.seen_s: dict[str, list[float]] = defaultdict(list)

    def emit(self, record: logging.LogRecord) -> None:
        if "known" in record.__dict__:
            self.seen_s[record.getMessage()].append(self.clock.elapsed_s)


@pytest.fixture
def progress(caplog: pytest.LogCaptureFixture) -> Iterator[Progress]:
    caplog.set_level("INFO", "verdict.market")
    handler, log = Progress(), logging.getLogger("verdict.market")
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> Spent:
    """When (monotonic seconds) and how much each budget spent, by the budget's identity."""
    noted: dict[int, list[tuple[float, int]]] = defaultdict(list)
    spend = WeightBudget._spend

    def noting(budget: WeightBudget, weight: int) -> bool:
        enough = spend(budget, weight)
        if enough:
            noted[id(budget)].append((budget._clock.monotonic(), weight))
        return enough

    monkeypatch.setattr(WeightBudget, "_spend", noting)
    return noted


def by_upstream(house: Indoors, spent: Spent) -> dict[str, list[tuple[float, int]]]:
    return {name: spent.get(id(session._weight), []) for name, session in house.sessions.items()}


def heaviest_minute(calls: list[tuple[float, int]]) -> int:
    return max((sum(w for at_s, w in calls if since <= at_s < since + 60) for since, _ in calls), default=0)


async def test_in_an_hour_like_any_other_every_upstream_is_asked_less_than_it_allows(
    kept: Kept, tmp_path: Path, spent: Spent
) -> None:
    async with kept.reopened(tmp_path / "data", weights=PUBLISHED) as house:
        await house.pass_time(3_600, 7.5)
        told = by_upstream(house, spent)
    assert {name for name, calls in told.items() if heaviest_minute(calls) > PUBLISHED[name] * SHARE} == set()
    minutes = {name: sum(weight for _, weight in calls) / 60 for name, calls in told.items()}
    # As counted: 122 of 1,200 with seven coins, 0.8 of 5 at CoinGecko.
    expected = STEADY + PER_COIN * len(COINS)
    assert 0.8 * expected < minutes["hyperliquid"] < 1.05 * expected, "fewer where a step's answers came in the next"
    assert minutes["binance"] == pytest.approx(BINANCE_STEADY, abs=2), "once a minute, to compare"
    assert minutes["coingecko"] == pytest.approx(GECKO_STEADY, abs=0.1)
    assert minutes["alternative"] <= 2 / 60
    assert minutes["coindesk"] == minutes["cointelegraph"] <= 7 / 60


def test_of_all_that_is_listed_an_hour_takes_a_quarter_of_what_is_allowed() -> None:
    # By arithmetic from the costs that the hour above has confirmed; `tests/market/test_weights.py` runs it.
    assert PUBLISHED["hyperliquid"] / 4 > STEADY + PER_COIN * ALL_COINS
    daily = (ALL_CATEGORIES + 2 * ALL_COINS) / (24 * 60)
    assert GECKO_STEADY + daily < PUBLISHED["coingecko"] / 3


async def test_while_the_first_venue_fails_the_other_is_asked_less_than_it_allows(
    kept: Kept, tmp_path: Path, spent: Spent
) -> None:
    async with kept.reopened(tmp_path / "data", weights=PUBLISHED) as house:
        await house.lose("hyperliquid", "feed", fault=answer(503))
        await house.pass_time(600, 7.5)
        told = by_upstream(house, spent)
    assert {name for name, calls in told.items() if heaviest_minute(calls) > PUBLISHED[name] * SHARE} == set()
    assert 0 < heaviest_minute(told["binance"]) < PUBLISHED["binance"] / 4


async def test_a_live_service_tells_prices_at_once_and_its_history_fills_while_it_answers(
    kept: Kept, tmp_path: Path, spent: Spent, progress: Progress
) -> None:
    clock = progress.clock
    async with indoors(tmp_path, clock, fixtures_dir=kept.fixtures_dir, source="live") as house:
        key = await house.make_key("pro")
        await house.be_ready()
        assert clock.elapsed_s <= 15
        assert b"metaAndAssetCtxs" in house.doors.requests[0], "prices are asked for before anything else"
        known = []
        while not is_complete(said := await house.readiness()):
            known.append(said["market"]["history"]["known"] + said["market"]["funding"]["known"])
            await house.pass_time(6, 2)
            reply = await house.ask(key=key)
            assert (reply.status, reply.json["meta"]["data_age_seconds"] <= 30) == (200, True)
        told = by_upstream(house, spent)
    assert {name for name, calls in told.items() if heaviest_minute(calls) > PUBLISHED[name] * SHARE} == set()
    assert len(set(known)) > 2, "how far it is is told while it fills"
    assert known == sorted(known)
    assert clock.elapsed_s < 15 * 60, "seven coins, three categories: CoinGecko's few calls a minute take the longest"
    for lines in progress.seen_s.values():
        assert all(later - earlier >= 60 for earlier, later in pairwise(lines)), "a line a minute at most"
    assert progress.seen_s.keys() >= {"daily history"}
