"""Whether bytes are one JSON-RPC message, said without a library's text."""

import msgspec
from mcp import types


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
