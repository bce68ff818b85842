"""What is said of the market and of its categories."""

from typing import Any

import msgspec
import pytest

from service.cli.show import category, market
from service.cli.show import market as health
from service.cli.terminal import Display
from service.wire.market import Baselines, CategoryInfo, Crossings, FundingAlerts, LivePrices, MarketHealth
from service.wire.sentiment import CategorySentiment, CategorySlopes, SentimentItems
from tests.cli.recorded import answer
from tests.cli.snapshots import check

PLAIN = Display(80, colour=False)


def test_a_bar_of_breadth_is_divided_as_the_coins_are() -> None:
    # 3 + 1 + 4 coins on 56 cells: seven cells a coin.
    bar, legend = market.breadth_lines(Display(56, colour=False), {"UP": 3, "HODL": 1, "DOWN": 4})
    assert bar == 21 * "█" + 7 * "▒" + 28 * "░"
    assert list(market.breadth_lines(Display(30, colour=False), {"UP": 3, "HODL": 1, "DOWN": 4}))[1:] == [
        "█ UP 3 (37.5 %)",
        "▒ HODL 1 (12.5 %)",
        "░ DOWN 4 (50.0 %)",
    ]
    assert legend == "█ UP 3 (37.5 %)   ▒ HODL 1 (12.5 %)   ░ DOWN 4 (50.0 %)"


def test_a_category_without_trends_has_no_breadth() -> None:
    nobody = {"UP": 0, "HODL": 0, "DOWN": 0}
    assert list(market.breadth_lines(PLAIN, nobody)) == ["No coin's trend is known."]
    assert market.net_breadth(nobody).text == "-"
    assert market.net_breadth({"UP": 33, "HODL": 21, "DOWN": 26}).text == "+8.8 %"  # 7 of 80


def test_an_extreme_day_says_what_is_extreme() -> None:
    data, meta = answer("market.health")
    data |= {"hasExtremes": True, "extremes": [{"state": "DOWN", "share_pct": 61.25, "count": 49}]}
    msgspec.convert(data, MarketHealth)
    assert "Extremes  DOWN 61.2 % of all" in list(health.market_health(data, meta, PLAIN, {}))


def test_a_young_market_is_shown_without_what_is_not_known_yet() -> None:
    data, meta = answer("market.health.context")
    data |= {
        "velocity": None, "regime": None, "regime_age_days": None, "leadership": [], "laggards": [], "divergences": [],
        "interpretation": "Too early to say.",
    }  # fmt: skip
    msgspec.convert(data, MarketHealth)
    check("market.health.young", lambda screen: health.market_health(data, meta, screen, {}))
    data["regime"] = "risk-off"
    assert "Regime    risk-off" in list(health.market_health(data, meta, PLAIN, {}))


def crossing(direction: str, at: str, *figures: int) -> dict[str, Any]:
    up_before, down_before, up, down = figures
    before = {"UP": up_before, "HODL": 80 - up_before - down_before, "DOWN": down_before}
    after = {"UP": up, "HODL": 80 - up - down, "DOWN": down}
    return {
        "id": at, "up": up, "down": down, "direction": direction, "at": at, "previous": before, "current": after,
        "universe": 80,
    }  # fmt: skip


def test_each_crossing_is_shown_before_and_after() -> None:
    _, meta = answer("market.crossing")
    data = {
        "crossings": [
            crossing("DOWN over UP", "2025-07-24T00:00:00.000Z", 31, 29, 27, 33),
            crossing("UP over DOWN", "2025-05-02T00:00:00.000Z", 24, 30, 32, 28),
        ]
    }
    msgspec.convert(data, Crossings)
    check("market.crossing.some", lambda screen: market.market_crossing(data, meta, screen, {}))


def test_no_crossing_is_said_even_without_a_message() -> None:
    _, meta = answer("market.crossing")
    assert "None." in list(market.market_crossing({"crossings": []}, meta, PLAIN, {}))


def alerts(**changed: Any) -> Any:
    data, _ = answer("funding.alerts")
    data |= changed
    msgspec.convert(data, FundingAlerts)
    return data


def test_a_coin_without_alerts_is_said_to_have_none() -> None:
    data, (_, meta) = alerts(events=[], meta={"total": 0, "next_cursor": None}), answer("funding.alerts")
    assert list(market.funding_alerts(data, meta, PLAIN, {"symbol": "btc"})) == [
        "Funding alerts   of BTC   0 of 0",
        "",
        "None: no coin's funding entered a zone.",
        "",
        "as of 2025-07-25 23:59 UTC · 0 s old",
    ]


def test_what_is_still_on_is_counted_by_zone() -> None:
    events = answer("funding.alerts")[0]["events"]
    cleared = [event for event in events if event["clearedAt"]]
    for shown, expected in ((cleared, "Still on  none"), (cleared + events[:2], "Still on  1 cold, 1 very-cold")):
        data = alerts(events=shown)
        assert expected in list(market.funding_alerts(data, answer("funding.alerts")[1], PLAIN, {}))


def test_a_category_of_which_little_is_known_is_shown() -> None:
    data, meta = answer("category.info")
    coin = {**data["coins"][0], "price": None, "change_24h": None, "market_cap": None, "trend_daily": None}
    data |= {
        "coins": [{**coin, "streak_days": None}], "trends": {"UP": 0, "HODL": 0, "DOWN": 0}, "description": None,
        "market_cap": None, "change_24h": None, "volume_24h": None, "leaders": [], "laggards": [],
    }  # fmt: skip
    msgspec.convert(data, CategoryInfo)
    check("category.info.unknown", lambda screen: category.category_info(data, meta, screen, {}))


@pytest.mark.parametrize("sources", [[], ["coindesk"]])
def test_a_category_that_nobody_wrote_about_has_no_score(sources: list[str]) -> None:
    data, meta = answer("category.sentiment")
    data |= {"score": None, "slope_24h": None, "mentions": 0, "coins": []}
    data["provenance"] = {"newest_at": None, "sources": sources}
    msgspec.convert(data, CategorySentiment)
    shown = list(category.category_sentiment(data, meta, PLAIN, {}))
    assert shown[:2] == ["Layer 1 (L1)   neutral   -", ""]
    assert f"Mentions  0 in 7 days{', by coindesk' if sources else ''}" in shown


def test_coins_stand_from_the_best_spoken_of_to_the_worst() -> None:
    shown = list(category.category_sentiment(*answer("category.sentiment"), PLAIN, {}))
    start = next(place for place, line in enumerate(shown) if line.startswith("COIN"))
    scores = [line.split()[2] for line in shown[start + 1 : -2]]
    known = [float(score) for score in scores if score != "-"]
    assert known == sorted(known, reverse=True)
    assert scores[len(known) :] == ["-"] * 6


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("market", "Neutral: "), ("summary", "Neutral: "), ("coin", "BTC"), ("latest", "Layer 1 (L1)"),
        ("categories", "Layer 1 (L1)"), ("health", "coindesk"), ("slopes", "slope_24h"), ("narratives", "Perpetuals"),
    ],
)  # fmt: skip
def test_each_view_of_sentiment_shows_what_it_is_about(name: str, shown: str) -> None:
    lines = list(category.sentiment(*answer(f"sentiment.{name}"), PLAIN, {}))
    assert any(shown in line for line in lines)
    assert lines[-1].startswith("as of 2025-07-25 ")


def test_an_hour_without_a_known_slope_shows_a_count_of_none_and_no_table() -> None:
    data, meta = answer("sentiment.slopes")
    data |= {"count": 0, "categories": []}
    msgspec.convert(data, CategorySlopes)
    shown = list(category.sentiment(data, meta, PLAIN, {}))
    assert "count          0" in shown
    assert "None." in shown
    assert not [line for line in shown if "mentions" in line]
    assert shown[-1].startswith("as of 2025-07-25 ")


def test_a_market_that_nobody_wrote_about_has_mentions_of_no_age() -> None:
    data, meta = answer("sentiment.market")
    data["data"][0] |= {"score": None, "slope_24h": None, "mentions": 0, "newest_at": None}
    msgspec.convert(data, SentimentItems)
    shown = list(category.sentiment(data, meta, PLAIN, {}))
    assert shown[0] == "market   neutral   -"
    assert "Mentions  0 in 7 days" in shown


def test_narratives_are_shown_with_and_without_any() -> None:
    data, meta = answer("narratives")
    assert any("Perpetuals" in line for line in list(category.narratives(data, meta, PLAIN, {})))
    data |= {"narratives": [], "total_count": 0}
    shown = list(category.narratives(data, meta, PLAIN, {}))
    assert any("0 podcasts" in line for line in shown)
    assert "None." in shown
    assert shown[-1] == "as of 2025-07-25 23:59 UTC · 0 s old"


def test_what_was_asked_for_and_has_no_price_is_named_below_the_prices() -> None:
    data, meta = answer("market.prices")
    data["missing"] = ["gas-dao", "nothing"]
    msgspec.convert(data, LivePrices)
    assert list(market.market_prices(data, meta, PLAIN, {}))[-4:] == [
        "",
        "Without a price: gas-dao, nothing.",
        "",
        "as of 2025-07-25 23:59 UTC · 0 s old",
    ]


def test_a_past_price_that_is_older_than_asked_for_is_marked() -> None:
    data, meta = answer("market.baselines")
    first, second = list(data["baselines"])[:2]
    data["baselines"][second]["b7d"] = None
    data["_stale_fields"] = [f"baselines.{first}.b4h", f"baselines.{second}.b7d"]
    msgspec.convert(data, Baselines)
    lines = list(market.market_prices(data, meta, PLAIN, {}))
    assert [line.split()[0] for line in lines if line.endswith("stale")] == [first]
