"""What is said of regimes: four actions, live prices, and what is said where there is nothing to say."""

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from service.analytics.costs import standard
from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, iso, parse_iso
from service.errors import ServiceError
from service.market.symbols import CoinDirectory, CoinListing, canonical
from service.storage.database import Database, open_database
from service.storage.engine import Connection
from service.wire.queries import RegimeAction
from service.wire.regime import (
    ActiveRegime,
    RegimeConfidence,
    RegimeHistory,
    RegimeMeta,
    RegimeSignals,
    RegimeSummary,
)
from tests.fakes.clock import FakeClock
from tests.market.concluding import Leader, read, wave

TODAY = 20_300
CLOSE_MS = (TODAY + 1) * DAY_MS
COINS = ("BTC", "ETH", "SOL", "XRP", "kPEPE", "ADA", "DOT")
PRICE = 123.5


@pytest.fixture
async def leader(database: Database, clock: FakeClock) -> Leader:
    made = Leader(database, clock)
    made.at(TODAY, 3_600)
    await made.store.claim("test")
    await made.list_coins(*COINS, "GONE")
    await made.list_coins(*COINS, "BARE", price=PRICE)
    for place, coin in enumerate(COINS):
        await made.give(coin, wave(range(TODAY - 399, TODAY + 1), 13.0 + place / 4, place / 9, 0.001))
    await made.give("GONE", wave(range(TODAY - 399, TODAY - 40), 13.0))
    return made


@pytest.fixture
async def told(leader: Leader) -> Leader:
    await leader.round(asked=True)
    return leader


def opens(coin: str) -> dict[str, float]:
    place = COINS.index(coin)
    return {iso(row[0])[:10]: row[1] for row in wave(range(TODAY - 399, TODAY + 1), 13.0 + place / 4, place / 9, 0.001)}


@pytest.mark.promise("regime.active", "regime.as-of", "regime.actions")
async def test_active_is_the_markets_regime_and_the_open_positions_the_surest_first(told: Leader) -> None:
    answer = told.regimes.regime("active", None)
    active = read(answer, ActiveRegime)
    assert answer.as_of_ms == CLOSE_MS
    assert active.market == told.told.regime
    assert active.meta == RegimeMeta(len(COINS), iso(CLOSE_MS), "regime-rules/1")
    assert active.positions
    convictions = [position.conviction for position in active.positions]
    assert convictions == sorted(convictions, reverse=True)
    for position in active.positions:
        coin = "kPEPE" if position.symbol == "PEPE" else position.symbol
        assert position.currentPrice == PRICE
        assert position.entryPrice == opens(coin)[position.entryDate]
        assert position.regime == {"long": "risk-on", "short": "risk-off"}[position.direction]
        assert position.holdDays == 400 - list(opens(coin)).index(position.entryDate)


async def test_prices_are_the_presents_and_null_once_they_are_too_old_while_the_rest_stays(told: Leader) -> None:
    fresh = told.regimes.regime("active", None)
    assert told.regimes.regime("active", None) is fresh
    told.clock.set_wall(told.clock.now_ms() + 10 * SECOND_MS)
    await told.list_coins(*COINS, price=2.5)
    await told.follow()
    moved = told.regimes.regime("active", None)
    assert {position.currentPrice for position in read(moved, ActiveRegime).positions} == {2.5}
    assert moved.as_of_ms == fresh.as_of_ms == CLOSE_MS
    told.clock.set_wall(told.clock.now_ms() + 10 * MINUTE_MS + 1)
    old = read(told.regimes.regime("active", None), ActiveRegime)
    assert {position.currentPrice for position in old.positions} == {None}
    assert [replace(one, currentPrice=None) for one in read(moved, ActiveRegime).positions] == old.positions


async def test_a_coin_that_is_not_quoted_any_more_has_no_price(told: Leader) -> None:
    held = read(told.regimes.regime("active", None), ActiveRegime).positions[0]
    await told.list_coins(*(coin for coin in COINS if canonical(coin) != held.symbol), price=PRICE)
    await told.follow()
    assert read(told.regimes.regime("active", None), ActiveRegime).positions[0] == replace(held, currentPrice=None)


@pytest.mark.promise("regime.signals", "regime.as-of")
async def test_signals_are_the_turns_of_the_last_thirty_days_newest_first(told: Leader) -> None:
    answer = told.regimes.regime("signals", None)
    signals = read(answer, RegimeSignals).signals
    fired = [signal.firedAt for signal in signals]
    assert answer.as_of_ms == CLOSE_MS
    assert signals
    assert fired == sorted(fired, reverse=True)
    assert all(iso(CLOSE_MS - 29 * DAY_MS) <= at <= iso(CLOSE_MS) for at in fired)
    entries = {
        (position.symbol, position.entryDate): position.direction
        for position in read(told.regimes.regime("active", None), ActiveRegime).positions
    }
    for signal in signals:
        assert signal.direction == {"risk-on": "long", "risk-off": "short"}.get(signal.regime)
        bar = signal.firedAt[:10]
        assert entries.get((signal.symbol, bar), signal.direction) == signal.direction


async def test_the_reasons_of_a_signal_are_sentences_with_their_figures(told: Leader) -> None:
    signals = read(told.regimes.regime("signals", None), RegimeSignals).signals
    assert signals
    for signal in signals:
        trend, streak, market, distance, conclusion = signal.reasons
        assert trend.startswith(f"{signal.symbol}'s daily trend against USD")
        assert trend.endswith((" is UP.", " is DOWN.", " is HODL."))
        assert signal.symbol not in trend.split("against")[1]
        assert int(streak.removeprefix("It has been so for ").split()[0]) >= 1
        assert market.removeprefix("The market's regime is ").rstrip(".") in {"risk-on", "neutral", "risk-off"}
        assert float(distance.removeprefix("Its close is ").split()[0]) >= 0
        assert conclusion == f"So {signal.symbol}'s regime turned {signal.regime}."


@pytest.mark.promise("regime.confidence", "regime.as-of")
async def test_confidence_lists_every_coin_and_says_what_a_confidence_is(told: Leader) -> None:
    answer = told.regimes.regime("confidence", None)
    confidence = read(answer, RegimeConfidence)
    assert answer.as_of_ms == CLOSE_MS
    assert (confidence.source, confidence.generated) == ("regime-rules/1", iso(CLOSE_MS))
    assert sorted(row.symbol for row in confidence.coins) == sorted(canonical(coin) for coin in COINS)
    assert all(0 <= row.confidence <= 1 for row in confidence.coins)
    assert told.told.regime is not None
    assert f"The market has been {told.told.regime.regime} since {told.told.regime.since[:10]} (" in confidence.summary
    for regime in ("risk-on", "neutral", "risk-off"):
        count = sum(row.regime == regime for row in confidence.coins)
        assert f"{count} are {regime}" in confidence.summary or f"{count} {regime}" in confidence.summary
    assert "it is no probability" in confidence.summary


@pytest.mark.promise("regime.history", "regime.as-of", "regime.required")
async def test_history_is_every_position_of_a_coin_oldest_first_and_what_it_holds_now(told: Leader) -> None:
    answer = told.regimes.regime("history", "sol")
    history = read(answer, RegimeHistory)
    assert (answer.as_of_ms, history.symbol) == (CLOSE_MS, "SOL")
    assert history.trades
    entries = [trade.entryDate for trade in history.trades]
    assert entries == sorted(entries)
    known = opens("SOL")
    for trade in history.trades:
        assert (trade.entryPrice, trade.exitPrice) == (known[trade.entryDate], known[trade.exitDate])
        side = 1 if trade.direction == "long" else -1
        moved = trade.exitPrice / trade.entryPrice
        assert trade.costPct == pytest.approx(1.545 * (1 + moved), abs=1e-4)  # hardly any volume: 150 basis points
        assert trade.returnPct == pytest.approx(100 * side * (moved - 1) + trade.fundingPct - trade.costPct, abs=2e-4)
    returns = [trade.returnPct for trade in history.trades]
    wins, total = sum(one > 0 for one in returns), len(returns)
    summary = history.summary
    assert (summary.total, summary.wins, summary.losses) == (total, wins, total - wins)
    assert summary.winRate == pytest.approx(wins / total, abs=1e-4)
    assert summary.meanReturnPct == pytest.approx(sum(returns) / total, abs=1e-4)
    held = [one for one in read(told.regimes.regime("active", "SOL"), ActiveRegime).positions if one.symbol == "SOL"]
    assert history.currentPosition == (held[0] if held else None)
    assert all(trade.exitDate <= one.entryDate for trade in history.trades for one in held)


async def test_a_listed_coin_without_bars_has_an_empty_history(told: Leader) -> None:
    history = read(told.regimes.regime("history", "BARE"), RegimeHistory)
    assert (history.symbol, history.trades, history.currentPosition) == ("BARE", [], None)
    assert history.summary == RegimeSummary(0, 0, 0, None, None, None)


@pytest.mark.promise("regime.trades-standard", "costs.slippage-table")
async def test_history_states_how_trades_are_filled_and_charged_and_what_is_missing(told: Leader) -> None:
    meta = read(told.regimes.regime("history", "SOL"), RegimeHistory).meta
    assert (meta.through, meta.ruleset) == (iso(CLOSE_MS), "regime-rules/1")
    assert meta.standard == standard()
    assert "filled at the open of the next" in meta.standard.fills
    assert meta.missing[-1] == "Funding was recorded on 0.0 % of the days held."
    assert len(meta.missing) == 3
    assert len(read(told.regimes.regime("history", "BARE"), RegimeHistory).meta.missing) == 2


async def test_trades_are_told_again_once_their_funding_is_known(told: Leader) -> None:
    before, revision = read(told.regimes.regime("history", "SOL"), RegimeHistory), told.document.current.revision
    await told.round()
    assert told.document.current.revision == revision
    days = range(TODAY - 399, TODAY + 1)
    rows = [("SOL", day, 0.001) for day in days]

    def know(connection: Connection) -> None:
        connection.executemany("INSERT INTO funding_days (venue_symbol, day, paid) VALUES (?, ?, ?)", rows)

    await told.database.write(know)
    await told.round()
    after = read(told.regimes.regime("history", "SOL"), RegimeHistory)
    assert after.summary.fundingKnown == 1
    assert not any("Funding" in sentence for sentence in after.meta.missing)
    known = opens("SOL")
    for early, late in zip(before.trades, after.trades, strict=True):
        held = [price for day, price in known.items() if late.entryDate <= day < late.exitDate]
        side = 1 if late.direction == "long" else -1
        assert late.fundingPct == pytest.approx(-side * 0.1 * sum(held) / late.entryPrice, abs=1e-4)
        assert late.returnPct - late.fundingPct == pytest.approx(early.returnPct - early.fundingPct, abs=3e-4)
    await told.round()
    assert told.document.current.revision == revision + 1


@pytest.mark.promise("regime.pending-entry")
async def test_a_position_decided_on_the_last_close_has_no_entry_price_and_says_so(
    told: Leader, tmp_path: Path, clock: FakeClock
) -> None:
    signal = next(one for one in told.told.signals if one.direction is not None)
    day = parse_iso(signal.firedAt) // DAY_MS - 1
    async with open_database(tmp_path / "early.db", clock) as database:
        early = Leader(database, clock)
        early.at(day, 3_600)
        await early.store.claim("test")
        await early.list_coins(*COINS)
        for place, coin in enumerate(COINS):
            await early.give(coin, wave(range(TODAY - 399, day + 1), 13.0 + place / 4, place / 9, 0.001))
        await early.round(asked=True)
        history = read(early.regimes.regime("history", signal.symbol), RegimeHistory)
    held = history.currentPosition
    assert held is not None
    assert (held.direction, held.entryPrice, held.holdDays) == (signal.direction, None, 0)
    assert held.entryDate == signal.firedAt[:10]
    assert history.meta.missing[-1].startswith("The entry price of the current position is not known before the bar")


@pytest.mark.promise("regime.upgrade")
async def test_conclusions_of_a_version_that_filled_at_closes_keep_their_breadth_and_tell_no_trades(
    told: Leader,
) -> None:
    before = told.told.breadth
    old = msgspec.to_builtins(replace(told.told, regime_trades=None))
    del old["regime_trades"]
    old["histories"] = {
        "SOL": {"symbol": "SOL", "trades": [{"returnPct": 1.0}], "summary": {}, "currentPosition": None}
    }
    body = msgspec.json.encode(old)

    def put(connection: Connection) -> None:
        connection.execute("UPDATE documents SET body = ?, revision = revision + 1", (body,))

    await told.database.write(put)
    started = Leader(told.database, told.clock)
    started.asked_ms = told.asked_ms
    await started.follow()
    assert started.told.breadth == before
    with pytest.raises(ServiceError):
        started.regimes.regime("history", "SOL")
    await started.round()
    assert started.told.breadth == before
    assert read(started.regimes.regime("history", "SOL"), RegimeHistory).trades


@pytest.mark.parametrize(
    ("action", "kind", "rows"),
    [
        ("active", ActiveRegime, "positions"),
        ("signals", RegimeSignals, "signals"),
        ("confidence", RegimeConfidence, "coins"),
    ],
)
async def test_a_symbol_narrows_an_answer_down_to_its_coin(
    told: Leader, action: RegimeAction, kind: type[Struct], rows: str
) -> None:
    whole, own = (read(told.regimes.regime(action, symbol), kind) for symbol in (None, "kpepe"))
    assert getattr(own, rows) == [row for row in getattr(whole, rows) if row.symbol == "PEPE"]
    assert replace(own, **{rows: []}) == replace(whole, **{rows: []})


async def test_history_knows_coins_that_have_been_delisted_and_nothing_else_does(told: Leader) -> None:
    history = read(told.regimes.regime("history", "gone"), RegimeHistory)
    assert history.symbol == "GONE"
    assert history.trades
    assert history.currentPosition is None
    assert history.trades[-1].exitDate <= iso(CLOSE_MS - 36 * DAY_MS)[:10]
    with pytest.raises(ServiceError, match="delisted"):
        told.regimes.regime("active", "GONE")


async def test_history_knows_a_delisted_coin_by_the_venues_ticker_of_a_thousand(told: Leader) -> None:
    told.coins.directory = CoinDirectory([CoinListing("kGONE", "GONE", listed=False)])
    history = told.regimes.regime("history", "GONE")
    assert told.regimes.regime("history", "kgone").data == history.data


@pytest.mark.parametrize("action", ["active", "signals", "confidence", "history"])
async def test_an_unknown_symbol_is_refused_with_candidates(told: Leader, action: RegimeAction) -> None:
    with pytest.raises(ServiceError) as caught:
        told.regimes.regime(action, "PEP")
    assert caught.value.code == "UNKNOWN_SYMBOL"
    assert caught.value.details == {"candidates": ["PEPE"]}


@pytest.mark.parametrize("action", ["active", "confidence"])
async def test_before_the_markets_regime_is_known_that_is_what_is_said(told: Leader, action: RegimeAction) -> None:
    await told.document.put("test", replace(told.told, regime=None), CLOSE_MS)
    with pytest.raises(ServiceError, match="four months") as caught:
        told.regimes.regime(action, None)
    assert caught.value.code == "UNAVAILABLE"
    assert caught.value.headers["Retry-After"] == "3600"


async def test_before_anything_was_concluded_and_two_days_after_the_last_close_nothing_is_said(leader: Leader) -> None:
    with pytest.raises(ServiceError, match=r"^Regimes are not available yet"):
        leader.regimes.regime("active", None)
    await leader.round(asked=True)
    leader.clock.set_wall(CLOSE_MS + 48 * HOUR_MS)
    assert leader.regimes.regime("signals", None).as_of_ms == CLOSE_MS
    leader.clock.set_wall(CLOSE_MS + 48 * HOUR_MS + 1)
    with pytest.raises(ServiceError, match=r"^Regimes are not available yet"):
        leader.regimes.regime("signals", None)
