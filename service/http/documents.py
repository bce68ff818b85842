"""Documents for machines that find the service by themselves, made from the offers and built once at start.

`/.well-known/x402` has the two fields that x402 indexers read (`version`, `resources`) and, beside them, what each
resource costs. Nothing here needs a token, and nothing is counted.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from service import __version__
from service.access.quota import PER_DAY, STARTER
from service.http.gate import RouteEndpoint
from service.http.openapi import document as openapi
from service.http.request import RequestContext
from service.http.response import Response, response
from service.payments.challenge import ChallengeBuilder
from service.wire.manifest import Anonymous, ParameterRow
from service.wire.offer import Gate, Offer
from service.wire.offers import OFFERS, QUESTION
from service.wire.payment import SettlementKind
from service.wire.schema import body_rows, parameter_rows

JSON: Final = b"application/json"
TEXT: Final = b"text/plain; charset=utf-8"
MARKDOWN: Final = b"text/markdown; charset=utf-8"

ROBOTS: Final = b"User-agent: *\nAllow: /\nDisallow: /api/\nDisallow: /auth/\nDisallow: /account\nDisallow: /coin/\n"
"""The API itself is not for crawlers: it is metered. What describes it is. A coin's page changes each moment."""


class DocumentEndpoint(RouteEndpoint):
    """Answers with a document that never changes while the service runs.

    Args:
        document: Media type and bytes.
    """

    def __init__(self, document: "PublicDocument") -> None:
        headers = [(b"content-type", document.content_type), (b"cache-control", b"public, max-age=300")]
        self._response = response(200, headers, document.body)

    def respond(self, request: RequestContext) -> Response:  # noqa: ARG002
        """The document."""
        return self._response


class PublicDocument(Struct, frozen=True):
    """A public document: media type and bytes."""

    content_type: bytes
    body: bytes


def build(
    base_url: str, challenges: ChallengeBuilder, settlement: SettlementKind, anonymous: Anonymous = "login"
) -> Mapping[str, PublicDocument]:
    """Build every document.

    Args:
        base_url: Scheme and host that callers use.
        challenges: Knows the terms of payment.
        settlement: How payments are settled.
        anonymous: What callers without a token can do on priced routes.

    Returns:
        Path → document, to be answered to GET and HEAD.
    """
    return {
        "/openapi.json": PublicDocument(JSON, openapi(base_url, anonymous=anonymous)),
        "/llms.txt": PublicDocument(MARKDOWN, _llms(base_url, settlement, anonymous).encode()),
        "/.well-known/x402": PublicDocument(JSON, _x402(base_url, challenges, settlement, anonymous)),
        "/robots.txt": PublicDocument(TEXT, ROBOTS),
    }


def _x402(base_url: str, challenges: ChallengeBuilder, settlement: SettlementKind, anonymous: Anonymous) -> bytes:
    payable = [offer for offer in OFFERS if offer.payable]
    return msgspec.json.encode(
        {
            "version": 1,
            "resources": [_example(base_url, offer) for offer in payable],
            "x402Version": 2,
            "settlement": settlement,
            "anonymous": anonymous,
            "openapi": f"{base_url}/openapi.json",
            "offers": [
                {
                    "resource": _example(base_url, offer),
                    "method": offer.method,
                    "template": offer.path,
                    "description": offer.summary,
                    "accepts": challenges.terms(offer),
                }
                for offer in payable
            ],
        }
    )


def _example(base_url: str, offer: Offer) -> str:
    """A URL of the route, its path filled in with first examples."""
    path = offer.path
    for row in parameter_rows(offer):
        if row.location == "path":
            path = path.replace(f"{{{row.name}}}", quote(str(row.schema["examples"][0]), safe=""))
    return base_url + path


def _llms(base_url: str, settlement: SettlementKind, anonymous: Anonymous) -> str:
    sections: Sequence[tuple[str, Callable[[Offer], bool]]] = (
        (f"Questions\n\n{_QUESTIONS}", lambda offer: offer is QUESTION),
        ("Data routes", lambda offer: offer.counted and offer is not QUESTION),
        ("Free routes", lambda offer: not offer.counted and offer.envelope),
        ("Identity", lambda offer: offer.path.startswith(("/api/auth/", "/api/keys"))),
        ("Alerts", lambda offer: offer.path.startswith("/api/alerts")),
        ("Receipts", lambda offer: offer.path.startswith("/api/receipts")),
    )
    lists = [
        f"## {title}\n\n" + "\n".join(_line(base_url, offer) for offer in OFFERS if belongs(offer))
        for title, belongs in sections
    ]
    return (
        "\n\n".join((_introduction(base_url, anonymous), _payment(settlement, anonymous), *lists, _more(base_url)))
        + "\n"
    )


def _introduction(base_url: str, anonymous: Anonymous) -> str:
    return f"""# Verdict {__version__}

> Crypto market data you can check and verdicts you can reproduce, over one metered HTTP API at {base_url}.

Send `Authorization: Bearer TOKEN`, an API key (`verdict_sk_…`) or a session. {_WITHOUT_TOKEN[anonymous]}
With a wrong token the answer is 401.

Success is `{{"schemaVersion":1,"data":…,"meta":{{"ts","as_of","data_age_seconds"}}}}`, failure
`{{"schemaVersion":1,"error":{{"code","message","details"?}}}}`. Look at `meta.data_age_seconds` before you act on a
price or a funding rate, and at `_stale_fields` where there are some. Everything called `apr`, `*_pct` or `change_*` is
in percent. Parameters are exact: an unknown or repeated one is a 400 that names it.

The free plan has {STARTER} questions to start with, then {PER_DAY["free"]} a day from 00:00 UTC. Every successful call
of a data route is one question; errors cost nothing. When they are spent, the answer is 402 with an x402 challenge and
the time of the next free question.

Send an `Idempotency-Key` with a request that you may have to repeat: the same request with the same key gets the stored
answer, uncharged, for a day, on every priced route. Another request with that key is 409."""


_QUESTIONS: Final = """`{"messages":[{"role":"user","content":"…"}]}` is answered in plain text, as it is found out.
`Accept: text/event-stream` gets events (`classification`, `plan`, `step`, `text`, `done`, or `error`), `Accept:
application/json` gets `{text, steps, sources}`, and `raw` gets what was found without prose. Every figure of an answer
is one of the data routes'; what is not known is said. Earlier messages make the question a follow-up.

- A failure is `{"error": "message"}`, its statuses those of the other routes.
- What finds nothing to charge for (a refusal, a definition, help) costs nothing."""


_MONEY: Final[Mapping[SettlementKind, str]] = {
    "ledger": "Payments are checked and recorded here, and nothing moves on a chain: no money is taken.",
    "remote": "An x402 facilitator settles payments on the chain.",
    "chain": "This service settles payments on the chain itself.",
}


_WITHOUT_TOKEN: Final[Mapping[Anonymous, str]] = {
    "login": "Without a token the answer is 403.",
    "pay": "Without a token a priced route answers\n402: pay for the call, without an account. Others answer 403.",
}
_ACCOUNTLESS: Final[Mapping[Anonymous, str]] = {
    "login": "",
    "pay": """
- A payment without a token needs no account: the payer's address is who paid. Its receipt is read with `X-Payer-Time`
  (epoch seconds, at most 60 s off) and `X-Payer-Signature`: the payer's `personal_sign` of `Read receipt {id}`, a line
  feed, and `Time: {X-Payer-Time}`.""",
}


def _payment(settlement: SettlementKind, anonymous: Anonymous) -> str:
    return f"""## Payment

Any x402 client can pay a call that is answered 402: scheme `exact`, USDC by EIP-3009, the price of the route and no
more. Sign what the header `PAYMENT-REQUIRED` (v2) or the body (v1) asks for and send the request again with
`PAYMENT-SIGNATURE` (v2) or `X-PAYMENT` (v1, v2). {_MONEY[settlement]}

- A call that fails is never settled, and a call that is paid never counts against the free plan.
- The answer carries `PAYMENT-RESPONSE`, `X-PAYMENT-RESPONSE` and `X-Receipt-Id`.
- 503 PAYMENT_PENDING: the outcome is not known yet. Send the SAME payment again, never a new one: nothing is charged
  twice, and the answer is kept for a day.
- The same payment for another request is 409 PAYMENT_REUSED; a payment that is not good is 402 with `details.reason`.
- Receipts are signed (`personal_sign` over the RFC 8785 text of `receipt`) by the manifest's `receiptSigner`.\
{_ACCOUNTLESS[anonymous]}"""


def _line(base_url: str, offer: Offer) -> str:
    rows, fields = parameter_rows(offer), body_rows(offer)
    facts = [
        f"parameters {', '.join(map(_parameter, rows))}" if rows else "",
        f"JSON body {', '.join(map(_parameter, fields))}" if fields else "",
        f"{offer.price_usdc} USDC" if offer.payable else "",
        f"refreshed every {offer.refresh_seconds} s" if offer.refresh_seconds else "",
        _CALLERS[offer.gate],
    ]
    shown = "; ".join(filter(None, facts))
    return (
        f"- [{offer.method} {offer.path}]({_example(base_url, offer)}): {offer.summary}{f' ({shown})' if shown else ''}"
    )


_CALLERS: Final[Mapping[Gate, str]] = {
    "public": "no token",
    "bearer": "",
    "session": "needs a session",
    "payer": "",
    "question": "one question a device without a token, by `deviceId`",
}


def _parameter(row: ParameterRow) -> str:
    return row.name if row.required else f"{row.name}?"


def _more(base_url: str) -> str:
    return f"""## More

- [OpenAPI 3.1]({base_url}/openapi.json): every parameter, answer and error
- [Manifest]({base_url}/api/cli/manifest): routes with price and refresh interval
- [x402]({base_url}/.well-known/x402): what can be paid for, and how"""
