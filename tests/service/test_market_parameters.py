"""What the data routes take: every parameter and its bounds, what is refused, and in which words."""

from typing import Any

import pytest

from service.clock import parse_iso
from tests.service.asking import L1, PRICED, Whole, category_names, escaped

pytestmark = pytest.mark.process

HISTORICAL = "coin/historical/BTC"

TAKEN = [
    f"{HISTORICAL}?count=1",
    f"{HISTORICAL}?count=1000",
    f"{HISTORICAL}?count=1000&unit=d",
    f"{HISTORICAL}?unit=h",
    "regime?action=active",
    "regime?action=signals&symbol=BTC",
    "regime?symbol=eth",
    "rwa/assets?type=equity",
    "rwa/assets?dex=xyz",
    "rwa/assets?top=1",
    "rwa/assets?top=1000",
    "market/health?context=0",
    "market/health?context=1",
    "funding/alerts?limit=1",
    "funding/alerts?limit=200",
    "funding/alerts?symbol=btc&since=2025-07-20T00:00:00Z&limit=3",
    "funding/alerts?since=2025-07-20T02:00:00.5%2B02:00",
    "signal/btc",
    "signal/BTC?as_of=2025-07-25T23:59:59.999Z",
    "signal/BTC?as_of=2025-07-26T01:59:59.999%2B02:00",
    "walkforward?action=signals&limit=1",
    "walkforward?action=positions&limit=200",
    "walkforward?action=outcomes&symbol=btc",
    f"transcripts?coin=btc&sector={L1}&macro=rates&source=macro-hour&since=2025-07-20T00:00:00Z&limit=1",
    "transcripts?action=sources&limit=200",
]

REFUSED = [
    *((f"{HISTORICAL}?count={count}", "count") for count in ("0", "1001", "-1", "1.0", "x", "", "1e2", "%D9%A1")),
    *((f"{HISTORICAL}?unit={unit}", "unit") for unit in ("H", "D", "hour", "w", "")),
    *((f"regime?action={action}", "action") for action in ("Active", "ACTIVE", "all", "")),
    *((f"regime?symbol={symbol}", "symbol") for symbol in ("BTC-USD", "", "B" * 21)),
    *((f"rwa/assets?type={kind}", "type") for kind in ("Equity", "stocks", "crypto", "")),
    *((f"rwa/assets?dex={dex}", "dex") for dex in ("XYZ", "flx", "")),
    *((f"rwa/assets?top={top}", "top") for top in ("0", "1001", "all")),
    *((f"market/health?context={flag}", "context") for flag in ("2", "true", "01", "-0", "")),
    *((f"funding/alerts?limit={limit}", "limit") for limit in ("0", "201", "ten")),
    *((f"funding/alerts?since={since}", "since") for since in ("2025-07-20", "yesterday", "2025-02-30T00:00:00Z")),
    *((f"funding/alerts?cursor={cursor}", "cursor") for cursor in ("abc", "AAAB" * 10, "a%20b", "")),
    *((f"signal/BTC?as_of={then}", "as_of") for then in ("2025-07-20", "1753444800", "2025-07-26T00:00:00Z", "")),
    *((f"walkforward?action={action}", "action") for action in ("Signals", "trades", "")),
    *((f"walkforward?limit={limit}", "limit") for limit in ("0", "201", "ten")),
    *((f"walkforward?cursor={cursor}", "cursor") for cursor in ("abc", "AAAB" * 10, "")),
    *((f"transcripts?action={action}", "action") for action in ("Highlights", "all", "")),
    *((f"transcripts?macro={topic}", "macro") for topic in ("Rates", "weather", "")),
    *((f"transcripts?source={source}", "source") for source in ("Macro-Hour", "-a", "a%0A", "..%2Fx", "")),
    *(
        (f"transcripts?since={since}", "since")
        for since in ("2025-07-20", "9999-12-31T23:59:59Z", "2025-02-30T00:00:00Z")
    ),
    *((f"transcripts?cursor={cursor}", "cursor") for cursor in ("abc", "AAAB" * 10, "")),
    *((f"wallets?contract={address}&action=movements", "contract") for address in ("0x1", "1" * 40, "0x" + "g" * 40)),
    ("walkforward?symbol=BTC%2FUSD", "symbol"),
    ("signal/BTC-USD", "symbol"),
    ("funding/alerts?symbol=BTC%2FUSD", "symbol"),
    ("coin/risk/BTC-USD", "symbol"),
    ("coin/historical/%C3%89TH", "symbol"),
    ("rwa/symbol/xyz:AAPL:1", "symbol"),
    ("rwa/symbol/:AAPL", "symbol"),
    (f"category/info/{'a' * 101}", "name"),
    (f"category/sentiment/{'a' * 101}", "name"),
]

ENUMERATED = {
    f"{HISTORICAL}?unit=w": ["h", "d"],
    "regime?action=all": ["active", "signals", "confidence", "history"],
    "walkforward?action=all": ["signals", "positions", "outcomes"],
    "rwa/assets?type=crypto": ["equity", "etf", "metal", "commodity", "index", "fx"],
    "rwa/assets?dex=flx": ["xyz"],
    "transcripts?action=all": ["highlights", "sources"],
    "wallets?action=all": ["watchlist", "movements"],
}


def refusal(market: Whole, target: str) -> Any:
    reply = market.pro.ask(target)
    assert (reply.status, reply.code) == (400, "BAD_REQUEST"), reply.body
    assert list(reply.body) == ["schemaVersion", "error"]
    return reply.body["error"]


@pytest.mark.promise(
    "historical.bounds", "historical.parameters", "regime.actions", "rwa.assets-parameters", "health.flag",
    "alerts.parameters", "walkforward.actions", "walkforward.parameters", "signal.as-of-replay",
)  # fmt: skip
@pytest.mark.parametrize("target", TAKEN)
def test_what_is_within_bounds_is_taken(market: Whole, target: str) -> None:
    assert market.pro.whole(target)["schemaVersion"] == 1


@pytest.mark.promise("errors.bad-request-parameter", "parameters.enumerations", "historical.bounds")
@pytest.mark.parametrize(("target", "parameter"), REFUSED)
def test_what_is_out_of_bounds_is_refused_and_named(market: Whole, target: str, parameter: str) -> None:
    error = refusal(market, target)
    assert error["details"]["parameter"] == parameter
    assert parameter in error["message"]


@pytest.mark.promise("errors.bad-request-parameter", "parameters.enumerations")
@pytest.mark.parametrize("target", ENUMERATED)
def test_a_choice_is_refused_with_what_there_is_to_choose_from(market: Whole, target: str) -> None:
    error = refusal(market, target)
    assert error["details"]["allowed"] == ENUMERATED[target]
    assert all(choice in error["message"] for choice in ENUMERATED[target])


@pytest.mark.promise("parameters.exact")
@pytest.mark.parametrize("target", PRICED.values())
def test_a_parameter_nobody_knows_is_refused_and_named(market: Whole, target: str) -> None:
    error = refusal(market, f"{target}{'&' if '?' in target else '?'}colour=blue")
    assert error["details"]["parameter"] == "colour"
    assert error["message"].startswith("colour is not a parameter of this route. It takes ")


@pytest.mark.promise("parameters.exact")
@pytest.mark.parametrize(
    ("target", "parameter"),
    [
        (f"{HISTORICAL}?count=1&count=1", "count"),
        ("regime?action=active&action=signals", "action"),
        ("rwa/assets?top=5&type=fx&top=6", "top"),
        ("market/health?context=1&context=1", "context"),
        ("funding/alerts?limit=1&symbol=BTC&limit=1", "limit"),
        ("coin/historical/BTC?symbol=ETH", "symbol"),
        ("signal/BTC?symbol=ETH", "symbol"),
        ("signal/BTC?as_of=2025-07-25T23:59:59Z&as_of=2025-07-25T23:59:59Z", "as_of"),
        ("walkforward?limit=1&limit=1", "limit"),
        (f"category/info/{L1}?name=Meme", "name"),
    ],
)
def test_a_parameter_that_is_given_twice_is_refused_and_named(market: Whole, target: str, parameter: str) -> None:
    assert refusal(market, target)["details"]["parameter"] == parameter


@pytest.mark.promise("regime.required", "errors.required-by", "regime.actions")
def test_what_an_action_requires_is_told_with_the_action(market: Whole) -> None:
    error = refusal(market, "regime?action=history")
    assert error == {
        "code": "BAD_REQUEST",
        "message": "symbol is required when action=history.",
        "details": {"parameter": "symbol"},
    }


@pytest.mark.promise("errors.candidates", "symbols.case")
@pytest.mark.parametrize(
    ("target", "candidate"),
    [
        ("coin/risk/BTCC", "BTC"),
        ("coin/historical/ETHH", "ETH"),
        ("coin/historical/pepee?unit=d", "PEPE"),
        ("regime?symbol=SOLL", "SOL"),
        ("regime?action=history&symbol=DOGEE", "DOGE"),
        ("funding/alerts?symbol=LINKK", "LINK"),
        ("signal/BTCC", "BTC"),
        ("signal/pepee", "PEPE"),
        ("walkforward?symbol=SOLL", "SOL"),
        ("rwa/symbol/AAPLE", "AAPL"),
        ("rwa/symbol/xyz:GOLDEN", "GOLD"),
    ],
)
def test_an_unknown_symbol_is_told_with_the_one_that_was_meant(market: Whole, target: str, candidate: str) -> None:
    reply = market.pro.ask(target)
    assert (reply.status, reply.code) == (404, "UNKNOWN_SYMBOL")
    assert candidate in reply.body["error"]["details"]["candidates"]
    assert candidate in reply.body["error"]["message"]


@pytest.mark.promise("rwa.no-wrappers")
@pytest.mark.parametrize("symbol", ["BTC", "xyz:HYPE", "HYPE"])
def test_crypto_is_no_real_world_asset_wherever_it_is_wrapped(market: Whole, symbol: str) -> None:
    assert market.pro.ask(f"rwa/symbol/{symbol}").code == "UNKNOWN_SYMBOL"


@pytest.mark.promise("errors.unknown-category", "category.exact-name")
@pytest.mark.parametrize("route", ["info", "sentiment"])
@pytest.mark.parametrize(
    ("name", "candidate"),
    [
        ("layer 1 (l1)", "Layer 1 (L1)"),
        ("Layer 1", "Layer 1 (L1)"),
        ("MEME", "Meme"),
        ("Memes", "Meme"),
        ("DeFi", "Decentralized Finance (DeFi)"),
        ("Lending", "Lending/Borrowing"),
    ],
)
def test_a_category_is_exact_and_another_is_told_with_the_closest(
    market: Whole, route: str, name: str, candidate: str
) -> None:
    reply = market.pro.ask(f"category/{route}/{escaped(name)}")
    assert (reply.status, reply.code) == (404, "UNKNOWN_CATEGORY")
    assert candidate in reply.body["error"]["details"]["candidates"]
    assert candidate in reply.body["error"]["message"]


@pytest.mark.parametrize("route", ["info", "sentiment"])
@pytest.mark.parametrize("path", ["%00", "%E2%80%AE", "a%0Ab", "%FF", "%", "%F3%B3%95%9C"])
def test_a_name_that_cannot_be_written_is_refused(market: Whole, route: str, path: str) -> None:
    assert refusal(market, f"category/{route}/{path}")["message"].startswith("The path contains")


@pytest.mark.parametrize("route", ["info", "sentiment"])
@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "'; DROP TABLE documents; --", "{{7*7}}", "日本"])
def test_a_name_that_was_made_to_hurt_is_one_more_unknown_name(market: Whole, route: str, name: str) -> None:
    reply = market.pro.ask(f"category/{route}/{escaped(name)}")
    assert (reply.status, reply.code) == (404, "UNKNOWN_CATEGORY")
    assert reply.fields["content-type"] == "application/json"


@pytest.mark.promise("category.exact-name", "category.info-payload", "category.sentiment-payload")
@pytest.mark.parametrize("name", category_names())
def test_every_category_answers_under_its_exact_name(market: Whole, name: str) -> None:
    info, sentiment = (market.pro.data(f"category/{route}/{escaped(name)}") for route in ("info", "sentiment"))
    assert info["name"] == sentiment["name"] == name
    assert [coin["symbol"] for coin in info["coins"]] == [coin["symbol"] for coin in sentiment["coins"]]


@pytest.mark.parametrize("path", [L1, "Layer%201%20(L1)", "%4Cayer%201%20%28L1%29"])
def test_a_name_may_be_escaped_as_much_as_one_likes(market: Whole, path: str) -> None:
    assert market.pro.data(f"category/info/{path}")["name"] == "Layer 1 (L1)"
    assert market.pro.ask(f"category/info/{path}".replace("%20", "+")).code == "UNKNOWN_CATEGORY"


@pytest.mark.promise("symbols.case", "symbols.venue", "rwa.symbol-forms")
@pytest.mark.parametrize(
    ("target", "field", "symbol"),
    [
        ("coin/risk/btc", "symbol", "BTC"),
        ("coin/risk/kpepe", "symbol", "PEPE"),
        ("coin/historical/KPEPE", "symbol", "PEPE"),
        ("coin/historical/eTh?unit=d&count=2", "symbol", "ETH"),
        ("regime?action=history&symbol=sol", "symbol", "SOL"),
        ("signal/kpepe", "symbol", "PEPE"),
        ("rwa/symbol/aapl", "id", "xyz:AAPL"),
        ("rwa/symbol/XYZ:Gold", "id", "xyz:GOLD"),
        ("rwa/symbol/GOLD", "symbol", "GOLD"),
    ],
)
def test_a_symbol_in_any_case_is_answered_in_its_own(market: Whole, target: str, field: str, symbol: str) -> None:
    assert market.pro.data(target)[field] == symbol


@pytest.mark.promise("alerts.parameters", "cursors.foreign")
def test_pages_of_alerts_follow_each_other_without_a_gap(market: Whole) -> None:
    whole = market.pro.data("funding/alerts?limit=200")["events"]
    pages: list[Any] = []
    cursor = ""
    for _ in range(8):
        page = market.pro.data(f"funding/alerts?limit=7{f'&cursor={cursor}' if cursor else ''}")
        pages += page["events"]
        cursor = page["meta"]["next_cursor"]
    assert pages == whole[: 8 * 7]
    flipped = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    for foreign in (f"funding/alerts?cursor={flipped}", f"funding/alerts?symbol=BTC&cursor={cursor}"):
        error = refusal(market, foreign)
        assert error["message"].startswith("This cursor does not belong to this route")
        assert error["details"] == {"parameter": "cursor"}


@pytest.mark.promise("alerts.recent", "alerts.parameters")
def test_alerts_are_of_the_coin_and_the_time_that_were_asked_for_newest_first(market: Whole) -> None:
    events = market.pro.data("funding/alerts?limit=200")["events"]
    assert [event["firedAt"] for event in events] == sorted((event["firedAt"] for event in events), reverse=True)
    asset, since = events[0]["asset"], events[20]["firedAt"]
    of_coin = market.pro.data(f"funding/alerts?symbol={asset}&limit=200")["events"]
    assert {event["asset"] for event in of_coin} == {asset}
    recent = market.pro.data(f"funding/alerts?since={since}&limit=200")
    assert recent["events"] == [event for event in events if event["firedAt"] >= since]
    assert recent["meta"]["total"] == len(recent["events"])


@pytest.mark.promise("rwa.assets-parameters")
def test_assets_are_those_of_the_type_and_as_many_as_were_asked_for(market: Whole) -> None:
    everything = market.pro.data("rwa/assets")
    assert everything["count"] == len(everything["assets"])
    assert market.pro.data("rwa/assets?top=3") == {
        "count": everything["count"],
        "assets": everything["assets"][:3],
    }
    by_type = [market.pro.data(f"rwa/assets?type={kind}")["assets"] for kind in ENUMERATED["rwa/assets?type=crypto"]]
    assert all(by_type)
    assert sorted(asset["id"] for assets in by_type for asset in assets) == sorted(
        asset["id"] for asset in everything["assets"]
    )


@pytest.mark.promise("historical.payload", "historical.bounds")
@pytest.mark.parametrize(("unit", "step_ms"), [("h", 3_600_000), ("d", 86_400_000)])
@pytest.mark.parametrize("count", [1, 24, 500])
def test_history_goes_back_as_many_bars_as_were_asked_for(market: Whole, unit: str, step_ms: int, count: int) -> None:
    said = market.pro.whole(f"coin/historical/SOL?count={count}&unit={unit}")
    series = said["data"]["series"]
    times = [parse_iso(point["t"]) for point in series]
    assert (said["data"]["count"], said["data"]["unit"], len(series)) == (count, unit, count)
    assert times == list(range(times[0], times[0] + count * step_ms, step_ms))
    assert series[-1]["t"] == said["meta"]["as_of"]
    then_ms = parse_iso(said["meta"]["ts"]) - count * step_ms
    assert then_ms - step_ms <= parse_iso(said["data"]["at"]["as_of"]) <= then_ms
