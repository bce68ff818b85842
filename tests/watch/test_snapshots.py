"""What the streams of states tell: what the desks know at that moment, and its age."""

import json

import msgspec
import pytest
from msgspec.structs import replace

from service.clock import DAY_MS, MINUTE_MS, iso
from service.sentiment.aggregation import CoinMood
from service.storage.database import Database
from service.watch.snapshots import prices_sample
from service.wire.streams import STREAMS, FundingState
from tests.fakes.clock import START_MS, FakeClock
from tests.market.gecko import coin
from tests.watch.streaming import CLOSE_MS, LONG, REST, Process, concluded, crossing

NO_CHANGE: dict[str, object] = {"change_24h": None, "changes_from": {}}
MOOD = CoinMood("neutral", "Neutral: nothing happens.", None, None, 0, None)


@pytest.mark.promise("watch.streams")
async def test_all_six_streams_tell(leader: Process) -> None:
    await leader.conclude(concluded(crossing(START_MS + 1)))
    await leader.feel(MOOD)
    await leader.turn("BTC", None, "hot", START_MS + 1)
    await leader.round()
    assert leader.follower.newest().keys() == set(STREAMS)


async def test_prices_are_those_of_all_coins_by_ticker_with_when_each_was_seen(leader: Process) -> None:
    await leader.clock.advance(5)
    await leader.quote({"kPEPE": 0.01, "BTC": 101.0, "ETH": None, "SOL": 5.0})
    await leader.sampler.round()
    seq, at_ms, as_of_ms, said = leader.seen("prices")
    assert (seq, at_ms, as_of_ms) == (2, START_MS + 5_000, START_MS)
    assert list(said["prices"].items()) == [
        ("BTC", {"price": 101.0, "ts": iso(START_MS + 5_000), **NO_CHANGE}),
        ("ETH", {"price": 10.0, "ts": iso(START_MS), **NO_CHANGE}),
        ("PEPE", {"price": 0.01, "ts": iso(START_MS + 5_000), **NO_CHANGE}),
        ("SOL", {"price": 5.0, "ts": iso(START_MS + 5_000), **NO_CHANGE}),
    ]


def test_a_price_comes_with_its_change_in_a_day_and_when_the_earlier_price_was_accepted() -> None:
    hour_ms, day_ms = START_MS - 3_600_000, START_MS - 86_400_000
    known = coin("BTC", price=110.0, price_ms=START_MS, change_24h=10.0, changes_from={"1h": hour_ms, "24h": day_ms})
    (state,) = prices_sample({"BTC": known}, START_MS)
    told = {"price": 110.0, "ts": iso(START_MS), "change_24h": 10.0, "changes_from": {"24h": iso(day_ms)}}
    assert json.loads(state.data) == {"prices": {"BTC": told}}


async def test_the_same_prices_are_the_same_bytes_in_whatever_order_they_are_known(leader: Process) -> None:
    view = leader.coins.view()
    backwards = dict(reversed(list(view.items())))
    assert list(backwards) != list(view)
    assert list(prices_sample(backwards, START_MS)) == list(prices_sample(view, START_MS))


async def test_while_nothing_changes_states_go_on_and_only_grow_older(leader: Process) -> None:
    await leader.conclude(concluded())
    await leader.feel(MOOD)
    await leader.round()
    before = {stream: leader.seen(stream) for stream in leader.follower.newest()}
    assert len(before) == 4
    await leader.round()
    for stream, (seq, at_ms, *rest) in before.items():
        assert leader.seen(stream) == (seq + 1, at_ms + 5_000, *rest)


async def test_a_dead_venue_is_told_of_until_nothing_of_it_may_be_said_and_its_age_grows_on(leader: Process) -> None:
    await leader.clock.advance(10 * 60)
    await leader.sampler.round()
    assert leader.seen("prices")[2:] == (START_MS, {"prices": {
        "BTC": {"price": 100.0, "ts": iso(START_MS), **NO_CHANGE},
        "ETH": {"price": 10.0, "ts": iso(START_MS), **NO_CHANGE},
    }})  # fmt: skip
    await leader.round()
    assert leader.seen("prices")[2:] == (START_MS, {"prices": {}})
    market = {"temperature": None, "avgApr": None, "positive": 0, "negative": 0, "total": 0}
    assert leader.seen("funding")[2:] == (START_MS, {"market": market, "movers": []})


async def test_funding_is_the_markets_and_who_moved_as_of_the_oldest_rate(leader: Process) -> None:
    await leader.pay("BTC", REST)
    await leader.clock.advance(60)
    await leader.quote({"BTC": 100.0, "ETH": 10.0}, dict.fromkeys(("BTC", "ETH"), 2 * REST))
    await leader.clock.advance(5)
    await leader.quote({"BTC": 100.0, "ETH": 10.0}, {"BTC": 2 * REST, "ETH": None})
    await leader.sampler.round()
    _, at_ms, as_of_ms, said = leader.seen("funding")
    assert (at_ms, as_of_ms) == (START_MS + 65_000, START_MS + 60_000)
    assert said == {
        "market": {"temperature": "warm", "avgApr": 21.9, "positive": 2, "negative": 0, "total": 2},
        "movers": [{"symbol": "BTC", "funding_apr": 21.9, "change_1h": 10.95}],
    }
    assert msgspec.convert(said, FundingState).market.total == 2


async def test_regime_is_a_bare_array_of_the_active_positions_at_the_live_price(leader: Process) -> None:
    short = replace(LONG, symbol="ETH", direction="short", conviction=0.5)
    await leader.conclude(concluded(positions=(LONG, short)))
    await leader.round()
    _, _, as_of_ms, said = leader.seen("regime")
    assert as_of_ms == CLOSE_MS
    assert said == [
        {**msgspec.to_builtins(LONG), "currentPrice": 100.0}, {**msgspec.to_builtins(short), "currentPrice": 10.0}
    ]  # fmt: skip
    await leader.conclude(concluded(positions=()))
    await leader.round()
    assert leader.seen("regime")[3] == []


async def test_regimes_that_are_too_old_to_be_told_are_told_no_more(leader: Process) -> None:
    await leader.conclude(concluded(through_ms=START_MS - 2 * DAY_MS + 4_000))
    await leader.sampler.round()
    await leader.round()
    assert leader.seen("regime")[0] == 1
    assert leader.seen("prices")[0] == 3


async def test_sentiment_is_the_mood_of_the_market(leader: Process) -> None:
    await leader.feel(CoinMood("euphoria", "Euphoria: up and up.", 0.5, None, 1, None), START_MS - MINUTE_MS)
    await leader.round()
    assert leader.seen("sentiment")[2:] == (
        START_MS - MINUTE_MS, {"stance": "euphoria", "score": 0.5, "summary": "Euphoria: up and up."}
    )  # fmt: skip


async def test_before_anything_is_known_nothing_is_told(database: Database, clock: FakeClock) -> None:
    process = Process(database, clock)
    await process.series.claim("one")
    await process.hear()
    await process.sampler.round()
    assert process.follower.newest() == {}
