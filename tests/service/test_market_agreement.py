"""What one route says of a market, another does not contradict: all of them at one instant of one recording."""

from collections import Counter
from functools import cache
from typing import Any

import pytest

from fixtures.coins import COINS, DELISTED
from service.clock import parse_iso
from service.market.symbols import canonical
from tests.service.asking import Whole, category_names, escaped

pytestmark = pytest.mark.process

END_MS = parse_iso("2025-07-25T23:59:59.999Z")
DAY_MS = 86_400_000
STATES = ("UP", "HODL", "DOWN")


@cache
def risks(market: Whole) -> dict[str, Any]:
    """Every coin's risk context, by ticker."""
    return {canonical(coin.name): market.pro.data(f"coin/risk/{coin.name}") for coin in COINS}


@cache
def categories(market: Whole) -> dict[str, Any]:
    return {name: market.pro.data(f"category/info/{escaped(name)}") for name in category_names()}


def test_every_listed_coin_answers_and_the_others_are_unknown(market: Whole) -> None:
    assert len(risks(market)) == market.service.ask("/readyz")[2]["market"]["coins"] == 80
    for coin in DELISTED:
        reply = market.pro.ask(f"coin/risk/{coin.name}")
        assert (reply.status, reply.code) == (404, "UNKNOWN_SYMBOL")
        assert "was delisted" in reply.body["error"]["message"]


def test_a_category_shows_its_coins_as_risk_does(market: Whole) -> None:
    shown = Counter[str]()
    for category in categories(market).values():
        for coin in category["coins"]:
            risk = risks(market)[coin["symbol"]]
            assert (coin["price"], coin["trend_daily"]) == (risk["price"], risk["trend_daily"])
            if coin["streak_days"] is not None:
                since_ms = parse_iso(risk["trend_daily_since"])
                assert coin["streak_days"] == (END_MS // DAY_MS * DAY_MS - since_ms) // DAY_MS + 1
            shown[coin["symbol"]] += 1
        trends = Counter(coin["trend_daily"] for coin in category["coins"])
        assert category["trends"] == {state: trends[state] for state in STATES}
        changes = {coin["symbol"]: coin["change_24h"] for coin in category["coins"]}
        ranked = sorted(changes, key=lambda symbol: (-changes[symbol], symbol))
        assert category["leaders"] == ranked[: len(category["leaders"])]
        assert category["laggards"] == ranked[::-1][: len(category["laggards"])]
    assert len(shown) >= 79


@pytest.mark.promise("category.stances", "risk.sentiment")
def test_a_category_feels_of_its_coins_as_risk_does(market: Whole) -> None:
    stances = set()
    for name in category_names():
        for coin in market.pro.data(f"category/sentiment/{escaped(name)}")["coins"]:
            assert coin["stance"] == risks(market)[coin["symbol"]]["sentiment_stance"]
            stances.add(coin["stance"])
    assert stances <= {"accumulation", "distribution", "euphoria", "capitulation", "exhaustion", "neutral"}
    assert len(stances) > 1


@pytest.mark.promise("health.payload", "health.extreme")
def test_the_market_is_as_healthy_as_its_coins_are(market: Whole) -> None:
    health = market.pro.data("market/health?context=1")
    trends = Counter(risk["trend_daily"] for risk in risks(market).values() if risk["trend_daily"])
    assert health["trends"] == {state: trends[state] for state in STATES}
    assert health["universe"] == trends.total()
    assert sum(health["breadth_pct"].values()) == pytest.approx(100, abs=1e-9)
    for state in STATES:
        assert health["breadth_pct"][state] == pytest.approx(100 * trends[state] / trends.total(), abs=1e-4)
    assert health["extremes"] == [
        {"state": state, "share_pct": health["breadth_pct"][state], "count": trends[state]}
        for state in STATES
        if trends[state] >= 0.6 * trends.total()
    ]
    assert health["hasExtremes"] is bool(health["extremes"])
    for mover in (*health["leadership"], *health["laggards"]):
        assert mover["trend_daily"] == risks(market)[mover["symbol"]]["trend_daily"]
    assert {name: health[name] for name in market.pro.data("market/health")} == market.pro.data("market/health")


def test_health_and_regime_tell_one_regime_of_one_day(market: Whole) -> None:
    health, regime = market.pro.data("market/health?context=1"), market.pro.data("regime")
    assert (health["regime"], health["regime_age_days"]) == (regime["market"]["regime"], regime["market"]["age_days"])
    assert health["universe"] <= regime["meta"]["universe"] <= len(risks(market))
    through_ms, since_ms = parse_iso(regime["meta"]["through"]), parse_iso(regime["market"]["since"])
    assert through_ms == parse_iso(f"{health['date']}T00:00:00Z") + DAY_MS
    assert regime["market"]["age_days"] == len(range(since_ms, through_ms + 1, DAY_MS))


@pytest.mark.promise("regime.active", "regime.confidence", "regime.history")
def test_a_position_has_the_price_of_risk_and_the_confidence_and_history_of_its_coin(market: Whole) -> None:
    positions = market.pro.data("regime")["positions"]
    confidence = {coin["symbol"]: coin for coin in market.pro.data("regime?action=confidence")["coins"]}
    assert positions
    for position in positions:
        symbol = position["symbol"]
        assert position["currentPrice"] == risks(market)[symbol]["price"]
        assert position["direction"] == {"risk-on": "long", "risk-off": "short"}[position["regime"]]
        assert confidence[symbol]["regime"] == position["regime"]
        assert confidence[symbol]["confidence"] == position["conviction"]
        assert market.pro.data(f"regime?action=history&symbol={symbol}")["currentPosition"] == position
    assert {symbol for symbol, coin in confidence.items() if coin["regime"] != "neutral"} == {
        position["symbol"] for position in positions
    }


@pytest.mark.promise("regime.signals")
def test_the_newest_signal_of_a_coin_that_holds_a_position_opened_it(market: Whole) -> None:
    held = {position["symbol"]: position for position in market.pro.data("regime")["positions"]}
    seen = set[str]()
    for signal in market.pro.data("regime?action=signals")["signals"]:
        position = held.get(signal["symbol"])
        if position is not None and signal["symbol"] not in seen:
            assert (signal["regime"], signal["direction"]) == (position["regime"], position["direction"])
            fired_ms = parse_iso(signal["firedAt"])
            assert parse_iso(f"{position['entryDate']}T00:00:00Z") in {fired_ms, fired_ms - DAY_MS}
        seen.add(signal["symbol"])
    assert seen & held.keys()


@pytest.mark.promise("crossing.definition")
def test_crossings_are_changes_of_sign_and_the_last_one_agrees_with_health(market: Whole) -> None:
    crossings = market.pro.data("market/crossing")["crossings"]
    trends = market.pro.data("market/health")["trends"]
    signs = {"UP over DOWN": 1, "DOWN over UP": -1}
    for crossing in crossings:
        sign = signs[crossing["direction"]]
        assert (crossing["previous"]["UP"] - crossing["previous"]["DOWN"]) * sign < 0
        assert (crossing["current"]["UP"] - crossing["current"]["DOWN"]) * sign > 0
        assert (crossing["up"], crossing["down"]) == (crossing["current"]["UP"], crossing["current"]["DOWN"])
    for crossing in crossings[:1]:
        assert (trends["UP"] - trends["DOWN"]) * signs[crossing["direction"]] >= 0


@pytest.mark.promise("alerts.payload", "alerts.hysteresis")
def test_an_alert_is_of_a_coin_that_risk_knows_and_of_now_where_it_has_not_cleared(market: Whole) -> None:
    events = market.pro.data("funding/alerts?limit=200")["events"]
    for event in events:
        assert event["asset"] in risks(market)
        assert (event["fundingAtTrigger"] > 10.95) == (event["triggerZone"] in {"hot", "very-hot"})
        assert event["clearedAt"] is None or event["firedAt"] <= event["clearedAt"]
    going_on: dict[str, list[str]] = {}
    for event in events:
        if event["clearedAt"] is None:
            going_on.setdefault(event["asset"], []).append(event["triggerZone"])
    assert going_on
    for zones in going_on.values():  # the newest first: a zone that got stricter, or the one it was entered by
        assert zones in (["hot"], ["very-hot"], ["cold"], ["very-cold"], ["very-hot", "hot"], ["very-cold", "cold"])


@pytest.mark.promise("historical.payload")
def test_history_ends_at_what_risk_says_of_now(market: Whole) -> None:
    for symbol, risk in risks(market).items():
        said = market.pro.data(f"coin/historical/{symbol}?count=2")
        assert (said["now"]["priceUSD"], said["now"]["fundingRate"]) == (risk["price"], risk["funding_apr"])
        then, now = said["at"]["priceUSD"], said["now"]["priceUSD"]
        assert said["change_pct"] == pytest.approx((now / then - 1) * 100, abs=1e-4)


@pytest.mark.promise("assets.lists", "rwa.no-wrappers", "rwa.symbol-forms")
def test_every_asset_of_the_list_answers_by_ticker_and_by_id(market: Whole) -> None:
    assets = market.pro.data("rwa/assets?top=1000")["assets"]
    assert {"equity", "metal", "commodity"} <= {asset["assetType"] for asset in assets}
    for asset in assets:
        by_id, by_ticker = (market.pro.data(f"rwa/symbol/{asset[name]}") for name in ("id", "symbol"))
        assert by_id == by_ticker
        assert {name: by_id[name] for name in asset} == asset
        assert by_id["price"] > 0
        assert by_id["trend_daily"] in {"UP", "DOWN"}
        funding = by_id["funding"]
        assert funding["apr"] == pytest.approx(funding["rate"] / funding["interval_hours"] * 8760 * 100, abs=1e-4)
        assert market.pro.ask(f"coin/risk/{asset['symbol']}").status == 404


@pytest.mark.promise("risk.funding-apr", "numbers.percent")
def test_carry_is_what_the_paying_side_pays(market: Whole) -> None:
    for risk in risks(market).values():
        apr = risk["funding_apr"]
        sides = {True: ("longs", "shorts"), False: ("shorts", "longs")}[apr > 0] if apr else (None, None)
        assert (risk["funding_paying_side"], risk["funding_receiving_side"]) == sides
        assert (risk["carry_if_long"], risk["carry_if_short"]) == (-apr + 0.0, apr)
