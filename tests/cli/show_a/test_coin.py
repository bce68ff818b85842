"""What is said of a coin: now, and on the way here."""

from typing import Any

import msgspec

from service.cli.show import coin
from service.cli.terminal import Display
from service.wire.coins import Resolved
from service.wire.market import Historical, RiskContext
from tests.cli.recorded import answer
from tests.cli.snapshots import check

PLAIN = Display(80, colour=False)


def risk(**changed: Any) -> tuple[Any, Any]:
    data, meta = answer("coin.risk")
    data |= changed
    msgspec.convert(data, RiskContext)
    return data, meta


def test_a_rate_a_year_is_told_in_dollars_a_day() -> None:
    # 10.95 % a year is 0.03 % a day: three dollars on ten thousand.
    shown = list(coin.coin_risk(*answer("coin.risk"), PLAIN, {}))
    assert "Funding       +10.95 % a year, longs pay shorts" in shown
    assert "Carry         long -10.95 %, short +10.95 % a year, $3.00 a day on $10,000" in shown


def test_what_is_stale_says_so_where_it_stands_and_below() -> None:
    data, meta = risk(_stale_fields=["price", "trend_weekly", "btc_correlation"])
    check("coin.risk.stale", lambda screen: coin.coin_risk(data, meta, screen, {}))


def test_what_is_not_known_of_a_coin_is_left_open() -> None:
    unknown = [
        "price", "funding_apr", "trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation",
    ]  # fmt: skip
    derived = [
        "trend_daily_since", "trend_weekly_since", "funding_paying_side", "funding_receiving_side", "carry_if_long",
        "carry_if_short", "sentiment_summary",
    ]  # fmt: skip
    data, meta = risk(_stale_fields=unknown, venue_symbol="kPEPE", **dict.fromkeys([*unknown, *derived]))
    check("coin.risk.unknown", lambda screen: coin.coin_risk(data, meta, screen, {}))


def test_nobody_pays_where_funding_is_nothing() -> None:
    data, meta = risk(
        funding_apr=0.0, carry_if_long=0.0, carry_if_short=0.0, funding_paying_side=None, funding_receiving_side=None
    )
    shown = list(coin.coin_risk(data, meta, PLAIN, {}))
    assert "Funding       0.00 % a year" in shown
    assert "Carry         long 0.00 %, short 0.00 % a year, $0.00 a day on $10,000" in shown


def historical(name: str = "coin.historical", **changed: Any) -> tuple[Any, Any]:
    data, meta = answer(name)
    data |= changed
    msgspec.convert(data, Historical)
    return data, meta


def test_the_way_ends_now() -> None:
    shown = list(coin.coin_historical(*answer("coin.historical"), PLAIN, {}))
    assert "Low      $3,730, now" in shown
    assert "High     $3,897.9, 24 Jul 04:00, -4.31 % since" in shown  # 3730 / 3897.9 - 1


def test_a_coin_that_was_not_recorded_then_is_shown_as_far_as_it_is_known() -> None:
    nothing = dict.fromkeys(
        ("priceUSD", "marketCap", "volume", "openInterest", "fundingRate", "futuresVolume24h"), None
    )
    now = nothing | {"as_of": None, "market_cap_as_of": None}
    data, meta = historical(at=nothing | {"as_of": None}, now=now, change_pct=None, series=[])
    check("coin.historical.unknown", lambda screen: coin.coin_historical(data, meta, screen, {}))


def test_a_way_without_volumes_has_no_picture_of_them() -> None:
    data, meta = answer("coin.historical")
    data["series"] = [{**point, "volume": None} for point in data["series"][:1]]
    data["now"]["priceUSD"] = None
    data, meta = historical(**data)
    shown = list(coin.coin_historical(data, meta, PLAIN, {}))
    assert not [line for line in shown if line.startswith("Volume ")]
    assert [line for line in shown if line.startswith("High     $3,895.3, 23 Jul 23:00")]
    assert "Funding  ▄ +10.95 % to +10.95 %" in shown


def test_a_price_that_was_nothing_has_not_grown_by_any_percentage() -> None:
    data, meta = answer("coin.historical")
    data["at"]["openInterest"] = 0.0
    shown = list(coin.coin_historical(data, meta, PLAIN, {}))
    assert [line.split() for line in shown if line.startswith("open interest")] == [
        ["open", "interest", "$0.00", "$2.70", "B", "-"]
    ]


def test_a_text_that_means_nothing_known_says_what_was_tried() -> None:
    data, meta = answer("resolve")
    data |= {"query": "qqqq", "tried": ["symbol-exact", "name-exact"], "matches": [], "count": 0}
    msgspec.convert(data, Resolved)
    assert list(coin.resolve(data, meta, PLAIN, {})) == [
        "No match for qqqq. Tried: symbol-exact, name-exact.",
        "",
        "as of 2025-07-25 23:59 UTC · 0 s old",
    ]


def test_a_ticker_of_a_coin_and_of_an_asset_has_its_note_below_the_matches() -> None:
    data, meta = answer("resolve")
    data["note"] = "GAS is also a commodity."
    msgspec.convert(data, Resolved)
    shown = list(coin.resolve(data, meta, PLAIN, {}))
    assert shown[0].startswith("SYMBOL")
    assert shown[-4:-1] == ["", "GAS is also a commodity.", ""]
