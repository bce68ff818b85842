"""Error messages: for a model what failed and what to do, for a client that its bytes are not a JSON-RPC message."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec
from mcp import types

from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.errors import VerdictError
from service.client.paying.terms import OpenPaymentError, UnpaidError
from service.errors import STATUS
from service.mcp.tool_results import clean

_AGAIN: Final = "Try again later. Do not answer from memory."
_CORRECT: Final = "Correct the arguments and call again."
_CANDIDATES: Final = "Call again with one of these, or ask your user which one they mean."
_ASSETS: Final = "Stocks, metals and currencies are in real_world_assets."
_NO_ROUTE: Final = "Tell your user that VERDICT_URL may name something else than a Verdict service."
_USER: Final = "Do not call again before your user has solved this."
_ACTIONS: Final[Mapping[int, str]] = {
    HTTPStatus.BAD_REQUEST: _CORRECT,
    HTTPStatus.NOT_FOUND: "Call again with a value that exists. Do not answer about one that does not.",
    HTTPStatus.CONFLICT: "Call again.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: _CORRECT,
    HTTPStatus.REQUEST_URI_TOO_LONG: _CORRECT,
    HTTPStatus.INTERNAL_SERVER_ERROR: "This is a defect of the service. Tell your user to report it to its operator.",
    HTTPStatus.BAD_GATEWAY: f"A source of the data failed, and no question was used up. {_AGAIN}",
    HTTPStatus.SERVICE_UNAVAILABLE: _AGAIN,
    HTTPStatus.TOO_MANY_REQUESTS: "Call less often.",
}
_CREDENTIAL: Final[Mapping[bool, str]] = {
    True: "Each caller must send an API key to this tool server, as `Authorization: Bearer …`.",
    False: "Your user can run `verdict login`, or start this tool server with VERDICT_TOKEN set to an API key.",
}
_MOST_NAMES: Final = 10
_NAME: Final = 60
"""Most characters of a candidate."""

_MOST_SAID: Final = 600
"""Most characters of what the service or the client says."""

_MOST: Final = 2_000
"""Most characters of an error message."""


def explain(error: VerdictError, *, over_http: bool, pays: bool) -> str:
    """A code, what is wrong, and what to do.

    Args:
        error: What the client raised.
        over_http: Whether callers bring their own credential.
        pays: Whether this tool server pays.
    """
    said = str(error)[:_MOST_SAID]
    said += "" if said.endswith((".", "?", "!")) else "."
    match error:
        case RefusedError():
            # Where a route gives no code, the first of its status.
            known = (code for code, status in STATUS.items() if status == error.status)
            code = error.code if error.code in STATUS else next(known, error.code)
            text = f"{code}: {said} {_action(error, over_http=over_http, pays=pays)}"
        case UnpaidError():
            text = f"PAYMENT_REQUIRED: {said} {_USER} They can raise the ceilings, or wait for a free question."
        case OpenPaymentError():
            text = (
                "PAYMENT_PENDING: The outcome of the payment for this call is not known yet. Call again with the same "
                "arguments: the same payment is sent again, never a second one."
            )
        case UnreachableError():
            text = f"UNREACHABLE: {said} Tell your user. Do not answer from memory."
        case UnreadableAnswerError():
            text = f"UNREADABLE: {said} Tell your user that this tool server may be older than the service."
        case _:
            text = f"REFUSED: {said}"
    return str(clean(text))[:_MOST]


def _action(error: RefusedError, *, over_http: bool, pays: bool) -> str:
    if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"{_USER} {_CREDENTIAL[over_http]}"
    if error.status == HTTPStatus.PAYMENT_REQUIRED:
        return f"{_USER} {_ways_on(error.document, may_pay=not over_http and not pays)}"
    has_reason = error.code in STATUS or (
        isinstance(error.document, dict) and isinstance(error.document.get("error"), str)
    )
    if error.status == HTTPStatus.NOT_FOUND and not has_reason:
        return _NO_ROUTE
    candidates = error.details.get("candidates")
    if isinstance(candidates, list) and candidates:
        names = ", ".join(str(one)[:_NAME] for one in candidates[:_MOST_NAMES])
        closest = "" if str(candidates[0]) in error.message else f"The closest: {names}. "
        return f"{closest}{_CANDIDATES} {_ASSETS}" if error.code == "UNKNOWN_SYMBOL" else f"{closest}{_CANDIDATES}"
    action, wait = _ACTIONS.get(error.status, "Tell your user."), error.retry_after_s
    return action if wait is None else f"{action} Wait {wait} s before the next call."


def _ways_on(document: Any, *, may_pay: bool) -> str:
    """The price of the call, and what a user can do, by the `gate` of a challenge."""
    gate = _object(document, "gate")
    price = _object(gate, "this_query").get("price_usdc")
    ways = [
        f"wait until {gate['reset_at']}" if gate.get("reset_at") else "",
        f"get a higher plan at {gate['upgrade_url']}" if gate.get("upgrade_url") else "",
        "start this tool server with --pay, so that it pays below the ceilings" if may_pay else "",
    ]
    cost = f"This call costs {price} USDC. " if price else ""
    return f"{cost}They can {', or '.join(filter(None, ways)) or 'use another credential'}."


def _object(holder: Any, name: str) -> dict[str, Any]:
    found = holder.get(name) if isinstance(holder, dict) else None
    return found if isinstance(found, dict) else {}


def message_error(raw: bytes) -> types.JSONRPCError | None:
    """The error for bytes that are not one JSON-RPC 2.0 message; None if they are one.

    Args:
        raw: A line of standard input, or the body of a request.
    """
    try:
        types.jsonrpc_message_adapter.validate_json(raw, by_name=False)
    except ValueError:
        pass
    else:
        return None
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return jsonrpc_error(types.PARSE_ERROR, "This is not valid JSON. Send one JSON-RPC message, in UTF-8.")
    request_id = found.get("id") if isinstance(found, dict) else None
    is_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    message = "This is not a JSON-RPC 2.0 message. Send one object with jsonrpc, method and, to get an answer, id."
    return jsonrpc_error(types.INVALID_REQUEST, message, request_id if is_id else None)


def jsonrpc_error(code: int, message: str, request_id: types.RequestId | None = None) -> types.JSONRPCError:
    """A JSON-RPC error response; the id is None if that of the request is not known."""
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
