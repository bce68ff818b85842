"""What a diff tells: what differs from the state that the reader knows, and nothing where nothing does."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from service.watch.changes import STREAM_SHAPES, changed_funding, changed_prices, changed_regime, whole_state
from service.wire.streams import STREAMS
from tests.watch.streaming import LONG, aged

TICKERS = st.dictionaries(st.sampled_from("ABCDE"), st.tuples(st.floats(0.1, 9), st.integers(0, 9)), max_size=5)


def prices(shown: dict[str, tuple[float, int]]) -> bytes:
    told = {symbol: {"price": price, "ts": f"2025-01-01T00:00:0{at}.000Z"} for symbol, (price, at) in shown.items()}
    return json.dumps({"prices": told}).encode()


@given(TICKERS, TICKERS)
def test_a_reader_who_applies_the_changes_of_prices_knows_every_price(
    old: dict[str, tuple[float, int]], new: dict[str, tuple[float, int]]
) -> None:
    told = changed_prices(prices(old), prices(new))
    known = {symbol: price for symbol, (price, _) in old.items()}
    changed: dict[str, Any] = {} if told is None else json.loads(told)["prices"]
    assert told is None or changed
    for symbol, tick in changed.items():
        assert (None if tick is None else tick["price"]) != known.pop(symbol, None)
        if tick is not None:
            known[symbol] = tick["price"]
    assert known == {symbol: price for symbol, (price, _) in new.items()}


def test_a_price_that_was_seen_again_is_no_change() -> None:
    assert changed_prices(prices({"A": (1.5, 0)}), prices({"A": (1.5, 5)})) is None


def test_a_price_that_changed_is_told_with_when_it_was_seen_and_one_that_is_gone_is_null() -> None:
    told = changed_prices(prices({"A": (1.5, 0), "B": (2.0, 0), "C": (3.0, 0)}), prices({"A": (1.5, 5), "B": (2.5, 5)}))
    assert told is not None
    tick = {"price": 2.5, "ts": "2025-01-01T00:00:05.000Z", "change_24h": None, "changes_from": {}}
    assert json.loads(told) == {"prices": {"B": tick, "C": None}}


def funding(mean: float, **movers: float) -> bytes:
    market = {"temperature": "warm", "avgApr": mean, "positive": 2, "negative": 0, "total": 2}
    rows = [{"symbol": name, "funding_apr": 12.0, "change_1h": change} for name, change in movers.items()]
    return json.dumps({"market": market, "movers": rows}).encode()


def test_a_change_of_funding_holds_the_market_and_the_movers_that_differ() -> None:
    assert changed_funding(funding(11, BTC=3), funding(11.0, BTC=3.0)) is None
    told = changed_funding(funding(11, BTC=3, ETH=2), funding(12, BTC=3, ETH=1, SOL=1))
    assert told is not None
    said = json.loads(told)
    assert said["market"]["avgApr"] == 12
    assert [(mover["symbol"], mover["change_1h"]) for mover in said["movers"]] == [("ETH", 1.0), ("SOL", 1.0)]


def test_positions_are_told_again_all_of_them_when_more_than_time_and_price_has_passed() -> None:
    other = msgspec.structs.replace(LONG, symbol="ETH")
    old = msgspec.json.encode([LONG, other])
    later = [aged(msgspec.structs.replace(each, currentPrice=95.0), 1) for each in (LONG, other)]
    assert changed_regime(old, msgspec.json.encode(later)) is None
    for news in (
        [LONG],
        [LONG, other, other],
        [other, LONG],
        [LONG, msgspec.structs.replace(other, conviction=0.1)],
        [],
    ):
        assert changed_regime(old, msgspec.json.encode(news)) == msgspec.json.encode(news)


def test_every_stream_has_a_shape_and_only_what_happens_is_no_snapshot() -> None:
    assert tuple(shape.name for shape in STREAM_SHAPES) == STREAMS
    assert {shape.name for shape in STREAM_SHAPES if not shape.snapshot} == {"alerts", "crossings"}
    assert {shape.name for shape in STREAM_SHAPES if shape.changes is whole_state} == {
        "sentiment",
        "alerts",
        "crossings",
    }
    assert whole_state(b"old", b"new") == b"new"
