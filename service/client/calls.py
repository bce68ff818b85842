"""Descriptions of requests, their typed results, and the descriptor that makes methods of `Verdict` from them."""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from importlib import import_module
from secrets import token_hex
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar, get_type_hints, overload

import msgspec
from msgspec import Struct
from msgspec.inspect import ListType, StructType, type_info

from service.client.answer import CallerQuota, RawAnswer, UnreadableAnswerError, read_quota
from service.client.connection import RequestParts, fill
from service.client.errors import VerdictError
from service.validation_errors import explain_invalid
from service.wire.offers import OFFERS, QUESTION

P = ParamSpec("P")
T = TypeVar("T")

OFFER_OF: Final = {offer.id: offer for offer in OFFERS}
"""By id."""


class ApiCall(Struct, Generic[T], frozen=True):
    """One request: id of the offer in `service.wire.offers`, struct of the answer's data, parameters or body fields."""

    offer: str
    result: type[T]
    values: Mapping[str, object] = {}


class AnswerMeta(Struct, frozen=True):
    """When an answer was produced (`ts`), the time and age of its data. ISO 8601 UTC; None if an answer has none."""

    ts: str | None = None
    as_of: str | None = None
    data_age_seconds: int | None = None


class _Envelope(Struct, Generic[T], frozen=True):
    data: T
    meta: AnswerMeta


class ApiResult(Struct, Generic[T], frozen=True):
    """The answer to a call: the typed data, and their time and age (`meta`).

    `quota` are the questions that are left, None if the call was not counted; `receipt_id` is the id of the payment's
    receipt, None if the call was not paid for.
    """

    call: ApiCall[T]
    data: T
    meta: AnswerMeta
    quota: CallerQuota | None
    receipt_id: str | None

    @property
    def rows(self) -> list[Any]:
        """Entries of an answer that is a list; an answer that is one object is the only entry."""
        kind: Any = type(self.data)
        lists = [field.name for field in msgspec.structs.fields(kind) if _is_list_of_structs(field.type)]
        return list(getattr(self.data, lists[0])) if len(lists) == 1 else [self.data]

    @property
    def next_cursor(self) -> str | None:
        """Cursor of the next page; None if this is the last one."""
        return getattr(getattr(self.data, "meta", self.data), "next_cursor", None)

    @property
    def next_call(self) -> ApiCall[T] | None:
        """The call for the next page; None if this is the last one."""
        values = {**self.call.values, "cursor": self.next_cursor}
        return None if self.next_cursor is None else ApiCall(self.call.offer, self.call.result, values)

    def to_frame(self) -> Any:
        """The entries as a `pandas.DataFrame`; `ImportError` if pandas is not installed."""
        return import_module("pandas").DataFrame(msgspec.to_builtins(self.rows))


def _is_list_of_structs(kind: Any) -> bool:
    found = type_info(kind)
    return isinstance(found, ListType) and isinstance(found.item_type, StructType)


class _Caller(Protocol):
    def _send(self, call: ApiCall[T]) -> ApiResult[T]: ...


class _AsyncCaller(Protocol):
    async def _send(self, call: ApiCall[T]) -> ApiResult[T]: ...


class ApiMethod(Generic[P, T]):
    """Makes a method that sends a call from one that describes it, for `Verdict` and `AsyncVerdict` alike."""

    def __init__(self, describe: Callable[Concatenate[Any, P], ApiCall[T]]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, caller: None, owner: type) -> "ApiMethod[P, T]": ...
    @overload
    def __get__(self, caller: _Caller, owner: type) -> Callable[P, ApiResult[T]]: ...
    @overload
    def __get__(self, caller: _AsyncCaller, owner: type) -> Callable[P, Coroutine[Any, Any, ApiResult[T]]]: ...
    def __get__(self, caller: Any, owner: type) -> Any:
        """The method of a client; the decorator itself on the class."""
        if caller is None:
            return self
        described = self.describe.__get__(caller)

        @wraps(described)
        def send(*arguments: P.args, **named: P.kwargs) -> Any:
            return caller._send(described(*arguments, **named))  # noqa: SLF001 - the method belongs to the client

        return send


def route(offer: str, result: type[T], takes: Callable[P, Struct], summary: str = "", **fixed: str) -> ApiMethod[P, T]:
    """A method that takes the fields of a route's query struct, and returns its answer.

    Only the parameters of the struct are used: the service checks their values. `summary` is the docstring, else that
    of the offer; `fixed` are further parameters.
    """
    signature, kinds = inspect.signature(takes), get_type_hints(takes)
    signature = signature.replace(
        parameters=[own.replace(annotation=kinds[own.name]) for own in signature.parameters.values()],
        return_annotation=ApiResult[result],  # type: ignore[valid-type]
    )

    def describe(_client: Any, /, *arguments: P.args, **named: P.kwargs) -> ApiCall[T]:
        return ApiCall(offer, result, {**signature.bind(*arguments, **named).arguments, **fixed})

    describe.__signature__ = signature  # type: ignore[attr-defined]
    describe.__doc__ = f"{summary or OFFER_OF[offer].summary}."
    return ApiMethod(describe)


def request_of(offer: str, values: Mapping[str, object]) -> RequestParts:
    """The request of an offer: parameters, or the fields of the body; None values are left out.

    A question gets a key of its own, with which it is answered and charged once.

    Raises:
        VerdictError: If a part of the path is empty: the path would be another route's.
    """
    row = OFFER_OF[offer]
    for name, value in values.items():
        if value == "" and "{" + name + "}" in row.path:
            raise VerdictError(f"`{name}` is empty. Nothing was sent.")
    path, rest = fill(row.path, {name: value for name, value in values.items() if value is not None})
    query, body = ({}, rest) if row.body else (rest, None)
    return RequestParts(row.method, path, query, body, {"Idempotency-Key": token_hex(16)} if row is QUESTION else {})


def decode(body: bytes, kind: Any, whole: str) -> Any:
    """Decode JSON into a type; `whole` names it in the message of an error (`The answer`).

    Raises:
        UnreadableAnswerError: If it is not of that type; it has the body.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as error:
        fault = explain_invalid(error).sentence("it")
    except (ValueError, RecursionError):
        fault = "it is not valid JSON in UTF-8"
    raise UnreadableAnswerError(f"{whole} does not have the expected form: {fault}.", body)


def result_of(call: ApiCall[T], answer: RawAnswer) -> ApiResult[T]:
    """Decode the answer to a call. Raises as `decode`."""
    kind: Any = call.result
    if OFFER_OF[call.offer].envelope:
        whole = decode(answer.body, _Envelope[kind], "The answer")
    else:
        whole = _Envelope(decode(answer.body, kind, "The answer"), AnswerMeta())
    return ApiResult(call, whole.data, whole.meta, read_quota(answer.headers), answer.receipt_id)
