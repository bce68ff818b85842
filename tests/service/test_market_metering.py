"""What the data routes cost: one question an answer, nothing for a mistake, half a cent or five once they are spent."""

import base64
import json

import pytest

from tests.service.asking import PRICED, ROUTES, Caller, Whole

pytestmark = pytest.mark.process

OF_LOOKUPS_S = (15, 15, 15, 15, 300, 15, 3600, 300, 30)
REFRESH_S = dict(
    zip(
        PRICED,
        (15, 15, 300, 15, 600, 300, 300, *OF_LOOKUPS_S, 30, 3600, 300, 300, 60, 1800, 60, 600, 600, 600, 3600, 3600),
        strict=True,
    )
)
CENTS = dict.fromkeys(PRICED, ("0.005", "5000")) | {"walkforward": ("0.05", "50000")}
"""Price of a call, in USDC and in its smallest units."""

MISTAKES = {
    **{f"{target}{'&' if '?' in target else '?'}colour=blue": (400, "BAD_REQUEST") for target in PRICED.values()},
    "coin/risk/NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "coin/historical/NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "coin/historical/BTC?count=0": (400, "BAD_REQUEST"),
    "signal/NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "signal/NOWHERE?as_of=2025-07-25T12:00:00Z": (404, "UNKNOWN_SYMBOL"),
    "signal/BTC?as_of=yesterday": (400, "BAD_REQUEST"),
    "signal/BTC?as_of=2025-02-30T00:00:00Z": (400, "BAD_REQUEST"),
    "signal/BTC?as_of=2025-07-26T00:00:00Z": (400, "BAD_REQUEST"),
    "signal/BTC?as_of=2025-07-20T00:00:00Z": (404, "NOT_FOUND"),
    "walkforward?action=trades": (400, "BAD_REQUEST"),
    "walkforward?cursor=AAAB": (400, "BAD_REQUEST"),
    "walkforward?symbol=NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "signal-quality": (400, "BAD_REQUEST"),
    "signal-quality?asset=BTC&signal_type=momentum": (400, "BAD_REQUEST"),
    "signal-quality?asset=NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "coin/lookup": (400, "BAD_REQUEST"),
    "coin/lookup?symbol=BTC&interval=1d": (400, "BAD_REQUEST"),
    "coin/lookup?symbol=NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "coin/by-id/no-such-coin": (404, "UNKNOWN_SYMBOL"),
    "coin/by-name/No%20Such%20Coin": (404, "UNKNOWN_SYMBOL"),
    "coin/by-contract/0x514910771AF9CA656af840dff83E8264EcF986CA": (400, "BAD_REQUEST"),
    "coin/by-contract/0x514910771AF9CA656af840dff83E8264EcF986CA?chain=nowhere": (400, "BAD_REQUEST"),
    f"coin/by-contract/0x{'1' * 40}?chain=ethereum": (404, "NOT_FOUND"),
    "resolve": (400, "BAD_REQUEST"),
    "resolve?q=": (400, "BAD_REQUEST"),
    "resolve?q=btc&limit=51": (400, "BAD_REQUEST"),
    "market/prices?symbols=NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "market/prices?baselines=2": (400, "BAD_REQUEST"),
    "market/baselines?horizons=1h": (400, "BAD_REQUEST"),
    "market/global?symbols=BTC": (400, "BAD_REQUEST"),
    "rwa/asset/xyz%3ANOWHERE": (404, "UNKNOWN_SYMBOL"),
    "coins?limit=1001": (400, "BAD_REQUEST"),
    "coins?fields=colour": (400, "BAD_REQUEST"),
    "coins?cursor=AAAB": (400, "BAD_REQUEST"),
    "coins?symbols=BTC,NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "coins?category=Nowhere": (404, "UNKNOWN_CATEGORY"),
    "category/info/Nowhere": (404, "UNKNOWN_CATEGORY"),
    "category/sentiment/Nowhere": (404, "UNKNOWN_CATEGORY"),
    "regime?action=history": (400, "BAD_REQUEST"),
    "regime?action=history&symbol=NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "rwa/symbol/NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "rwa/assets?type=crypto": (400, "BAD_REQUEST"),
    "market/health?context=2": (400, "BAD_REQUEST"),
    "funding/alerts?cursor=AAAB": (400, "BAD_REQUEST"),
    "funding/alerts?symbol=NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "transcripts?action=all": (400, "BAD_REQUEST"),
    "transcripts?action=sources&macro=rates": (400, "BAD_REQUEST"),
    "transcripts?cursor=AAAB": (400, "BAD_REQUEST"),
    "transcripts?coin=NOWHERE": (404, "UNKNOWN_SYMBOL"),
    "transcripts?sector=Nowhere": (404, "UNKNOWN_CATEGORY"),
    "transcripts?source=nobody": (404, "NOT_FOUND"),
    "wallets?action=movements": (400, "BAD_REQUEST"),
    f"wallets?contract=0x{'1' * 40}": (400, "BAD_REQUEST"),
}

READ_FROM_THE_STORE = (
    "funding/alerts?cursor=AAAB",
    "signal/BTC?as_of=2025-07-20T00:00:00Z",
    "walkforward?cursor=AAAB",
    "transcripts?cursor=AAAB",
)
"""What only a route that reads the store can find out: a question is reserved before anything is read for it."""


@pytest.fixture
def caller(market: Whole) -> Caller:
    """Somebody new with ten questions."""
    return market.caller(market.service.make_key())


def left(fields: dict[str, str]) -> int:
    """Questions that are left, as an answer says it."""
    name, _, rest = fields["ratelimit"].partition(";r=")
    assert name == '"questions"'
    return int(rest.partition(";")[0])


@pytest.mark.promise(
    "quota.every-call", "meter.once", "pay.priced-counted", "quota.402", "price.data-call", "price.walkforward",
    "mood.price",
)  # fmt: skip
def test_ten_routes_take_ten_questions_and_then_each_asks_for_its_price(caller: Caller) -> None:
    answers = [caller.ask(target) for target in list(ROUTES.values())[:10]]
    assert [answer.status for answer in answers] == [200] * 10
    assert [left(answer.fields) for answer in answers] == list(range(9, -1, -1))
    for offer, target in PRICED.items():
        usdc, atomic = CENTS[offer]
        spent = caller.ask(target)
        assert (spent.status, spent.code) == (402, "PAYMENT_REQUIRED"), offer
        assert spent.body["gate"]["this_query"] == {"route": offer, "price_usdc": usdc}
        assert spent.body["gate"]["quota"] == {
            "used": 10,
            "limit": 10,
            "remaining": 0,
            "period": "lifetime",
            "wall": "grant",
        }
        (accepted,) = spent.body["accepts"]
        assert accepted["maxAmountRequired"] == atomic
        assert accepted["resource"].endswith(f"/api/cli/{target}")
        second = json.loads(base64.b64decode(spent.fields["payment-required"]))
        assert [row["amount"] for row in second["accepts"]] == [atomic]


@pytest.mark.promise("meter.errors-free", "meter.order")
def test_a_mistake_costs_nothing_and_is_told_also_to_somebody_who_has_no_question_left(caller: Caller) -> None:
    for target, refused in MISTAKES.items():
        reply = caller.ask(target)
        assert (reply.status, reply.code) == refused, target
    assert left(caller.ask("rwa/assets").fields) == 9
    for target in list(ROUTES.values())[:9]:
        assert caller.ask(target).status == 200
    assert caller.ask("rwa/assets").status == 402
    answered = {target: caller.ask(target) for target in MISTAKES}
    told = {target: (reply.status, reply.code) for target, reply in answered.items()}
    assert told == MISTAKES | dict.fromkeys(READ_FROM_THE_STORE, (402, "PAYMENT_REQUIRED"))


@pytest.mark.promise("meter.head-free")
def test_a_head_is_the_answer_without_its_body_and_costs_nothing(caller: Caller) -> None:
    for target in PRICED.values():
        head = caller.ask(target, "HEAD")
        assert (head.status, head.raw) == (200, b""), target
        assert int(head.fields["content-length"]) > 0
    assert left(caller.ask("coin/risk/BTC").fields) == 9


@pytest.mark.promise("errors.405-allow")
@pytest.mark.parametrize("target", PRICED.values())
def test_nothing_but_reading_is_allowed(market: Whole, target: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        reply = market.pro.ask(target, method)
        assert (reply.status, reply.code) == (405, "METHOD_NOT_ALLOWED")
        assert reply.fields["allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.promise("routes.token", "auth.none-403", "auth.malformed-401")
@pytest.mark.parametrize("target", PRICED.values())
def test_nobody_is_answered_without_a_good_token(market: Whole, target: str) -> None:
    status, _, body = market.service.ask(f"/api/cli/{target}")
    assert (status, body["error"]["code"]) == (403, "AUTH_REQUIRED")
    reply = market.caller("verdict_sk_nonsense").ask(target)
    assert (reply.status, reply.code) == (401, "AUTH_INVALID")


@pytest.mark.promise(
    "manifest.lists-priced", "price.data-call", "risk.refresh", "historical.as-of", "category.sentiment-as-of",
    "category.info-as-of", "regime.as-of", "rwa.symbol-as-of", "health.as-of", "crossing.as-of", "alerts.as-of",
    "signal.as-of", "walkforward.as-of", "price.walkforward", "walkforward.parameters",
)  # fmt: skip
def test_the_manifest_lists_them_with_price_interval_and_parameters(market: Whole) -> None:
    routes = market.pro.data("manifest")["routes"]
    priced = {route["id"]: route for route in routes if route["id"] in PRICED}
    assert {offer: route["refresh_seconds"] for offer, route in priced.items()} == REFRESH_S
    for offer, route in priced.items():
        assert (route["method"], route["price_usdc"], route["price_atomic"]) == ("GET", *CENTS[offer])
        assert route["streaming"] is False
    taken = {offer: [row["name"] for row in route["parameters"]] for offer, route in priced.items()}
    assert taken == {
        "coin.risk": ["symbol"],
        "coin.lookup": ["symbol"],
        "coin.by-id": ["id"],
        "coin.by-name": ["name"],
        "coin.by-contract": ["address", "chain"],
        "resolve": ["q", "limit"],
        "market.prices": ["symbols", "baselines"],
        "market.baselines": ["symbols", "horizons"],
        "market.global": [],
        "rwa.asset": ["id"],
        "coin.historical": ["symbol", "count", "unit"],
        "signal": ["symbol", "as_of", "detail"],
        "category.sentiment": ["name"],
        "coin.sentiment": ["symbol"],
        "sentiment": ["action", "symbol", "name"],
        "narratives": [],
        "category.info": ["name"],
        "regime": ["action", "symbol"],
        "rwa.symbol": ["symbol"],
        "rwa.assets": ["type", "dex", "top"],
        "market.health": ["context"],
        "market.crossing": [],
        "funding.alerts": ["symbol", "since", "limit", "cursor"],
        "transcripts": ["action", "coin", "sector", "macro", "source", "since", "limit", "cursor"],
        "wallets": ["action", "contract", "address", "limit", "cursor"],
        "walkforward": ["action", "symbol", "limit", "cursor"],
        "signal.quality": ["asset", "signal_type"],
        "coins": [
            "fields",
            "sort",
            "order",
            "limit",
            "cursor",
            "category",
            "trend",
            "verdict",
            "min_volume",
            "symbols",
        ],
    }
    defaults = {
        (offer, row["name"]): row["schema"]["default"]
        for offer, route in priced.items()
        for row in route["parameters"]
        if row["schema"].get("default") is not None
    }
    assert defaults == {
        ("sentiment", "action"): "market",
        ("coin.historical", "count"): 24,
        ("coin.historical", "unit"): "h",
        ("resolve", "limit"): 5,
        ("market.prices", "baselines"): 0,
        ("regime", "action"): "active",
        ("rwa.assets", "top"): 200,
        ("market.health", "context"): 0,
        ("funding.alerts", "limit"): 50,
        ("signal", "detail"): "full",
        ("coins", "sort"): "rank",
        ("coins", "limit"): 100,
        ("signal.quality", "signal_type"): "mean_reversion",
        ("walkforward", "action"): "signals",
        ("walkforward", "limit"): 50,
        ("transcripts", "action"): "highlights",
        ("transcripts", "limit"): 50,
        ("wallets", "action"): "watchlist",
        ("wallets", "limit"): 50,
    }
