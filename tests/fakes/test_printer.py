"""The printer shows an answer as the clients in the field do, rule by rule."""

import pytest

from tests.fakes.printer import generic, printed, table

NOW_MS = 1_795_376_884_000
"""2026-11-22T19:48:04Z."""


def test_scalars_are_printed_one_a_line_and_mixed_values_raw() -> None:
    assert generic(["Meme", "AI"]) == "Meme\nAI"
    assert len(generic(list(range(60))).splitlines()) == 50
    assert generic(["Meme", {"a": 1}]).startswith("[")
    assert generic([]) == "(empty)"


def test_a_list_is_a_table_under_at_most_six_scalars() -> None:
    rows = [{"symbol": "BTC", "streak": 3}]
    assert generic({"count": 1, "rows": rows}) == "count 1\nsymbol  streak\nBTC  3"
    assert generic({**dict.fromkeys("abcdefg", 1), "rows": rows}) == "symbol  streak\nBTC  3"


def test_the_first_list_by_name_hides_every_other_one() -> None:
    seen = generic({"coins": [{"symbol": "BTC"}], "sources": ["reuters"], "tags": [{"x": 1}]})
    assert seen == "reuters"
    assert generic({"active": [], "resolved": [{"id": 1}]}) == "(empty)"
    assert generic({"tags": [{"x": 1}], "words": ["y"]}) == "x\n1"


def test_an_object_without_a_list_is_lines_and_sections_and_raw_without_scalars() -> None:
    assert generic({"as_of": "now", "cap": {"market_cap_usd": 4.04e12}}) == "as_of  now\nCAP\nmarket_cap_usd  4.04T"
    assert generic({"cap": {"usd": 1}}).startswith("{")
    assert generic({f"k{i}": i for i in range(15)}).startswith("{")
    assert generic({"a": 1, "map": {f"k{i}": i for i in range(21)}}) == "a  1\nMAP\n21 keys"


def test_a_table_has_six_columns_of_scalars_the_known_names_first() -> None:
    row = {"streak": 3, "tags": ["x"], "name": "Bitcoin", "symbol": "BTC", **dict.fromkeys("abcd", 1)}
    assert table([row]).splitlines()[0] == "symbol  name  streak  a  b  c"
    assert table([{"name": "x" * 40}]).splitlines()[1] == "x" * 32


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("price", 118_700.0, "$118,700.00"),
        ("usd", 4_040_000_000_000, "$4,040,000,000,000.00"),
        ("market_cap_usd", 4.04e12, "4.04T"),
        ("marketCap", 2.36e12, "2.36T"),
        ("open_interest", 13_200, "13.20K"),
        ("change_24h_pct", 1.7, "1.70%"),
        ("fundingApr", 10.95, "10.95%"),
        ("percentile", 0.62, "62.0"),
        ("winRate", 0.55, "55.0%"),
        ("btc_correlation", 0.876, "0.88"),
        ("score", 0.25, "0.2"),
        ("priceRatio", 1.23456, "1.235"),
        ("streak", 12, "12"),
        ("ts", 1_795_376_884_000, "1.80T"),
        ("ok", True, "yes"),
        ("note", None, "—"),
        ("createdAt", "2026-11-22T14:00:00Z", "5h ago (2026-11-22T14:00:00Z)"),
        ("createdAt", "2026-10-22T14:00:00Z", "2026-10-22T14:00:00Z"),
        ("as_of", "2026-11-22T14:00:00Z", "2026-11-22T14:00:00Z"),
        ("updated_at", "soon", "soon"),
        ("date", "2026-11-21", "1d ago (2026-11-21)"),
    ],
)
def test_a_number_is_shown_as_the_words_of_its_key_say(key: str, value: object, shown: str) -> None:
    assert generic({key: value}, NOW_MS) == f"{key}  {shown}"


def test_a_coin_begins_with_its_current_trend_if_it_has_one() -> None:
    data = {"coin": {"id": "bitcoin"}, "trends": [{"trend": "UP", "streak": 3}], "average_streak": 6.2}
    current = {"trend": "UP", "since": "2026-11-19", "days": 3, "asOf": "2026-11-21"}
    lines = printed("coin/lookup", {**data, "currentTrend": current, "currentTrendWeekly": None}).splitlines()
    assert lines[:2] == ["current trend  UP since 2026-11-19 (3 days, as of 2026-11-21)", "average_streak 6.2"]
    weekly = {**current, "since": "2026-09-21"}
    seen = printed("coin/by-id/bitcoin", {**data, "currentTrend": current, "currentTrendWeekly": weekly})
    assert seen.splitlines()[0].endswith("   weekly UP since 2026-09-21")
    assert printed("coin/by-name/Bitcoin", data).startswith(
        "average_streak 6.2\ntrend  streak\nUP  3\nCOIN\nid  bitcoin"
    )


def test_prices_are_printed_by_coin_id_with_source_age_and_baselines() -> None:
    price = {"coinId": "bitcoin", "symbol": "BTC", "price": 118_700, "source": "hyperliquid", "ts": NOW_MS - 3_000}
    data = {"prices": {"bitcoin": price}, "ts": NOW_MS}
    assert printed("market/prices", data, NOW_MS) == "BITCOIN  $118,700  hyperliquid  3s ago"
    baselines = {"bitcoin": {"b4h": 118_500, "b24h": None, "b7d": 119_000}}
    assert printed("market/prices", {**data, "baselines": baselines}, NOW_MS).endswith("1.1850e+05  —  1.1900e+05")


def test_momentum_is_printed_by_whether_it_is_of_one_coin() -> None:
    market = {"temperature": "neutral", "avgApr": 9.7, "positive": 64, "negative": 16, "total": 80}
    of_all = printed("funding/momentum", {"market": market, "distribution": {"p10": -12, "p50": 10.95, "p90": 20}})
    assert of_all == "market neutral  avg 9.70%  64 positive, 16 negative of 80\np10 -12.00%  p50 10.95%  p90 20.00%"
    one = {"symbol": "BTC", "apr": 10.95, "percentile": 0.62, "tier": "neutral", "sizeMult": 1}
    assert printed("funding/momentum", one) == "BTC  10.95% APR  percentile 62  neutral  size x1\nundefined"


def test_matches_are_a_table_and_none_names_what_was_tried() -> None:
    match = {"id": "dogwifcoin", "symbol": "WIF", "name": "dogwifhat", "rank": 42, "via": "symbol-exact", "score": 1}
    seen = printed("resolve", {"query": "wif", "tried": ["symbol-exact"], "matches": [match], "note": "Also a stock."})
    assert seen == "Also a stock.\nsymbol  name  via  rank  assetType\nWIF  dogwifhat  symbol-exact  42  crypto"
    none = {"query": "zz", "tried": ["symbol-exact", "fuzzy"], "matches": []}
    assert printed("resolve", none) == "No match for zz (tried: symbol-exact, fuzzy)"
