"""What the recorded answers do not hold: nothing there, nothing known, other sides, other pages."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from service.cli.show import account, coin, regime, rwa, transcripts, verdicts, walkforward, wallets
from service.cli.terminal import Display
from service.wire.coins import Coins
from service.wire.quality import SignalQuality, VerdictQuality
from service.wire.regime import ActiveRegime, RegimeHistory, RegimeSignals
from service.wire.rwa import RwaAsset
from service.wire.transcripts import Highlights
from service.wire.walkforward import WalkforwardOutcomes, WalkforwardPositions, WalkforwardSignals
from service.wire.wallets import Movements, Watchlist
from tests.cli.recorded import answer

PLAIN = Display(80, colour=False)


def text(lines: Iterator[str]) -> str:
    """Shown text with its line breaks taken for blanks."""
    return " ".join(" ".join(lines).split())


def shown_regime(data: Any, action: str) -> str:
    return text(regime.regime(data, answer("regime.active")[1], PLAIN, {"action": action}))


def test_a_short_position_gains_what_the_price_loses() -> None:
    # Sold at 200, now at 150: a quarter gained. Bought at 200, now at 150: a quarter lost.
    assert regime.gain("short", 200.0, 150.0) == pytest.approx(25.0)
    assert regime.gain("long", 200.0, 150.0) == pytest.approx(-25.0)
    assert regime.gain("long", 200.0, None) is None
    assert regime.gain("long", None, 150.0) is None
    assert regime.gain("long", 0.0, 1.0) is None


def test_a_market_without_positions_has_no_table() -> None:
    data, _ = answer("regime.active")
    data["positions"] = []
    msgspec.convert(data, ActiveRegime)
    shown = shown_regime(data, "active")
    assert "0 long, 0 short, 80 of 80 coins without a position" in shown
    assert "GAIN" not in shown


def test_no_turn_of_a_regime_is_said_to_be_none() -> None:
    data, _ = answer("regime.signals")
    data["signals"] = []
    msgspec.convert(data, RegimeSignals)
    assert shown_regime(data, "signals").startswith("No coin's regime has turned.")


def test_a_turn_into_a_position_says_which_side() -> None:
    data, _ = answer("regime.signals")
    data["signals"] = [{**data["signals"][0], "regime": "risk-on", "direction": "long", "conviction": 0.389}]
    msgspec.convert(data, RegimeSignals)
    assert "AVAX turned risk-on, long on 2025-07-23, conviction 39 %" in shown_regime(data, "signals")


def history(**changed: Any) -> Any:
    data, _ = answer("regime.history")
    data |= changed
    msgspec.convert(data, RegimeHistory)
    return data


def test_a_coin_without_a_past_has_nothing_drawn() -> None:
    nothing = {"total": 0, "wins": 0, "losses": 0, "winRate": None, "meanReturnPct": None, "fundingKnown": None}
    shown = shown_regime(history(trades=[], summary=nothing, currentPosition=None), "history")
    assert shown.startswith("BTC has had no closed position. regime-rules/1 · as of")


def test_a_position_decided_on_the_last_close_is_shown_without_a_price() -> None:
    data = history()
    shown = shown_regime({**data, "currentPosition": {**data["currentPosition"], "entryPrice": None}}, "history")
    assert "at a price to come; the price is" in shown


def test_the_past_says_how_its_trades_are_filled_and_charged() -> None:
    shown = shown_regime(history(), "history")
    assert "filled at the open of the next" in shown
    assert "Fee 4.5, slippage 1 to 150 basis points a fill, by the coin's volume." in shown
    assert "liquidation and the depth of the order book are not simulated" in shown


def test_a_past_without_a_present_ends_with_its_last_day() -> None:
    lines = list(
        regime.regime(history(currentPosition=None), answer("regime.history")[1], PLAIN, {"action": "history"})
    )
    strip = next(place for place, line in enumerate(lines) if line.startswith("▄"))
    assert lines[strip + 1].endswith("2025-04-18")
    assert "Now" not in " ".join(lines)


def test_what_a_hundred_became_is_every_return_after_the_other() -> None:
    # 100 up by half is 150; down by half of that is 75.
    data = history(currentPosition=None)
    first, second = ({**data["trades"][0], "returnPct": pct} for pct in (50.0, -50.0))
    shown = shown_regime({**data, "trades": [first, second]}, "history")
    assert " 75 " in shown
    assert "140 ┤" in shown


def walk(name: str, kind: type, **changed: Any) -> str:
    data, meta = answer(f"walkforward.{name}")
    data |= changed
    msgspec.convert(data, kind)
    return text(walkforward.walkforward(data, meta, PLAIN, {"action": name}))


def test_an_engine_that_has_written_nothing_says_so_itself() -> None:
    nothing = {
        "engine": "verdict-walkforward-1",
        "run_id": None,
        "ran_at": None,
        "parameters_hash": None,
        "total": 0,
        "next_cursor": None,
        "message": "The engine has not run yet.",
    }
    shown = walk("positions", WalkforwardPositions, positions=[], meta=nothing)
    assert shown == "The engine has not run yet."


def test_records_that_are_none_are_not_taken_for_a_quiet_market() -> None:
    assert walk("signals", WalkforwardSignals, signals=[]).startswith("No decision is recorded for this.")
    assert walk("positions", WalkforwardPositions, positions=[]).startswith(
        "The engine holds no position. That says nothing of the market."
    )
    assert walk("outcomes", WalkforwardOutcomes, outcomes=[], summary=None).startswith("No position has ended.")


def test_a_strategy_that_was_refused_shows_no_figures() -> None:
    data, meta = answer("walkforward.outcomes")
    told = data["summary"]["strategies"][1]
    told |= {"published": False, "refused": "a decision knew the next day"}
    msgspec.convert(data, WalkforwardOutcomes)
    shown = text(walkforward.walkforward(data, meta, PLAIN, {"action": "outcomes"}))
    assert "Not published: trend-following (a decision knew the next day)." in shown
    assert "trades 1,848 refused 697 270" in shown


def test_a_ratio_of_too_few_days_is_unknown() -> None:
    data, meta = answer("walkforward.outcomes")
    data["summary"]["strategies"][0]["sharpe"] = None
    assert "Sharpe, annualised - 1.14" in text(walkforward.walkforward(data, meta, PLAIN, {"action": "outcomes"}))


def asset(**changed: Any) -> str:
    data, meta = answer("rwa.symbol")
    data |= changed
    msgspec.convert(data, RwaAsset)
    return text(rwa.rwa_symbol(data, meta, PLAIN, {"symbol": "AAPL"}))


def funding(rate: float | None, apr: float | None) -> dict[str, object]:
    return {"rate": rate, "interval_hours": 8.0, "apr": apr, "belongs_to": "perpetual"}


def test_funding_says_who_pays_whom() -> None:
    assert "+10.95 % a year (longs pay shorts 0.01 % every 8 h)" in asset(funding=funding(0.0001, 10.95))
    assert "-10.95 % a year (shorts pay longs 0.01 % every 8 h)" in asset(funding=funding(-0.0001, -10.95))
    assert "0.00 % a year (nobody pays 0 % every 8 h)" in asset(funding=funding(0.0, 0.0))
    assert "Funding - Open" in asset(funding=funding(None, None))


def test_what_is_stale_of_an_asset_says_so_where_it_stands() -> None:
    shown = asset(_stale_fields=["price", "trend_weekly"])
    assert "$213.9 stale" in shown
    assert "▼ DOWN stale" in shown
    assert "▲ UP Trend, weekly" in shown


def test_a_list_of_all_assets_says_how_many_and_an_empty_one_has_no_table() -> None:
    data, meta = answer("rwa.assets")
    data["count"] = len(data["assets"])
    assert text(rwa.rwa_assets(data, meta, PLAIN, {})).startswith("20 real-world assets · 10 equity, 3 index")
    assert "SYMBOL" not in text(rwa.rwa_assets({"count": 0, "assets": []}, meta, PLAIN, {}))


def test_talk_of_nothing_and_sources_that_are_none_are_said_to_be() -> None:
    data, meta = answer("transcripts.highlights")
    data |= {"highlights": [], "meta": {"total": 0, "by_source": {}, "next_cursor": None}}
    msgspec.convert(data, Highlights)
    assert text(transcripts.transcripts(data, meta, PLAIN, {})).startswith("Nothing was said of it in what is read.")
    assert text(transcripts.transcripts({"sources": []}, meta, PLAIN, {"action": "sources"})).startswith(
        "No source is read."
    )


def test_words_of_others_are_shown_as_they_were_spoken() -> None:
    data, meta = answer("transcripts.highlights")
    data["highlights"][0] |= {"quote": "Bulls &amp; bears, &lt;b&gt;", "speaker": None, "start_seconds": 125}
    shown = text(transcripts.transcripts(data, meta, PLAIN, {}))
    assert "“Bulls & bears, <b>”" in shown
    assert "at 2:05 · neutral" in shown


def test_a_wallet_that_nothing_moved_in_and_a_list_of_none() -> None:
    data, meta = answer("wallets.watchlist")
    data["watchlist"] = [{**data["watchlist"][0], "label": None, "kind": None, "tokens": []}]
    data["meta"]["chainId"] = None
    msgspec.convert(data, Watchlist)
    shown = text(wallets.wallets(data, meta, PLAIN, {}))
    assert "without a label 0x98B159301CDF2b197A7f9F39d9924B3A83A0952C nothing has moved" in shown
    data["watchlist"] = []
    assert text(wallets.wallets(data, meta, PLAIN, {})).startswith("No wallet is watched")


def test_few_tokens_are_all_named() -> None:
    data, meta = answer("wallets.watchlist")
    first = data["watchlist"][0]
    data["watchlist"] = [{**first, "tokens": first["tokens"][:2]}]
    assert "moved WETH 96x, USDC 112x, last 2025-07-25 23:55 UTC" in text(wallets.wallets(data, meta, PLAIN, {}))


def test_a_movement_shows_whole_and_tiny_amounts_and_who_has_no_label() -> None:
    data, meta = answer("wallets.movements")
    first = {**data["movements"][0], "token": None, "label": None, "amount": "1234567", "amount_usd": None}
    data["movements"] = [first]
    msgspec.convert(data, Movements)
    shown = text(wallets.wallets(data, meta, PLAIN, {"action": "movements"}))
    assert "movements of a token without a name" in shown
    assert "← out 1,234,567 - 0x98B1593…3A0952C 0xaF4cCeB…7Df80f6" in shown
    data["movements"] = []
    assert "moved in or out of a watched wallet." in text(wallets.wallets(data, meta, PLAIN, {"action": "movements"}))


def test_a_tier_that_ends_says_when_and_a_wallet_is_shown_whole() -> None:
    data, meta = answer("billing.tier")
    data |= {"expiresAt": "2025-08-01T00:00:00.000Z", "source": "wallet"}
    data["identity"] = {"kind": "session", "userId": 3, "walletAddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"}
    shown = text(account.billing_tier(data, meta, PLAIN, {}))
    assert "pro, of the wallet, until 2025-08-01 00:00 UTC" in shown
    assert "user 3, by a session Wallet 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A" in shown


def test_a_service_that_sells_on_no_network_says_so() -> None:
    data, meta = answer("manifest")
    assert "USDC on no network" in text(account.manifest({**data, "networks": []}, meta, PLAIN, {}))


def test_nothing_paid_for_is_said_to_be() -> None:
    assert list(account.receipts_list({"receipts": [], "next_cursor": None}, {}, PLAIN, {})) == [
        "Nothing has been paid for."
    ]


def test_receipts_are_summed_up_to_the_last_digit_and_the_last_page_offers_no_more() -> None:
    paid = {"settled_at": "2025-07-25T12:00:00.000Z", "route": "coin.risk", "network": "eip155:84532", "id": "r"}
    receipts = [{**paid, "price_usdc": price} for price in ("0.1", "0.2", "0.005")]  # 0.305, not 0.30500000000000005
    shown = text(account.receipts_list({"receipts": receipts, "next_cursor": None}, {}, PLAIN, {}))
    assert shown.startswith("3 receipts, 0.305 USDC in all")
    assert "More" not in shown
    one = {"receipts": receipts[:1], "next_cursor": None}
    assert text(account.receipts_list(one, {}, PLAIN, {})).startswith("1 receipt, 0.1 USDC in all")


def quality(tier: str, message: str, **found: Any) -> str:
    data, meta = answer("signal.quality")
    data |= {"reliability_tier": tier, "message": message, "confidence": found["deflatedSharpe"]}
    data["validations"] |= found
    msgspec.convert(data, SignalQuality)
    return text(verdicts.signal_quality(data, meta, PLAIN, {}))


@pytest.mark.parametrize(("tier", "shown"), [("PRELIMINARY", "preliminary"), ("VALIDATED", "validated")])
def test_a_record_of_enough_trades_shows_its_sharpe_ratio_and_what_the_probability_means(tier: str, shown: str) -> None:
    found = {"sampleSize": 120, "winRate": 0.55, "meanReturnPct": 1.5, "sharpe": 0.4768, "deflatedSharpe": 0.9}
    told = quality(tier, "As it is.", **found)
    assert told.startswith(f"BTC trend-following {shown} As it is. Trades 120 closed from 2024-02-20 to")
    assert "Won 55.0 % Mean of a trade +1.50 % after costs and funding Sharpe of a trade 0.477" in told
    assert "0.900 that the true Sharpe ratio is above the best that 162 trials show by luck" in told


def test_a_record_without_trades_shows_the_message_alone() -> None:
    told = quality("INSUFFICIENT_DATA", "None was closed.", sampleSize=0, winRate=None, deflatedSharpe=None)
    assert told.startswith("BTC trend-following insufficient data None was closed. as of")


def test_a_tier_of_a_newer_service_is_shown_as_it_is() -> None:
    data, meta = answer("signal.quality")
    data["reliability_tier"] = "PROVEN"
    assert text(verdicts.signal_quality(data, meta, PLAIN, {})).startswith("BTC trend-following PROVEN Too few")


def record(**changes: Any) -> tuple[Any, Any]:
    data, meta = answer("signal.quality.verdict")
    data["record"] |= changes
    msgspec.convert(data, VerdictQuality)
    return data, meta


def test_a_record_without_outcomes_says_so_and_shows_no_table() -> None:
    empty = {"all_coins": [], "this_coin": [], "asked": [], "void": 0}
    data, meta = record(live=empty, backtested=None, entries=1)
    shown = text(verdicts.scorecard(data, meta, PLAIN, {}))
    assert shown.count("No outcome yet.") == 2
    assert "Asked:" not in shown
    assert "Ledger 1 verdict, " in shown
    assert "Left out" not in shown
    assert text(verdicts.signal_quality(data, meta, PLAIN, {})).count("No outcome yet.") == 2


def test_outcomes_without_a_price_are_said_to_be_left_out() -> None:
    data, meta = record()
    data["record"]["live"]["void"] = 3
    assert "Left out 3 outcomes without a recorded price" in text(verdicts.scorecard(data, meta, PLAIN, {}))


@pytest.mark.promise("scorecard.http")
def test_a_row_has_its_figures_from_sixty_days_on() -> None:
    data, meta = record()
    shown = text(verdicts.scorecard(data, meta, PLAIN, {}))
    assert "strong bull 1 d 60 576 59.2 % 52.5 % to 65.9 % 59.2 % +0.83 %" in shown
    assert "strong bull 3 d 59 572 not enough yet" in shown
    assert "60 are needed" in shown


def test_a_coin_of_which_a_value_could_not_be_refreshed_is_marked_and_what_is_unknown_is_not() -> None:
    data, meta = answer("coins")
    first, second = data["coins"][:2]
    first["_stale_fields"], second["_stale_fields"] = ["price"], ["funding_apr"]
    second["funding_apr"] = second["verdict"] = None
    msgspec.convert(data, Coins)
    told = text(coin.coins(data, meta, PLAIN, {}))
    assert f"{first['symbol']}* $" in told
    assert f"{second['symbol']} $" in told
    assert "* Not all values of this coin could be refreshed." in told


def test_a_page_without_coins_says_how_many_there_are() -> None:
    data, meta = answer("coins")
    data |= {"coins": [], "meta": {"total": 0, "next_cursor": None}}
    msgspec.convert(data, Coins)
    assert text(coin.coins(data, meta, PLAIN, {})).startswith("0 of 0 coins · prices in USD, changes in % as of")
