"""The OpenAPI 3.1 document, made from the offers alone: it cannot promise what no route is bound to.

`HEAD` is not listed: every GET answers it. Payment is described as `x-payment-info` (the form that x402 indexers read)
and as the 402 of each priced route.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from service import __version__
from service.errors import STATUS
from service.wire.ask import Failed
from service.wire.envelope import BareMeta, Failure, Meta
from service.wire.manifest import Anonymous, Manifest, ManifestAuth
from service.wire.offer import Gate, Offer
from service.wire.offers import OFFERS
from service.wire.payment import BareChallengeV1, BareChallengeV2, ChallengeV1, ChallengeV2
from service.wire.schema import JsonSchema, components, parameter_rows

_JSON: Final = "application/json"
_LINES: Final = "application/x-ndjson"
_FAILURE: Final = {"$ref": "#/components/schemas/Failure"}
_BARE: Final = "bare"
"""Sets apart the responses of routes whose failures have no codes."""

_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$"},
    "description": "Send the same request with the same key to get the stored response, uncharged, for a day",
}

ALWAYS: Final = (
    "BAD_REQUEST",
    "REQUEST_TIMEOUT",
    "PAYLOAD_TOO_LARGE",
    "URI_TOO_LONG",
    "WRONG_HOST",
    "RATE_LIMITED",
    "HEADERS_TOO_LARGE",
    "INTERNAL",
    "UNAVAILABLE",
)
"""Codes that any route may answer."""

_DESCRIPTIONS: Final[Mapping[int, str]] = {
    400: "The request is not exactly right; `details.parameter` names what is wrong, `details.allowed` what is taken",
    401: "The token is malformed, unknown, expired or revoked, or does not do for this route; the message says which",
    402: "The quota is spent, or no token was sent: an x402 challenge. Or a payment that is not good: `details.reason`",
    403: "No token was sent; or, where a device may ask without one, none and no device that has its question left",
    404: "There is no such thing; `details.candidates` are the closest matches",
    408: "The request did not arrive in time",
    409: "The same key or payment was used for another request",
    413: "The body is longer than 64 KB",
    414: "The target is longer than 8 KB",
    415: "The body is not application/json, or is encoded",
    421: "This service does not answer for that Host",
    429: "Too many requests; `Retry-After` says when to come back",
    431: "The headers are longer than 16 KB or more than 100",
    500: "A defect; the message carries the request id",
    502: "No answer can be given because an upstream failed; `details` = upstream, upstreamStatus, upstreamBody",
    503: "Not ready, or its storage does not answer; `Retry-After` says when to come back. PAYMENT_PENDING: nobody "
    "knows yet how a payment ended; send the same payment again, nothing is charged twice",
}
_RESPONSE_HEADERS: Final[Mapping[int, Sequence[str]]] = {
    401: ("WWW-Authenticate",),
    402: ("PAYMENT-REQUIRED",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_HEADERS: Final[Mapping[str, str]] = {
    "X-Request-Id": "Names this answer in the service's log",
    "X-Data-Source": "Whether the data are live or from recorded fixtures",
    "RateLimit-Policy": "draft-ietf-httpapi-ratelimit-headers: the quota and its window",
    "RateLimit": "draft-ietf-httpapi-ratelimit-headers: what is left of it, and seconds until it resets",
    "Cache-Control": "Always private, no-store",
    "WWW-Authenticate": "Bearer",
    "PAYMENT-REQUIRED": "The x402 v2 challenge, base64 of JSON",
    "Retry-After": "Seconds to wait",
    "PAYMENT-RESPONSE": "Where the call was paid for: how it was settled (x402 v2), base64 of JSON",
    "X-PAYMENT-RESPONSE": "The same as x402 v1 says it",
    "X-Receipt-Id": "Where the call was paid for: its receipt",
    "Idempotency-Replayed": "`true` where the answer was given before, for the same Idempotency-Key",
}
_QUOTA_HEADERS: Final = ("RateLimit-Policy", "RateLimit")
_PAID_HEADERS: Final = ("PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "X-Receipt-Id", "Idempotency-Replayed")
_SECURITY: Final[Mapping[Gate, list[dict[str, list[str]]]]] = {
    "public": [],
    "bearer": [{"key": []}, {"session": []}],
    "session": [{"session": []}],
    "question": [{"key": []}, {"session": []}, {}],
    "payer": [{"key": []}, {"session": []}, {"payer": [], "payer_time": []}],
}
_SECURITY_SCHEMES: Final = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "verdict_sk_…",
        "description": "An API key, made by `verdict admin keys create` or POST /api/keys",
    },
    "session": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A session, opened by `verdict login` or POST /api/auth/login",
    },
    "payer": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Payer-Signature",
        "description": "For a receipt of a payment without an account: `personal_sign` (EIP-191) by the payer, 0x and "
        "130 hexadecimal digits, of the text `Read receipt {id}`, a line feed, and `Time: {X-Payer-Time}`",
    },
    "payer_time": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Payer-Time",
        "description": "When that was signed, epoch seconds; at most 60 s from the service's time",
    },
}


def document(base_url: str, offers: Sequence[Offer] = OFFERS, anonymous: Anonymous = "login") -> bytes:
    """Write the document.

    Args:
        base_url: Scheme and host that callers use.
        offers: What is offered.
        anonymous: What callers without a token can do on priced routes.

    Returns:
        OpenAPI 3.1, JSON.
    """
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": _info(),
            "servers": [{"url": base_url}],
            "tags": [{"name": name} for name in dict.fromkeys(map(_tag, offers))],
            "paths": _paths(offers, anonymous),
            "components": {
                "schemas": _schemas(offers),
                "responses": _responses(offers),
                "headers": {
                    name: {"description": text, "schema": {"type": "string"}} for name, text in _HEADERS.items()
                },
                "securitySchemes": _SECURITY_SCHEMES,
            },
        }
    )


def _info() -> JsonSchema:
    return {
        "title": "Verdict",
        "version": __version__,
        "summary": "Crypto market data you can check and verdicts you can reproduce",
        "description": (
            "Every data route answers in one envelope; `meta.data_age_seconds` says how old the data are. "
            "Check it before acting on a price or a funding rate. Everything called `apr`, `*_pct` or `change_*` "
            "is in percent. Timestamps are ISO 8601 UTC."
        ),
        "license": {"name": "MIT", "identifier": "MIT"},
    }


def _tag(offer: Offer) -> str:
    return offer.id.partition(".")[0]


def _paths(offers: Iterable[Offer], anonymous: Anonymous) -> dict[str, JsonSchema]:
    paths: dict[str, JsonSchema] = {}
    for offer in offers:
        paths.setdefault(offer.path, {})[offer.method.lower()] = _operation(offer, anonymous)
    return paths


def _operation(offer: Offer, anonymous: Anonymous) -> JsonSchema:
    security = _SECURITY[offer.gate]
    if offer.payable and anonymous == "pay" and {} not in security:
        security = [*security, {}]
    operation: JsonSchema = {
        "operationId": offer.id,
        "tags": [_tag(offer)],
        "summary": offer.summary,
        "security": security,
    }
    parameters = [_parameter(row.name, row.location, row.schema, row.required) for row in parameter_rows(offer)]
    if offer.payable:
        parameters.append(_IDEMPOTENCY_KEY)
    if parameters:
        operation["parameters"] = parameters
    if offer.body:
        content = {_JSON: {"schema": {"$ref": f"#/components/schemas/{offer.body.__name__}"}}}
        operation["requestBody"] = {"required": True, "content": content}
    operation["responses"] = {"200": _success(offer), **_failures(offer)}
    if offer.payable:
        price = {"mode": "fixed", "currency": "USD", "amount": offer.price_usdc}
        operation["x-payment-info"] = {"price": price, "protocols": [{"x402": {}}]}
    return operation


def _parameter(name: str, location: str, schema: JsonSchema, required: bool) -> JsonSchema:
    bare = {key: value for key, value in schema.items() if key not in {"description", "examples"}}
    if "enum" in bare:
        bare["title"] = f"{name} parameter"  # generated clients name a type by it: another than that of the result
    parameter: JsonSchema = {"name": name, "in": location, "required": required, "schema": bare}
    if "description" in schema:
        parameter["description"] = schema["description"]
    if "examples" in schema:
        parameter["examples"] = {str(value): {"value": value} for value in schema["examples"]}
    return parameter


def _success(offer: Offer) -> JsonSchema:
    kinds = [_reference(f"{offer.result.__name__}Envelope")] if offer.envelope else _kinds(offer)
    schema = {"anyOf": kinds} if len(kinds) > 1 else kinds[0]
    headers = (*_QUOTA_HEADERS, *(_PAID_HEADERS if offer.payable else ()))
    return _response(offer.summary, {form: _form(form, schema) for form in offer.forms}, headers)


def _form(form: str, schema: JsonSchema) -> JsonSchema:
    """An answer in one of its forms. OpenAPI 3.1 has no word for what a line of a stream is, so there it is an `x-`."""
    if form == _JSON:
        return schema
    if form == _LINES:
        text = "One JSON object a line, each ended by a newline; its `type` says which of `x-lines` it is"
        return {"type": "string", "description": text, "x-lines": schema}
    return {"type": "string"}


def _codes_by_status(offer: Offer) -> dict[int, list[str]]:
    by_status: dict[int, list[str]] = {}
    for code in failure_codes(offer):
        by_status.setdefault(STATUS[code], []).append(code)
    return by_status


def _failures(offer: Offer) -> dict[str, JsonSchema]:
    by_status = _codes_by_status(offer)
    return {
        str(status): {"$ref": f"#/components/responses/{_name(offer, by_status[status])}"}
        for status in sorted(by_status)
    }


def _responses(offers: Iterable[Offer]) -> dict[str, JsonSchema]:
    """Every failure that some route answers, by the name its codes give it."""
    return {
        _name(offer, codes): _failure(offer, status, codes)
        for offer in offers
        for status, codes in _codes_by_status(offer).items()
    }


def _name(offer: Offer, codes: Iterable[str]) -> str:
    return ".".join([_BARE, *codes] if offer.bare_errors else codes)


def _failure(offer: Offer, status: int, codes: list[str]) -> JsonSchema:
    schema: JsonSchema = _FAILURE
    challenges: Sequence[type] = (ChallengeV1, ChallengeV2)
    if offer.bare_errors:
        schema, challenges = _reference(Failed.__name__), (BareChallengeV1, BareChallengeV2)
    if status == STATUS["PAYMENT_REQUIRED"]:
        schema = {"anyOf": [*(_reference(kind.__name__) for kind in challenges), schema]}
    failure = _response(_DESCRIPTIONS[status], {_JSON: schema}, _RESPONSE_HEADERS.get(status, ()))
    return failure if offer.bare_errors else {**failure, "x-codes": codes}


def _response(description: str, forms: Mapping[str, JsonSchema], headers: Sequence[str]) -> JsonSchema:
    named = ("X-Request-Id", "X-Data-Source", "Cache-Control", *headers)
    return {
        "description": description,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in named},
        "content": {form: {"schema": schema} for form, schema in forms.items()},
    }


def failure_codes(offer: Offer) -> list[str]:
    """Codes of every failure that a route may answer, each once."""
    codes = [*ALWAYS, *offer.also]
    if offer.gate != "public":
        codes += ["AUTH_INVALID", "AUTH_REQUIRED"]
    if "{" in offer.path:
        codes.append("NOT_FOUND")
    if offer.body:
        codes.append("UNSUPPORTED_MEDIA_TYPE")
    if offer.payable:
        codes += ["IDEMPOTENCY_CONFLICT", "PAYMENT_REQUIRED", "PAYMENT_REUSED", "PAYMENT_PENDING"]
    return list(dict.fromkeys(codes))


def _schemas(offers: Sequence[Offer]) -> dict[str, Any]:
    bodies = [offer.body for offer in offers if offer.body]
    results = [result for offer in offers for result in (offer.result, *offer.results)]
    bare = (Failed, BareChallengeV1, BareChallengeV2) if any(offer.bare_errors for offer in offers) else ()
    always = (Meta, BareMeta, Failure, ManifestAuth, ChallengeV1, ChallengeV2)
    _, schemas = components(dict.fromkeys((*results, *bodies, *always, *bare)))
    return schemas | {f"{offer.result.__name__}Envelope": _envelope(offer) for offer in offers if offer.envelope}


def _kinds(offer: Offer) -> list[JsonSchema]:
    return [_reference(kind.__name__) for kind in dict.fromkeys((offer.result, *offer.results))]


def _reference(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}


def _envelope(offer: Offer) -> JsonSchema:
    kinds = _kinds(offer)
    meta = (Meta if offer.dated else BareMeta).__name__
    return {
        "type": "object",
        "properties": {
            "schemaVersion": {"type": "integer", "const": 1},
            "data": {"anyOf": kinds} if offer.results else kinds[0],
            "meta": {"$ref": f"#/components/schemas/{meta}"},
            **({"auth": _reference(ManifestAuth.__name__)} if offer.result is Manifest else {}),
        },
        "required": ["schemaVersion", "data", "meta"],
        "additionalProperties": False,
    }
