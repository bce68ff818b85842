"""The one table of offers against the list of promised routes."""

import re

import msgspec
import pytest

from service.errors import STATUS
from service.wire.market import RiskContext
from service.wire.offer import DATA_CALL, DEAR_CALL, Offer
from service.wire.offers import OFFERS, QUESTION, WATCH
from service.wire.queries import NoParameters, OfSymbol
from service.wire.schema import components, parameter_rows, path_fields


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_every_field_of_a_path_is_a_required_parameter(offer: Offer) -> None:
    rows = {row.name: row for row in parameter_rows(offer)}
    assert path_fields(offer.path) <= rows.keys()
    for name, row in rows.items():
        assert row.location == ("path" if name in path_fields(offer.path) else "query")
        assert row.required or row.location == "query"


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_what_a_route_takes_is_exact(offer: Offer) -> None:
    for kind in filter(None, (offer.parameters, offer.body)):
        assert kind.__struct_config__.forbid_unknown_fields, kind


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_every_code_of_an_offer_is_in_the_closed_table(offer: Offer) -> None:
    assert set(offer.also) <= STATUS.keys()


def test_ids_and_routes_are_unique() -> None:
    assert len({offer.id for offer in OFFERS}) == len(OFFERS)
    assert len({(offer.method, re.sub(r"{\w+}", "{}", offer.path)) for offer in OFFERS}) == len(OFFERS)


@pytest.mark.promise("routes.under-api-cli", "routes.get")
def test_data_routes_lie_under_api_cli_and_are_gets() -> None:
    for offer in OFFERS:
        if offer.counted:
            assert offer.path.startswith("/api/cli")
            assert offer.method == ("POST" if offer is QUESTION else "GET")


@pytest.mark.promise("price.data-call")
def test_prices_are_half_a_cent_or_five_cents() -> None:
    assert (DATA_CALL, DEAR_CALL) == (5_000, 50_000)
    assert {offer.price for offer in OFFERS} <= {0, DATA_CALL, DEAR_CALL}
    assert next(offer for offer in OFFERS if offer.id == "coin.risk").price_usdc == "0.005"


REFRESH_S = {
    "question": None,
    "coin.risk": 15,
    "coin.historical": 300,
    "category.sentiment": 600,
    "coin.sentiment": 600,
    "narratives": 600,
    "sentiment": 600,
    "category.info": 300,
    "regime": 300,
    "coin.lookup": 15,
    "coin.by-id": 15,
    "coin.by-name": 15,
    "coin.by-contract": 15,
    "resolve": 300,
    "market.prices": 15,
    "market.baselines": 3600,
    "market.global": 300,
    "rwa.asset": 30,
    "rwa.symbol": 30,
    "rwa.assets": 3600,
    "market.health": 300,
    "market.crossing": 300,
    "funding.alerts": 60,
    "coins": 15,
    "signal": 15,
    "walkforward": 3600,
    "signal.quality": 3600,
    "transcripts": 1800,
    "wallets": 60,
    "watch": None,
}
"""The promised routes, written out once more."""


@pytest.mark.promise("price.data-call", "risk.refresh")
@pytest.mark.promise("price.walkforward", "question.price", "surface.metered")
def test_data_calls_cost_half_a_cent_walkforward_and_questions_five_and_are_as_fresh_as_the_contract_says() -> None:
    offered = {offer.id: offer for offer in OFFERS if offer.counted}
    assert {name: offer.refresh_seconds for name, offer in offered.items()} == REFRESH_S
    for dear in (offered.pop("walkforward"), offered.pop("question")):
        assert (dear.price, dear.price_usdc) == (DEAR_CALL, "0.05")
    assert offered.pop("watch").price == 0
    assert {offer.price for offer in offered.values()} == {DATA_CALL}


@pytest.mark.promise("errors.candidates", "errors.unknown-category")
def test_a_route_that_takes_a_name_may_say_that_it_is_unknown_and_every_data_route_that_an_upstream_failed() -> None:
    for offer in OFFERS:
        names = {row.name for row in parameter_rows(offer)} if offer.counted else set()
        if offer.id == "alerts.create":
            names = {"symbol"}  # in the text of its rule
        if offer.id in {"coin.by-id", "coin.by-name", "rwa.asset"}:
            names = {"symbol"}  # by another name of it
        assert ("UNKNOWN_SYMBOL" in offer.also) == bool({"symbol", "symbols", "coin", "asset"} & names)
        assert ("UNKNOWN_CATEGORY" in offer.also) == bool({"name", "sector", "category"} & names)
        assert ("UNKNOWN_STREAM" in offer.also) == ("stream" in names)
        assert {"UPSTREAM_4XX", "UPSTREAM_5XX"} <= set(offer.also) or not offer.payable


@pytest.mark.promise("manifest.free", "tier.free")
def test_manifest_and_tier_are_free_and_uncounted() -> None:
    for offer in OFFERS:
        if offer.id in {"manifest", "billing.tier"}:
            assert (offer.price, offer.counted, offer.payable) == (0, False, False)


@pytest.mark.promise("pay.priced-counted")
@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_what_is_counted_as_a_question_has_a_price_and_what_is_not_has_none(offer: Offer) -> None:
    assert offer.counted == (offer.price > 0 or offer.streaming)
    assert offer.payable == (offer.price > 0 and not offer.streaming)
    assert (offer.price_usdc == "0") == (offer.price == 0)


@pytest.mark.promise("routes.token", "manifest.public")
def test_the_manifest_alone_of_the_data_routes_is_public() -> None:
    public = {offer.id for offer in OFFERS if offer.gate == "public" and offer.path.startswith("/api/cli/")}
    assert public == {"manifest"}


@pytest.mark.promise("question.failure", "question.device-once")
def test_the_question_alone_may_be_asked_without_a_token_and_fails_without_codes() -> None:
    assert [offer for offer in OFFERS if offer.gate == "question"] == [QUESTION]
    assert [offer for offer in OFFERS if offer.bare_errors] == [QUESTION]
    assert (QUESTION.method, QUESTION.path) == ("POST", "/api/cli")
    assert QUESTION.forms == ("text/plain", "text/event-stream", "application/json")
    assert QUESTION.body is not None
    assert QUESTION.body.__struct_encode_fields__ == (
        "messages",
        "walletAddress",
        "deviceId",
        "raw",
        "archetype",
        "commandContext",
    )


@pytest.mark.promise("watch.not-payable")
def test_a_stream_is_counted_and_never_payable() -> None:
    assert [offer for offer in OFFERS if offer.streaming] == [WATCH]
    assert (WATCH.counted, WATCH.payable) == (True, False)
    stream = Offer(id="w", path="/w", summary="W", result=NoParameters, streaming=True)
    assert (stream.counted, stream.payable) == (True, False)
    assert not Offer(id="w", path="/w", summary="W", result=NoParameters, streaming=True, price=DATA_CALL).payable


@pytest.mark.promise("risk.fields", "risk.more-fields")
def test_the_fields_of_risk_stand_in_the_contracts_order() -> None:
    assert RiskContext.__struct_encode_fields__ == (
        "symbol",
        "price",
        "funding_apr",
        "trend_daily",
        "trend_weekly",
        "sentiment_stance",
        "btc_correlation",
        "_stale_fields",
        "trend_daily_since",
        "trend_weekly_since",
        "funding_paying_side",
        "funding_receiving_side",
        "carry_if_long",
        "carry_if_short",
        "sentiment_summary",
        "venue",
        "venue_symbol",
        "contract_size",
    )


def test_a_route_without_parameters_has_no_rows() -> None:
    assert parameter_rows(Offer(id="n", path="/n", summary="N", result=NoParameters)) == []
    (row,) = parameter_rows(Offer(id="r", path="/{symbol}", summary="R", result=NoParameters, parameters=OfSymbol))
    assert (row.name, row.schema["type"], row.schema["examples"]) == ("symbol", "string", ["BTC"])


def test_descriptions_are_unindented_and_tuples_become_lists() -> None:
    class Described(msgspec.Struct):
        """First.

        Second.
        """

        pair: tuple[int, str]

    (reference,), named = components([Described])
    assert reference == {"$ref": "#/components/schemas/Described"}
    assert named["Described"]["description"] == "First.\n\nSecond."
    assert named["Described"]["properties"]["pair"]["prefixItems"] == [{"type": "integer"}, {"type": "string"}]


NAMED = re.findall(
    r"\S+",
    """
    /api/cli /api/cli/manifest /api/cli/billing/tier /api/cli/coin/risk/{} /api/cli/coin/historical/{}
    /api/cli/walkforward /api/cli/transcripts /api/cli/signal/{} /api/cli/wallets /api/cli/category/sentiment/{}
    /api/cli/category/info/{} /api/cli/regime /api/cli/rwa/symbol/{} /api/cli/rwa/assets /api/cli/market/health
    /api/cli/market/crossing /api/cli/funding/alerts /api/cli/watch/{} /api/auth/nonce /api/auth/login
    /api/auth/logout /api/keys /api/keys/rotate /api/receipts /api/receipts/{} /api/cli/coin/lookup
    /api/cli/coin/by-id/{} /api/cli/coin/by-name/{} /api/cli/coin/by-contract/{} /api/cli/coin/sentiment/{}
    /api/cli/resolve /api/cli/trends /api/cli/scan /api/cli/sentiment /api/cli/narratives /api/cli/category/list
    /api/cli/category/coins/{} /api/cli/funding/momentum /api/cli/pairs /api/cli/futures /api/cli/holders
    /api/cli/basket /api/cli/signal-quality /api/cli/market/prices /api/cli/market/baselines
    /api/cli/market/global /api/cli/rwa/asset/{} /api/cli/coins
    /api/alerts /api/alerts/deliveries /api/alerts/test
    """,
)


@pytest.mark.promise("routes.names-kept", "routes.no-version")
@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_a_path_is_one_that_the_specifications_name(offer: Offer) -> None:
    assert re.sub(r"{\w+}", "{}", offer.path) in NAMED
