"""What schemathesis cannot know by itself: how to be somebody, what a wallet signs, what the interface says of 403.

Loaded by `schemathesis run` through `SCHEMATHESIS_HOOKS`; `VERDICT_URL` and `VERDICT_TOKEN` say where and as whom.
"""

import http.client
import json
import os
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

import schemathesis
from hypothesis import strategies as st

from service.clock import LATEST_MS, SystemClock, iso
from tests.access.signing import message, sign, wallet
from tests.fakes.clock import START_MS

URL = os.environ.get("VERDICT_URL", "")
TOKEN = os.environ.get("VERDICT_TOKEN", "")
QUESTION = "/api/cli"
_TAKEN = "AcceptedNegativeData"
_UNREAD = frozenset({HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})

HIGHLIGHTS = ("coin", "sector", "macro", "source", "since", "cursor")
BEYOND_SCHEMAS = (
    ("expiresAt", "The time in expiresAt has passed"),
    ("prefix", "The key cannot be rotated: it has ended or was rotated before"),
    (None, "A user may have 100 keys that work. Revoke one first"),
    (None, "A user may have 50 alert rules. Remove one first"),
    ("rule", "This is not a rule"),
    ("rule", "The price must be a positive number"),
    ("rule", "Name the coin"),
    ("rule", "Breadth is of the whole market"),
    ("to", "This is not a target for alerts"),
    ("to", "The target's address is not public"),
    ("to", "The operator does not allow e-mail"),
    (None, "The path contains characters that cannot be printed"),
    ("grace_seconds", "The body is not valid: grace_seconds takes a whole number, not a number"),
    ("cursor", "This cursor does not belong to this route"),
    ("sector", "sector contains characters that cannot be printed"),
    ("category", "category contains characters that cannot be printed"),
    ("since", "since is not an instant"),
    ("as_of", "as_of is not an instant"),
    ("as_of", "as_of is in the future"),
    ("q", "q contains characters that cannot be printed"),
    ("chain", "chain '"),
    ("symbol", "symbol is required when action="),
    ("symbol", "symbol needs action=coin"),
    ("name", "name is required when action="),
    ("name", "name needs action="),
    ("contract", "contract is required when action=movements"),
    ("contract", "The parameter contract is only for action=movements."),
    *((name, f"The parameter {name} is only for action=highlights.") for name in HIGHLIGHTS),
    (None, "The body is not valid: the last of messages must have the role user"),
    (None, "The body is not valid: the last of messages says nothing"),
    (None, "The body is not valid: messages hold more than 8000 characters in all"),
    ("X-Payer-Time", "X-Payer-Time takes epoch seconds in digits"),
    ("X-Payer-Signature", "X-Payer-Signature takes 0x and 130 hexadecimal digits"),
)
"""By `details.parameter`, what no schema can say of a request, and how the 400 begins that says it.

To JSON Schema 60.0 is an integer; here a whole number is written in plain digits, in a body as in a query. What can be
printed is Unicode's to say, and changes with its versions. Cursors are signed; the year 9999 is no instant here, and
what lies ahead changes with the clock.
One parameter cannot require or forbid another in an OpenAPI document, and a security scheme has no place for a schema.
"""


def post(url: str, path: str, body: object = None) -> Any:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        fields = {} if body is None else {"Content-Type": "application/json"}
        connection.request("POST", path, None if body is None else json.dumps(body), fields)
        response = connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == HTTPStatus.OK, answer
        return answer
    finally:
        connection.close()


def signable(url: str, number: int, nonce: str, issued_ms: int, statement: str) -> str:
    """An EIP-4361 message of a wallet to the service."""
    fields = {"domain": urlsplit(url).netloc, "uri": f"{url}/api/auth/login", "statement": statement}
    return str(message(wallet(number).address, nonce, issued_ms, **fields))


def sign_in(url: str, number: int = 1) -> str:
    """Open a session as a wallet does, over HTTP."""
    nonce = post(url, "/api/auth/nonce")["nonce"]
    text = signable(url, number, nonce, SystemClock().now_ms(), "Sign in.")
    return str(post(url, "/api/auth/login", {"message": text, "signature": sign(wallet(number), text)})["token"])


schemathesis.openapi.format(
    "eip-4361",
    st.builds(
        signable,
        st.just(URL),
        st.integers(1, 5),
        st.from_regex(r"[A-Za-z0-9]{8,40}", fullmatch=True),
        st.integers(START_MS - 10**12, START_MS + 10**12),
        st.from_regex(r"[A-Za-z0-9 .,:?!]{1,60}", fullmatch=True),
    ),
)

# Hypothesis knows the years before 1970 too, in which nothing of ours can lie.
schemathesis.openapi.format("date-time", st.integers(0, LATEST_MS).map(iso))


class Bearer:
    """The caller; a session that is going to be ended is one of its own."""

    def get(self, case: Any, context: Any) -> str:  # noqa: ARG002
        ends = context.operation.path == "/api/auth/logout" and TOKEN.count(".")
        return sign_in(URL) if ends else TOKEN

    def set(self, case: Any, data: str, context: Any) -> None:  # noqa: ARG002
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


def no_token_is_403(ctx: Any, response: Any, case: Any) -> None:
    """A request without a token gets 403; the built-in check knows only 401."""
    guarded = case.operation.path != QUESTION and any(True for _ in case.operation.security.iter_parameters())
    if guarded and "Authorization" not in response.request.headers and response.status_code < HTTPStatus.NOT_FOUND:
        assert response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.BAD_REQUEST}, response.status_code
        assert response.json()["error"]["code"] in {"AUTH_REQUIRED", "BAD_REQUEST"}


def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Whether a failure is one: not a spent quota, nor what is beyond schemas, nor a path template taken for a link.

    A quota that is spent, and a body of more bytes than are taken, are told before anybody reads a body, good or bad.
    """
    judged = type(failure).__name__
    if response.status_code in _UNREAD and judged in {"RejectedPositiveData", _TAKEN}:
        return False
    if judged != "RejectedPositiveData":
        return True
    if any(unquote(str(value)) == f"{{{name}}}" for name, value in (case.path_parameters or {}).items()):
        return False
    error = response.json()["error"]
    if isinstance(error, str):  # a question's failures are bare
        return not any(named is None and error.startswith(told) for named, told in BEYOND_SCHEMAS)
    parameter = (error.get("details") or {}).get("parameter")
    return not any(parameter == named and error["message"].startswith(told) for named, told in BEYOND_SCHEMAS)


schemathesis.check(no_token_is_403)
schemathesis.hook(filter_failure)
if TOKEN:
    schemathesis.auth(refresh_interval=None)(Bearer)
