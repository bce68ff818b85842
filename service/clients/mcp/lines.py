"""Messages on standard input: one a line. What is no message is answered with a JSON-RPC error, and reading goes on."""

from collections.abc import AsyncIterator
from typing import BinaryIO, Final

import anyio.to_thread
import msgspec
from anyio.abc import ObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of one message, its line end not counted."""

Answers = ObjectSendStream[SessionMessage]


class Lines:
    """What a transport reads from instead of standard input: only lines that hold a message.

    Args:
        source: Standard input.

    Attributes:
        answers: Where errors are written to; set before the first line is read.
    """

    answers: Answers

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield messages until standard input ends."""
        while line := await self._read():
            if len(line) > MOST_BYTES and not line.endswith(b"\n"):
                await self._skip()
                await self._refuse(types.INVALID_REQUEST, f"A message takes at most {MOST_BYTES} bytes.")
            elif line.strip():
                if (error := _judge(line)) is None:
                    yield line.decode()
                else:
                    await self._refuse(*error)

    async def _read(self) -> bytes:
        return await anyio.to_thread.run_sync(self._source.readline, MOST_BYTES + 1)

    async def _skip(self) -> None:
        """Read to the end of a line that is too long, keeping none of it."""
        while (rest := await self._read()) and not rest.endswith(b"\n"):
            pass

    async def _refuse(self, code: int, message: str, request_id: types.RequestId | None = None) -> None:
        error = types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
        await self.answers.send(SessionMessage(error))


def _judge(line: bytes) -> tuple[int, str, types.RequestId | None] | None:
    """Why a line holds no message, with the id of the request where it has one; None where it holds one."""
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        pass
    else:
        return None
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return types.PARSE_ERROR, "This line is not valid JSON. Send one JSON-RPC message a line, in UTF-8.", None
    request_id = found.get("id") if isinstance(found, dict) else None
    is_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    return types.INVALID_REQUEST, "This is not a JSON-RPC 2.0 message.", request_id if is_id else None
