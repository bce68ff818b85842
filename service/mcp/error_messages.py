"""Error messages: for the model, what failed and what to do next; for a client, that it sent no JSON-RPC message."""

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

NO_SUBSTITUTE: Final = "Figures from memory are no substitute."

_AGAIN: Final = f"Try again later. {NO_SUBSTITUTE}"
_CORRECT: Final = "Correct the arguments and call again."
_USER: Final = "Do not try again before your user has done something about it: "
_ACTIONS: Final[Mapping[int, str]] = {
    HTTPStatus.BAD_REQUEST: _CORRECT,
    HTTPStatus.NOT_FOUND: "Call again with a name that exists; do not answer about one that does not.",
    HTTPStatus.CONFLICT: "Call again.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: _CORRECT,
    HTTPStatus.REQUEST_URI_TOO_LONG: _CORRECT,
    HTTPStatus.INTERNAL_SERVER_ERROR: "This is a defect of the service; tell its operator the request's id.",
    HTTPStatus.BAD_GATEWAY: f"A source of the data failed, and nothing was counted. {_AGAIN}",
    HTTPStatus.SERVICE_UNAVAILABLE: _AGAIN,
    HTTPStatus.TOO_MANY_REQUESTS: "Wait before the next call.",
}
_CREDENTIAL: Final[Mapping[bool, str]] = {
    True: "send an API key to this tool server, as `Authorization: Bearer …`.",
    False: "`verdict login`, or start this tool server with VERDICT_TOKEN set to an API key.",
}
_MOST_SAID: Final = 600
_MOST: Final = 2_000
"""Longest error message, and longest text about it, in characters."""


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
            # Where a route tells no code, the first of its status.
            known = (code for code, status in STATUS.items() if status == error.status)
            code = error.code if error.code in STATUS else next(known, error.code)
            text = f"{code}: {said} {_action(error, over_http=over_http, pays=pays)}"
        case UnpaidError():
            text = f"PAYMENT_REQUIRED: {said} {_USER}raise the ceilings, or wait for a free question."
        case OpenPaymentError():
            text = (
                "PAYMENT_PENDING: The outcome of the payment for this call is not known yet. Call again with the same "
                "arguments: the same payment is sent again, never a second one."
            )
        case UnreachableError():
            text = f"UNREACHABLE: {said} Tell your user. {NO_SUBSTITUTE}"
        case UnreadableAnswerError():
            text = f"UNREADABLE: {said} Tell your user that this tool server may be older than the service."
        case _:
            text = f"REFUSED: {said}"
    return str(clean(text))[:_MOST]


def _action(error: RefusedError, *, over_http: bool, pays: bool) -> str:
    if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return _USER + _CREDENTIAL[over_http]
    if error.status == HTTPStatus.PAYMENT_REQUIRED:
        return f"{_USER}{_ways_on(error.document, may_pay=not over_http and not pays)}."
    action = _ACTIONS.get(error.status, "Tell your user.")
    wait = error.headers.get("retry-after", "")
    return f"{action} Not before {wait} s from now." if wait.isascii() and wait.isdigit() else action


def _ways_on(document: Any, *, may_pay: bool) -> str:
    """What a challenge's gate says of the price, and of when a question is free again."""
    gate = _object(document, "gate")
    price = _object(gate, "this_query").get("price_usdc")
    ways = [
        f"wait until {gate['reset_at']}" if gate.get("reset_at") else "",
        f"get a higher plan at {gate['upgrade_url']}" if gate.get("upgrade_url") else "",
        "start this tool server with --pay, so that it pays below the ceilings" if may_pay else "",
    ]
    cost = f"this call costs {price} USDC; " if price else ""
    return cost + (", or ".join(filter(None, ways)) or "use another credential")


def _object(holder: Any, name: str) -> dict[str, Any]:
    found = holder.get(name) if isinstance(holder, dict) else None
    return found if isinstance(found, dict) else {}


def judge(raw: bytes) -> types.JSONRPCError | None:
    """The error that answers bytes which are no JSON-RPC 2.0 message; null for a message.

    Args:
        raw: A line of standard input, or the body of a request. A list of messages is none.
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
        return error_of(types.PARSE_ERROR, "This is not valid JSON. Send one JSON-RPC message, in UTF-8.")
    request_id = found.get("id") if isinstance(found, dict) else None
    is_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    message = "This is not a JSON-RPC 2.0 message. Send one object with jsonrpc, method and, to get an answer, id."
    return error_of(types.INVALID_REQUEST, message, request_id if is_id else None)


def error_of(code: int, message: str, request_id: types.RequestId | None = None) -> types.JSONRPCError:
    """An error response.

    Args:
        code: JSON-RPC's.
        message: For people and models.
        request_id: Of the request that it answers; null where that is not known.
    """
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
