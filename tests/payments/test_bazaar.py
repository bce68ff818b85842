"""The `bazaar` extension: what a catalogue learns of a priced route from its challenge."""

from base64 import b64decode
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from x402.schemas import PaymentRequired as OfficialPaymentRequired

from service.payments.bazaar import bazaar_extension
from service.payments.challenge import ChallengeBuilder
from service.wire.ask import Question
from service.wire.envelope import ErrorBody
from service.wire.offer import Offer
from service.wire.offers import OFFERS, QUESTION
from service.wire.payment import Gate, Quota, ThisQuery

PAYABLE = [offer for offer in OFFERS if offer.payable]
EVERY = pytest.mark.parametrize("offer", PAYABLE, ids=lambda offer: offer.id)


def declared(offer: Offer) -> Any:
    """As it travels."""
    return msgspec.json.decode(msgspec.json.encode(bazaar_extension(offer)))


@EVERY
@pytest.mark.promise("challenge.bazaar")
def test_the_example_of_every_route_meets_its_own_schema(offer: Offer) -> None:
    extension = declared(offer)
    jsonschema_rs.meta.validate(extension["schema"])
    jsonschema_rs.Draft202012Validator(extension["schema"]).validate(extension["info"])
    assert extension["info"]["input"]["method"] == offer.method
    assert extension["info"]["output"] == {"type": "text" if offer is QUESTION else "json"}


@pytest.mark.promise("challenge.bazaar")
def test_a_route_is_shown_with_its_template_its_parameters_and_the_fields_it_gives() -> None:
    extension = declared(next(offer for offer in OFFERS if offer.id == "coin.historical"))
    assert extension["routeTemplate"] == "/api/cli/coin/historical/:symbol"
    assert extension["info"]["input"] == {
        "type": "http",
        "method": "GET",
        "pathParams": {"symbol": "BTC"},
        "queryParams": {"count": 24, "unit": "h"},
    }
    taken = extension["schema"]["properties"]["input"]
    assert taken["additionalProperties"] is False
    assert taken["properties"]["pathParams"]["required"] == ["symbol"]
    assert taken["properties"]["queryParams"]["properties"]["count"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "description": "How many intervals back",
    }
    given = extension["schema"]["properties"]["output"]["properties"]["example"]["properties"]["data"]["properties"]
    assert given["at"] == {"type": "object"}
    assert given["change_pct"] == {"type": ["number", "null"]}
    assert given["unit"] == {"type": "string"}


def test_what_a_call_may_leave_out_is_no_example_and_never_null() -> None:
    extension = declared(next(offer for offer in OFFERS if offer.id == "regime"))
    assert extension["info"]["input"]["queryParams"] == {"action": "active"}
    symbol = extension["schema"]["properties"]["input"]["properties"]["queryParams"]["properties"]["symbol"]
    assert symbol["type"] == "string"
    assert "routeTemplate" not in extension


def test_a_route_of_several_answers_shows_each() -> None:
    extension = declared(next(offer for offer in OFFERS if offer.id == "walkforward"))
    data = extension["schema"]["properties"]["output"]["properties"]["example"]["properties"]["data"]
    assert [next(iter(kind["properties"])) for kind in data["anyOf"]] == ["signals", "positions", "outcomes"]


def test_a_route_without_an_envelope_gives_its_fields_bare() -> None:
    bare = Offer(id="bare", path="/bare", summary="Bare", result=ErrorBody, envelope=False)
    example = declared(bare)["schema"]["properties"]["output"]["properties"]["example"]
    assert list(example["properties"]) == ["code", "message", "details"]


@pytest.mark.promise("challenge.bazaar")
def test_a_route_that_takes_a_body_shows_one_that_it_takes_and_what_else_it_may_hold() -> None:
    given, taken = (declared(QUESTION)[part] for part in ("info", "schema"))
    assert (given["input"]["method"], given["input"]["bodyType"]) == ("POST", "json")
    assert msgspec.convert(given["input"]["body"], Question).messages[-1].role == "user"
    body = taken["properties"]["input"]["properties"]["body"]
    assert list(body["properties"]) == list(Question.__struct_encode_fields__)
    assert body["required"] == ["messages"]
    message = body["properties"]["messages"]["items"]
    assert message["properties"]["role"] == {"enum": ["assistant", "user"]}
    assert "$ref" not in msgspec.json.encode(taken).decode()
    assert taken["properties"]["output"]["properties"] == {"type": {"const": "text"}}


@EVERY
@pytest.mark.promise("challenge.bazaar", "challenge.header")
def test_the_header_of_every_route_fits_what_a_proxy_holds_by_default(offer: Offer) -> None:
    gate = Gate(
        "free", 10, 10, Quota(10, 10, 0, "lifetime", "grant"), None, None, ThisQuery(offer.id, offer.price_usdc), []
    )
    url = "https://api.example.org" + offer.path + "?" + "q" * 100
    challenge = ChallengeBuilder("eip155:84532", "0x" + "1" * 40).challenge(offer, gate, "spent", url, 1)
    assert len(challenge.header) < 3_072  # nginx: 4 KB for the whole head
    required = OfficialPaymentRequired.model_validate_json(b64decode(challenge.header))
    assert required.extensions == {"bazaar": declared(offer)}
