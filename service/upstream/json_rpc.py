"""JSON-RPC as Ethereum's nodes speak it. What they say is read strictly: a node may be anybody's.

Sources: https://www.jsonrpc.org/specification, https://ethereum.github.io/execution-apis.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from service.formats import sentence
from service.upstream.failures import LONGEST_BODY, UpstreamError, redact
from service.upstream.http_client import HttpClient

_LONGEST_WORDS: Final = 200
_REVERTED: Final = 3
"""geth's code of a call that was executed and reverted."""

_ERROR_STRING: Final = bytes.fromhex("08c379a0")
"""Selector of `Error(string)`, by which contracts say why they revert."""

_REVERT_DATA: Final = re.compile(r"0x((?:[0-9a-fA-F]{2}){4,})(?![0-9a-zA-Z])")
_DEEPEST: Final = 3
"""Nodes put an error's data into an object, or into an object of that."""

Quantity: TypeAlias = Annotated[str, Meta(pattern=r"^0x[0-9a-fA-F]{1,64}\Z")]
Data: TypeAlias = Annotated[str, Meta(pattern=r"^0x(?:[0-9a-fA-F]{2})*\Z")]
Hash: TypeAlias = Annotated[str, Meta(pattern=r"^0x[0-9a-fA-F]{64}\Z")]


class NodeError(Exception):
    """The node gave no usable answer; the words are for the operator, and hold nothing secret."""


class RevertedError(NodeError):
    """The node ran the call, and the contract refused it; the words are the contract's.

    Args:
        reason: The contract's words.
        data: What it reverted with, ABI-encoded, if the node gives that.

    Attributes:
        reason: The words as the node gave them. Compare them, but never log or repeat them: `str()` of the error is
            redacted, and may have lost the very words that say what happened.
        data: As given.
    """

    def __init__(self, reason: str, data: bytes = b"") -> None:
        super().__init__(redact(reason.encode("utf-8", "replace"))[:_LONGEST_WORDS])
        self.reason = reason
        self.data = data


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
        raise NodeError(f"{method}: The node answered another request.")
    try:
        return msgspec.json.decode(answer.result, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NodeError(f"{method}: The node gave no usable answer.") from error


class RpcNode:
    """One node. Its chain id is checked before anything else is asked.

    Args:
        http: HTTP client of the node.
        chain_id: The expected chain (EIP-155).
    """

    def __init__(self, http: HttpClient, chain_id: int) -> None:
        self.chain_id = chain_id
        self._http = http
        self._ids = count(1)
        self._known = False

    async def ask(self, method: str, kind: Any, *parameters: object) -> Any:
        """Ask once.

        Args:
            method: `eth_call`.
            kind: The result's type.
            parameters: The method's.

        Raises:
            RevertedError: If a contract refuses a call.
            NodeError: If there is no usable answer, or the node is on another chain.
        """
        if not self._known:
            named = int(await self._put("eth_chainId", Quantity), 16)
            if named != self.chain_id:
                raise NodeError(f"VERDICT_RPC_URL is a node of chain {named}, not {self.chain_id}.")
            self._known = True
        return await self._put(method, kind, *parameters)

    async def _put(self, method: str, kind: Any, *parameters: object) -> Any:
        number = next(self._ids)
        try:
            reply = await self._http.post("", msgspec.json.encode(rpc_question(number, method, *parameters)))
        except UpstreamError as error:
            raise NodeError(f"{method}: {sentence(error.body)}") from error
        try:
            answer = ANSWERS.decode(reply.body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise NodeError(f"{method}: The node gave no usable answer (status {reply.status}).") from error
        return rpc_result(answer, number, method, kind)


def _failure(method: str, failure: _Failure) -> NodeError:
    """Tell a contract's refusal from a node's. Nodes agree neither on the code nor on where the reason stands."""
    texts = list(_texts(failure.data, _DEEPEST))
    if failure.code != _REVERTED and not any("revert" in text.lower() for text in (failure.message, *texts)):
        return NodeError(f"{method}: {redact(failure.message.encode())[:_LONGEST_WORDS]}")
    data = next((bytes.fromhex(found[1]) for text in texts if (found := _REVERT_DATA.search(text))), b"")
    words = [_error_string(data), *(text for text in texts if "0x" not in text), failure.message]
    return RevertedError("; ".join(dict.fromkeys(text[:LONGEST_BODY] for text in words if text)), data)


def _texts(data: object, depth: int) -> Iterator[str]:
    """The texts in an error's `data`: a string, or an object that holds some."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict) and depth:
        for value in data.values():
            yield from _texts(value, depth - 1)


def _error_string(data: bytes) -> str:
    """Read `Error(string)`: selector, offset, length, text. Empty if it is none."""
    if not data.startswith(_ERROR_STRING):
        return ""
    return data[68 : 68 + int.from_bytes(data[36:68])].decode("utf-8", "replace")
