"""The manifest lists every route."""

import re

import msgspec
import pytest

from service import __version__
from service.routes.call import Call
from service.routes.manifest import bound, write
from service.settings import Settings
from service.wire.envelope import success
from service.wire.manifest import Manifest
from service.wire.offers import OFFERS
from service.wire.queries import NoParameters
from tests.fakes.clock import START_MS

PAYEE = "0x1111111111111111111111111111111111111111"
SIGNER = "0x2222222222222222222222222222222222222222"


@pytest.fixture(scope="module")
def body() -> bytes:
    route = bound(Settings(network="eip155:8453", pay_to=PAYEE, settlement="remote"), START_MS, SIGNER)
    return success(route(Call(NoParameters(), None, None)), START_MS + 90_500)


@pytest.fixture(scope="module")
def manifest(body: bytes) -> Manifest:
    return msgspec.convert(msgspec.json.decode(body)["data"], Manifest)


@pytest.mark.promise("manifest.as-of", "manifest.free-tier")
def test_the_manifest_is_an_envelope_as_old_as_the_service(body: bytes) -> None:
    decoded = msgspec.json.decode(body)
    assert list(decoded) == ["schemaVersion", "data", "meta", "auth"]
    assert decoded["auth"] == {"freeTier": {"lifetime": 10, "dailyDrip": 1}}
    assert decoded["meta"] == {
        "ts": "2025-07-25T12:01:30.500Z",
        "as_of": "2025-07-25T12:00:00.000Z",
        "data_age_seconds": 90,
    }


@pytest.mark.promise("manifest.shape")
def test_the_fields_stand_in_the_contracts_order(body: bytes) -> None:
    data = msgspec.json.decode(body)["data"]
    route = data["routes"][0]
    assert (
        ",".join(data) == "service,version,currency,networks,payTo,settlement,receiptSigner,anonymous,free,tiers,routes"
    )
    assert ",".join(route) == (
        "id,method,path,price_usdc,price_atomic,refresh_seconds,streaming,payable,summary,parameters"
    )
    assert data["free"] == {"starter": 10, "perDay": 1, "resetsAt": "00:00Z"}


def test_payment_is_described_as_the_settings_say(manifest: Manifest) -> None:
    assert (manifest.service, manifest.version, manifest.currency) == ("verdict", __version__, "USDC")
    assert (manifest.networks, manifest.pay_to) == (["eip155:8453"], PAYEE)


@pytest.mark.promise("pay.settlement")
def test_the_manifest_says_how_payments_are_settled_and_who_signs_their_receipts(manifest: Manifest) -> None:
    assert (manifest.settlement, manifest.receipt_signer) == ("remote", SIGNER)
    assert write(Settings(), SIGNER).settlement == "ledger"


@pytest.mark.promise("tiers.three")
def test_the_tiers_and_their_questions_a_day(manifest: Manifest) -> None:
    assert [(row.tier, row.per_day) for row in manifest.tiers] == [("free", 1), ("access", 50), ("pro", None)]


@pytest.mark.promise("manifest.lists-priced", "documents.one-table")
def test_every_counted_route_and_no_free_one_is_listed(manifest: Manifest) -> None:
    assert [row.id for row in manifest.routes] == [offer.id for offer in OFFERS if offer.counted]
    assert "coin.risk" in {row.id for row in manifest.routes}
    assert not {"manifest", "billing.tier", "keys.list"} & {row.id for row in manifest.routes}


@pytest.mark.promise("manifest.lists-priced", "price.data-call")
def test_a_route_has_its_price_in_both_units_and_its_refresh_interval(manifest: Manifest) -> None:
    row = next(row for row in manifest.routes if row.id == "coin.risk")
    assert (row.method, row.path) == ("GET", "/api/cli/coin/risk/{symbol}")
    assert (row.price_usdc, row.price_atomic, row.refresh_seconds) == ("0.005", "5000", 15)
    assert (row.streaming, row.payable) == (False, True)


def test_a_routes_parameters_carry_a_pattern_that_refuses_what_the_route_refuses(manifest: Manifest) -> None:
    (symbol,) = next(row for row in manifest.routes if row.id == "coin.risk").parameters
    assert (symbol.name, symbol.location, symbol.required) == ("symbol", "path", True)
    assert re.search(symbol.schema["pattern"], "BTC")
    assert not re.search(symbol.schema["pattern"], "BTC/USD")


@pytest.mark.promise("manifest.shape", "question.optional-fields")
def test_a_question_is_listed_with_the_fields_of_its_body(manifest: Manifest) -> None:
    row = next(row for row in manifest.routes if row.id == "question")
    assert (row.method, row.path, row.price_usdc, row.refresh_seconds) == ("POST", "/api/cli", "0.05", None)
    assert {field.location for field in row.parameters} == {"body"}
    assert [field.name for field in row.parameters if field.required] == ["messages"]
    assert "walletAddress,deviceId,raw,archetype,commandContext" in ",".join(field.name for field in row.parameters)
    assert "$ref" not in str(row.parameters)
    assert row.parameters[0].schema["items"]["properties"]["role"] == {
        "type": "string",
        "enum": ["assistant", "user"],
    }


def test_the_bytes_are_written_once(body: bytes) -> None:
    route = bound(Settings(), START_MS, SIGNER)
    call = Call(NoParameters(), None, None)
    assert route(call) is route(call)
