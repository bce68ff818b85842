"""Every offer has its route, and no route is without an offer."""

from collections.abc import Sequence
from inspect import iscoroutinefunction

import pytest

from service.access.caller import Caller
from service.errors import ServiceError
from service.routes import table as table_of_routes
from service.routes.call import WaitingRoute
from service.settings import Settings
from service.wire.offer import Offer
from service.wire.offers import OFFERS
from service.wire.queries import AlertsQuery, HistoricalQuery, NoParameters, OfPrefix
from tests.routes.conftest import Table

EXTRA = Offer(id="later.route", path="/later", summary="Later", result=NoParameters)


@pytest.mark.promise("documents.one-table")
async def test_the_table_covers_the_offers_exactly_and_in_their_order(table: Table) -> None:
    assert list(table.bound) == [offer.id for offer in OFFERS]


@pytest.mark.parametrize(("offers", "named"), [((*OFFERS, EXTRA), "later.route"), (OFFERS[:-1], "receipts.list")])
async def test_a_difference_between_offers_and_routes_stops_the_start(
    table: Table, monkeypatch: pytest.MonkeyPatch, offers: Sequence[Offer], named: str
) -> None:
    monkeypatch.setattr(table_of_routes, "OFFERS", offers)
    with pytest.raises(LookupError, match=f": {named}$"):
        table_of_routes.bind(Settings(), 0, table.desks)


async def test_routes_that_answer_from_memory_do_not_wait(table: Table) -> None:
    waits = {offer_id for offer_id, endpoint in table.bound.items() if iscoroutinefunction(endpoint)}
    reading = {offer_id for offer_id, endpoint in table.bound.items() if isinstance(endpoint, WaitingRoute)}
    assert reading == {
        "coin.historical", "funding.alerts", "sentiment", "signal", "signal.quality", "transcripts", "walkforward",
    }  # fmt: skip
    assert waits == {
        "alerts.create",
        "alerts.delete",
        "alerts.deliveries",
        "alerts.list",
        "alerts.test",
        "auth.login",
        "auth.logout",
        "keys.create",
        "keys.list",
        "keys.revoke",
        "keys.rotate",
        "receipts.get",
        "narratives",
        "receipts.list",
        "wallets",
    }


async def test_a_coin_that_nobody_names_is_not_looked_for(table: Table) -> None:
    alerts = table.bound["funding.alerts"]
    assert isinstance(alerts, WaitingRoute)
    alerts.known(AlertsQuery())
    with pytest.raises(ServiceError, match="NOWHERE"):
        alerts.known(AlertsQuery(symbol="NOWHERE"))


async def test_a_coin_that_is_none_is_refused_before_its_past_is_looked_for(table: Table) -> None:
    historical = table.bound["coin.historical"]
    assert isinstance(historical, WaitingRoute)
    with pytest.raises(ServiceError, match="NOWHERE"):
        historical.known(HistoricalQuery("NOWHERE"))


@pytest.mark.parametrize("offer", [offer for offer in OFFERS if offer.gate == "session"], ids=lambda offer: offer.id)
async def test_a_route_of_known_callers_stays_shut_should_its_gate_be_missing(table: Table, offer: Offer) -> None:
    with pytest.raises(ServiceError) as caught:
        await table.call(offer.id, None, OfPrefix("verdict_sk_abcdefgh"))
    assert caught.value.code == "AUTH_REQUIRED"


async def test_the_tier_route_too(table: Table) -> None:
    with pytest.raises(ServiceError) as caught:
        await table.call("billing.tier")
    assert caught.value.code == "AUTH_REQUIRED"
    assert "verdict login" in caught.value.message


@pytest.mark.promise("tier.applied", "tier.fields", "envelope.tier-meta")
async def test_the_tier_route_reports_what_the_gate_applies(table: Table) -> None:
    caller = Caller(
        7, "api_key", 3, tier="access", source="wallet", entitlement_ends_ms=1_753_444_800_000, wallet="0x" + "a" * 40
    )
    answer = await table.call("billing.tier", caller)
    assert answer.as_of_ms is None
    assert str(answer.data) == (
        "Entitlement(tier='access', source='wallet', expires_at='2025-07-25T12:00:00.000Z', "
        f"identity=Identity(kind='api_key', user_id=7, wallet_address='0x{'a' * 40}'))"
    )
