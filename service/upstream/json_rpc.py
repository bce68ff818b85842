"""JSON-RPC as Ethereum's nodes speak it. What they say is read strictly: a node may be anybody's.

Sources: https://www.jsonrpc.org/specification, https://ethereum.github.io/execution-apis.
"""

from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from service.upstream.failure import redact

_LONGEST_WORDS: Final = 200
_REVERTED: Final = 3
"""geth's code of a call that was executed and reverted."""

_ERROR_STRING: Final = "0x08c379a0"
"""Selector of `Error(string)`, by which contracts say why they revert."""

Quantity: TypeAlias = Annotated[str, Meta(pattern=r"^0x[0-9a-fA-F]{1,64}\Z")]
Data: TypeAlias = Annotated[str, Meta(pattern=r"^0x(?:[0-9a-fA-F]{2})*\Z")]
Hash: TypeAlias = Annotated[str, Meta(pattern=r"^0x[0-9a-fA-F]{64}\Z")]


class NodeError(Exception):
    """The node gave no usable answer; the words are for the operator, and hold nothing secret."""


class RevertedError(NodeError):
    """The node ran the call, and the contract refused it; the words are the contract's."""


class _Failure(Struct):
    code: int
    message: str
    data: Any = None


class RpcAnswer(Struct):
    """An answer whose result is still to be read."""

    id: int
    result: Raw | UnsetType = UNSET
    error: _Failure | None = None


ANSWERS: Final = msgspec.json.Decoder(RpcAnswer)


def rpc_question(number: int, method: str, *parameters: object) -> dict[str, object]:
    """A question, ready to be encoded."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


def rpc_result(answer: RpcAnswer, number: int, method: str, kind: Any) -> Any:
    """Read what was answered.

    Args:
        answer: To this question.
        number: The question's.
        method: What was asked, for the error.
        kind: The result's type.

    Raises:
        RevertedError: If a contract refuses a call.
        NodeError: If the node does, or does not answer what was asked.
    """
    if answer.error is not None:
        raise _failure(method, answer.error)
    if answer.id != number or answer.result is UNSET:
        raise NodeError(f"{method}: the node answered something else")
    try:
        return msgspec.json.decode(answer.result, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NodeError(f"{method}: no usable answer") from error


def _failure(method: str, failure: _Failure) -> NodeError:
    """Tell a contract's refusal from a node's."""
    said = redact(failure.message.encode())[:_LONGEST_WORDS]
    if failure.code != _REVERTED and not said.startswith("execution reverted"):
        return NodeError(f"{method}: {said}")
    return RevertedError(_said_by_contract(failure.data) or said)


def _said_by_contract(data: object) -> str | None:
    """Read `Error(string)`: selector, offset, length, text."""
    if not isinstance(data, str) or not data.startswith(_ERROR_STRING):
        return None
    try:
        words = bytes.fromhex(data[len(_ERROR_STRING) :])
    except ValueError:
        return None
    return words[64 : 64 + int.from_bytes(words[32:64])].decode("utf-8", "replace")[:_LONGEST_WORDS]
