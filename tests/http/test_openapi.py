"""The OpenAPI document is valid, complete, and says what the structs say."""

from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any, Final

import jsonschema_rs
import msgspec
import pytest

from service.errors import STATUS, ServiceError
from service.http.openapi import document, failure_codes
from service.payments.challenge import ChallengeBuilder
from service.streams import lines
from service.streams.state import StreamState
from service.wire.access import Entitlement, Identity
from service.wire.envelope import Answer, ErrorBody, failure, success
from service.wire.manifest import Anonymous
from service.wire.offer import DATA_CALL, Offer
from service.wire.offers import OFFERS, QUESTION, WATCH
from service.wire.payment import Gate, Quota, ThisQuery, Unlock
from service.wire.queries import NoParameters
from tests.http.test_parameters import Movements

BASE = "https://api.example.org"
RISK = next(offer for offer in OFFERS if offer.id == "coin.risk")


@pytest.fixture(scope="module")
def spec() -> Any:
    return msgspec.json.decode(document(BASE))


def operation(spec: Any, offer: Offer) -> Any:
    return spec["paths"][offer.path][offer.method.lower()]


def response(spec: Any, offer: Offer, status: int) -> Any:
    """The response of a route at a status, its reference followed."""
    given = operation(spec, offer)["responses"][str(status)]
    return spec["components"]["responses"][given["$ref"].rpartition("/")[2]] if "$ref" in given else given


def errors(spec: Any, offer: Offer, status: int, body: bytes) -> list[str]:
    """What the documented schema and codes of an answer find wrong with a body."""
    documented, answer = response(spec, offer, status), msgspec.json.decode(body)
    schema = documented["content"]["application/json"]["schema"]
    validator = jsonschema_rs.Draft202012Validator({**schema, "components": spec["components"]})
    found = [error.message for error in validator.iter_errors(answer)]
    if "x-codes" in documented and answer["error"]["code"] not in documented["x-codes"]:
        found.append("This code is not documented.")
    return found


def walk(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [*value.items(), *(pair for inner in value.values() for pair in walk(inner))]
    return [pair for inner in value for pair in walk(inner)] if isinstance(value, list) else []


@pytest.mark.promise("documents.openapi")
def test_the_document_is_valid_openapi_3_1(spec: Any) -> None:
    assert spec["openapi"] == "3.1.0"
    # Its loading takes a second, which is not every collecting process's to spend.
    validator = import_module("schemathesis.specs.openapi.definitions").OPENAPI_31_VALIDATOR
    assert [error.message for error in validator.iter_errors(spec)] == []


def test_every_schema_is_valid_json_schema_2020_12(spec: Any) -> None:
    for schema in spec["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_every_reference_leads_somewhere(spec: Any) -> None:
    for key, target in walk(spec):
        if key == "$ref":
            _, _, kind, name = target.split("/")
            assert name in spec["components"][kind], target


def test_every_component_is_referred_to(spec: Any) -> None:
    targets = {target for key, target in walk(spec) if key == "$ref"}
    for kind in ("schemas", "responses", "headers"):
        for name in spec["components"][kind]:
            assert f"#/components/{kind}/{name}" in targets


def test_patterns_are_written_as_json_schema_reads_them(spec: Any) -> None:
    patterns = [value for key, value in walk(spec) if key == "pattern" and isinstance(value, str)]
    assert patterns
    assert not [pattern for pattern in patterns if "\\Z" in pattern]


@pytest.mark.promise("documents.one-table", "documents.openapi")
def test_what_the_code_raises_is_no_part_of_what_callers_are_told(spec: Any) -> None:
    schemas = spec["components"]["schemas"]
    assert schemas["Question"]["description"] == "The body of a question."
    assert [name for name, schema in schemas.items() if "Raises:" in schema.get("description", "")] == []


def test_every_offer_and_nothing_else_is_in_the_document(spec: Any) -> None:
    listed = {(path, method) for path, methods in spec["paths"].items() for method in methods}
    assert listed == {(offer.path, offer.method.lower()) for offer in OFFERS}
    names = [operation(spec, offer)["operationId"] for offer in OFFERS]
    assert names == [offer.id for offer in OFFERS]
    assert spec["servers"] == [{"url": BASE}]


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_every_failure_a_route_may_answer_is_documented_with_its_codes(spec: Any, offer: Offer) -> None:
    codes = failure_codes(offer)
    statuses = {str(STATUS[code]) for code in codes}
    assert operation(spec, offer)["responses"].keys() == {"200", *statuses}
    for status in map(int, statuses):
        documented = response(spec, offer, status)
        schema = documented["content"]["application/json"]["schema"]
        failing = schema["anyOf"][-1] if "anyOf" in schema else schema
        if offer is QUESTION:
            assert failing == {"$ref": "#/components/schemas/Failed"}
            continue
        assert failing == {"$ref": "#/components/schemas/Failure"}
        assert documented["x-codes"] == [code for code in codes if STATUS[code] == status]


def test_a_bearer_route_may_refuse_the_caller_and_a_public_one_may_not(spec: Any) -> None:
    assert {"AUTH_REQUIRED", "AUTH_INVALID"} <= set(failure_codes(RISK))
    manifest = next(offer for offer in OFFERS if offer.id == "manifest")
    assert not {"AUTH_REQUIRED", "AUTH_INVALID", "PAYMENT_REQUIRED"} & set(failure_codes(manifest))


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_security_follows_the_gate(spec: Any, offer: Offer) -> None:
    expected: dict[str, list[dict[str, list[str]]]] = {
        "public": [],
        "bearer": [{"key": []}, {"session": []}],
        "session": [{"session": []}],
        "question": [{"key": []}, {"session": []}, {}],
        "payer": [{"key": []}, {"session": []}, {"payer": [], "payer_time": []}],
    }
    assert operation(spec, offer)["security"] == expected[offer.gate]
    schemes = spec["components"]["securitySchemes"]
    assert {scheme.get("scheme", scheme.get("name")) for scheme in schemes.values()} == {
        "bearer",
        "X-Payer-Signature",
        "X-Payer-Time",
    }


@pytest.mark.slow
@pytest.mark.promise("pay.keyless-documents")
@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_where_payment_needs_no_account_the_token_of_a_priced_route_is_optional(offer: Offer) -> None:
    security = operation(msgspec.json.decode(document("https://api.example.org", anonymous="pay")), offer)["security"]
    assert ({} in security) == offer.payable
    assert security.count({}) <= 1


@pytest.mark.promise("documents.openapi")
@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_a_priced_route_says_its_price_and_a_free_one_none(spec: Any, offer: Offer) -> None:
    info = operation(spec, offer).get("x-payment-info")
    if offer.payable:
        assert info == {
            "price": {"mode": "fixed", "currency": "USD", "amount": offer.price_usdc},
            "protocols": [{"x402": {}}],
        }
    else:
        assert info is None


IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$"},
    "description": "Send the same request with the same key to get the stored response, uncharged, for a day",
}


@pytest.mark.promise("question.idempotency")
def test_every_priced_route_and_no_other_documents_its_idempotency_key(spec: Any) -> None:
    for offer in OFFERS:
        documented = operation(spec, offer)
        ok = documented["responses"]["200"]["headers"]
        assert (IDEMPOTENCY_KEY in documented.get("parameters", [])) is offer.payable
        assert ("Idempotency-Replayed" in ok) is offer.payable
        assert any("IDEMPOTENCY_CONFLICT" in str(failure) for failure in documented["responses"].values()) is (
            offer.payable
        )


def test_parameters_carry_their_constraints_and_examples(spec: Any) -> None:
    assert operation(spec, RISK)["parameters"] == [
        {
            "name": "symbol",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9]{1,20}$"},
            "description": "A ticker such as BTC, 1 to 20 letters and digits; case does not matter",
            "examples": {"BTC": {"value": "BTC"}},
        },
        IDEMPOTENCY_KEY,
    ]


def test_optional_query_parameters_carry_bounds_enumerations_and_defaults() -> None:
    offer = Offer(id="t", path="/t", summary="T", result=NoParameters, parameters=Movements, price=DATA_CALL)
    parameters = msgspec.json.decode(document(BASE, [offer]))["paths"]["/t"]["get"]["parameters"]
    rows = {row["name"]: row for row in parameters if row["in"] == "query"}
    assert not any(row["required"] for row in rows.values())
    assert rows["action"]["schema"] == {
        "type": "string",
        "enum": ["movements", "watchlist"],
        "default": "watchlist",
        "title": "action parameter",
    }
    assert rows["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}


def nodes(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document, with its place."""
    if isinstance(value, dict):
        yield place, value
        for key, inner in value.items():
            yield from nodes(inner, f"{place}/{key}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from nodes(inner, f"{place}[{at}]")


@pytest.mark.parametrize("anonymous", ["login", "pay"])
def test_schemas_avoid_what_generators_of_clients_cannot_read(anonymous: Anonymous) -> None:
    for place, node in nodes(msgspec.json.decode(document(BASE, anonymous=anonymous))):
        if "$ref" in node:
            assert list(node) == ["$ref"], f"{place}: a reference has members beside it"
        if node.get("type") == "null":
            assert place.rpartition("/")[2].startswith("anyOf["), f"{place}: a value is always null"
        if "/schema" in place:
            assert "type" in node or not {"enum", "const"} & node.keys(), f"{place}: values without a type"


def test_a_body_is_required_json(spec: Any) -> None:
    offer = next(offer for offer in OFFERS if offer.id == "keys.create")
    assert operation(spec, offer)["requestBody"] == {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewKey"}}},
    }
    assert spec["components"]["schemas"]["NewKey"]["additionalProperties"] is False


def test_answers_of_the_service_fit_what_is_documented(spec: Any) -> None:
    tier = next(offer for offer in OFFERS if offer.id == "billing.tier")
    entitlement = Entitlement("free", "default", None, Identity("api_key", 1, None))
    assert errors(spec, tier, 200, success(Answer(entitlement), 1_753_444_800_000)) == []
    assert errors(spec, tier, 200, success(Answer({"tier": "gold"}, as_of_ms=0), 1_753_444_800_000))


@pytest.mark.promise("documents.openapi")
def test_a_challenge_of_either_version_and_a_refused_payment_fit_the_documented_402(spec: Any) -> None:
    gate = Gate(
        "free",
        10,
        10,
        Quota(10, 10, 0, "lifetime", "grant"),
        None,
        None,
        ThisQuery("coin.risk", "0.005"),
        [Unlock("wait", "w")],
    )
    challenges = ChallengeBuilder("eip155:84532", "0x" + "1" * 40)
    for version in (1, 2):
        body = challenges.challenge(RISK, gate, "spent", BASE, 1 if version == 1 else 2).body
        assert errors(spec, RISK, 402, body) == []
    assert errors(spec, RISK, 402, b'{"schemaVersion":1,"error":{"code":"PAYMENT_REQUIRED","message":"m"}}') == []
    assert errors(spec, RISK, 402, b'{"schemaVersion":1,"error":{"code":"BAD_REQUEST","message":"m"}}')


@pytest.mark.promise("question.challenge-error", "question.failure", "documents.openapi")
def test_what_a_question_is_refused_with_fits_the_document_and_an_envelope_does_not(spec: Any) -> None:
    gate = Gate("free", 10, 10, Quota(10, 10, 0, "lifetime", "grant"), None, None, ThisQuery("question", "0.05"), [])
    challenges = ChallengeBuilder("eip155:84532", "0x" + "1" * 40)
    for body in (
        challenges.challenge(QUESTION, gate, "spent", BASE, 1).body,
        challenges.challenge(QUESTION, gate, "spent", BASE, 2).body,
        b'{"error":"m"}',
    ):
        assert errors(spec, QUESTION, 402, body) == []
    enveloped = b'{"schemaVersion":1,"error":{"code":"PAYMENT_REQUIRED","message":"m"}}'
    assert errors(spec, QUESTION, 402, enveloped)
    for status in (400, 401, 403, 409, 413, 415, 429, 500, 502, 503):
        assert errors(spec, QUESTION, status, b'{"error":"m"}') == []
        assert errors(spec, QUESTION, status, enveloped)


@pytest.mark.promise("question.text", "question.sse", "question.json", "question.idempotency")
def test_a_question_is_documented_in_each_of_its_forms_with_its_key(spec: Any) -> None:
    asked = operation(spec, QUESTION)
    content = asked["responses"]["200"]["content"]
    assert content["text/plain"]["schema"] == content["text/event-stream"]["schema"] == {"type": "string"}
    kinds = [kind["$ref"].rpartition("/")[2] for kind in content["application/json"]["schema"]["anyOf"]]
    assert kinds == ["QuestionAnswer", "Findings"]
    assert "Idempotency-Replayed" in asked["responses"]["200"]["headers"]
    (key,) = asked["parameters"]
    assert (key["name"], key["in"], key["required"]) == ("Idempotency-Key", "header", False)
    assert asked["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/Question")


@pytest.mark.promise("watch.ndjson")
def test_the_lines_of_a_stream_are_documented_and_those_of_the_hub_are_such(spec: Any) -> None:
    content = operation(spec, WATCH)["responses"]["200"]["content"]
    assert list(content) == ["application/x-ndjson"]
    schema = content["application/x-ndjson"]["schema"]
    assert schema["type"] == "string"
    validator = jsonschema_rs.Draft202012Validator({**schema["x-lines"], "components": spec["components"]})
    cursor, state = "c" * 43, StreamState(1, 1_753_444_800_000, 1_753_444_790_000, b'{"prices":{}}')
    told = [
        lines.opened("prices", 30, "live", None),
        lines.event("prices", state, state.data, cursor),
        lines.heartbeat(state.at_ms, live=False),
        lines.gap("too-old", cursor),
        lines.closed("revoked", cursor, ErrorBody("AUTH_INVALID", "m")),
    ]
    whole = [msgspec.json.decode(line) for line in b"".join(told).splitlines()]
    assert {line["type"] for line in whole} == {"open", "event", "heartbeat", "gap", "error", "close"}
    for line in whole:
        assert [error.message for error in validator.iter_errors(line)] == []
        assert not validator.is_valid({**line, "type": "no such line"})


def test_an_undocumented_code_does_not_fit(spec: Any) -> None:
    assert errors(spec, RISK, 404, failure(ServiceError("UNKNOWN_SYMBOL", "m", details={"candidates": []}))) == []
    assert errors(spec, RISK, 404, failure(ServiceError("UNKNOWN_STREAM", "m")))


def test_a_code_that_no_table_knows_cannot_be_offered() -> None:
    class Odd(msgspec.Struct):
        value: Annotated[int, msgspec.Meta(ge=0)]

    with pytest.raises(KeyError):
        document(BASE, [Offer(id="t", path="/t", summary="T", result=Odd, also=("NO_SUCH_CODE",))])
