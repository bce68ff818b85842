"""Path and query parameters, decoded strictly into the struct that an offer declares.

What is not exactly right is refused by name: the struct and its `Meta` constraints are the whole description, compiled
once per route. A parameter that only some values of another require says so with
`Meta(extra={"required_when": {"action": "movements"}})`.
"""

import re
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from urllib.parse import unquote_to_bytes

import msgspec
from starlette.types import ASGIApp

from service.errors import ServiceError
from service.http.gate import RequestGate
from service.http.request import RequestContext
from service.wire.offer import Offer
from service.wire.schema import JsonSchema, parameter_rows

MOST_PARAMETERS: Final = 32
LONGEST_VALUE: Final = 200

_LONGEST_NAME: Final = 64
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,15}\Z", re.ASCII)
_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class ParameterGate(RequestGate):
    """Decodes path and query before anything is counted.

    Args:
        app: The application behind the gate.
        offer: The route.
        known: Raises for parameters that name something that does not exist, if the route knows without waiting.
    """

    def __init__(self, app: ASGIApp, offer: Offer, known: Callable[[Any], object] | None = None) -> None:
        super().__init__(app)
        self._decoder = ParameterDecoder(offer)
        self._known = known

    def check(self, request: RequestContext) -> None:
        """Decode the parameters and look up what they name.

        Raises:
            ServiceError: BAD_REQUEST, or the route's error for an unknown name.
        """
        if request.parameters is None:
            request.parameters = self._decoder.decode(request.path_params, request.scope["query_string"])
        if self._known is not None:
            self._known(request.parameters)


class _Field:
    """One parameter, as its type describes it."""

    __slots__ = ("allowed", "expected", "name", "needed_when", "required", "type", "whole")

    def __init__(self, info: msgspec.structs.FieldInfo, schema: JsonSchema) -> None:
        bare, extra = _strip(info.type)
        values = get_args(bare) if get_origin(bare) is Literal else ()
        if bare is not int and bare is not str and not values:
            raise TypeError(f"parameter {info.encode_name} must be text, a whole number or an enumeration")
        self.name = info.encode_name
        self.type = info.type
        self.required = info.required
        self.whole = bare is int or any(isinstance(value, int) for value in values)
        self.allowed = [str(value) for value in values]
        self.expected = _expectation(schema, self.allowed)
        self.needed_when: Mapping[str, str | tuple[str, ...]] = extra.get("required_when", {})

    def is_number(self, value: str) -> bool:
        """Whether a value is to be read as an integer: `01` and `-0` are not spellings of an enumerated 1 and 0."""
        return self.whole and (value in self.allowed if self.allowed else _WHOLE_NUMBER.match(value) is not None)


class ParameterDecoder:
    """Decodes path and query of one route.

    Args:
        offer: The route.

    Raises:
        TypeError: If a parameter has a type that cannot be written in a URL.
    """

    __slots__ = ("_any_is_special", "_caller", "_fields", "_type")

    def __init__(self, offer: Offer) -> None:
        rows = {row.name: row.schema for row in parameter_rows(offer)}
        fields = [_Field(info, rows[info.encode_name]) for info in msgspec.structs.fields(offer.parameters)]
        self._type = offer.parameters
        self._fields = {field.name: field for field in fields}
        self._any_is_special = any(field.whole or field.needed_when for field in fields)
        self._caller = f"{offer.method} {offer.path}"

    def decode(self, path_params: Mapping[str, str], query_string: bytes) -> msgspec.Struct:
        """Decode the parameters of a request.

        Args:
            path_params: Values of the path template, percent-decoded.
            query_string: What follows `?`, as it was sent.

        Returns:
            An instance of `offer.parameters`.

        Raises:
            ServiceError: BAD_REQUEST with `details` `{parameter, allowed?}`; the message never repeats a value.
        """
        values = _merge(path_params, query_string, self._fields) if query_string else path_params
        for name, value in values.items():
            if not value or len(value) > LONGEST_VALUE or not value.isprintable() or "\ufffd" in value:
                raise _refusal(self._fields[name], _fault(value))
        typed = self._typed(values) if self._any_is_special else values
        try:
            decoded = msgspec.convert(typed, self._type)
        except msgspec.ValidationError:
            raise self._explain(typed) from None
        if self._any_is_special:
            self._check_needs(decoded, values)
        return decoded

    def _typed(self, values: Mapping[str, str]) -> dict[str, str | int]:
        """Turn whole numbers into integers; what is not written as one stays text, which its type then refuses."""
        return {name: int(value) if self._fields[name].is_number(value) else value for name, value in values.items()}

    def _check_needs(self, decoded: msgspec.Struct, given: Mapping[str, str]) -> None:
        for field in self._fields.values():
            for other, wanted in field.needed_when.items():
                value = getattr(decoded, other)
                if field.name not in given and value in ((wanted,) if isinstance(wanted, str) else wanted):
                    message = f"{field.name} is required when {other}={value}."
                    raise ServiceError("BAD_REQUEST", message, details={"parameter": field.name})

    def _explain(self, typed: Mapping[str, str | int]) -> ServiceError:
        """Find the parameter that its type refused: the first missing one, else the first unfit one."""
        for field in self._fields.values():
            if field.required and field.name not in typed:
                message = f"{field.name} is required by {self._caller}."
                return ServiceError("BAD_REQUEST", message, details={"parameter": field.name})
        return _refusal(next(self._fields[name] for name in typed if not _fits(typed[name], self._fields[name].type)))


def _strip(annotation: Any) -> tuple[Any, dict[str, Any]]:
    """Take a field's annotation apart: its type without null, and what its `Meta` says besides constraints."""
    extra: dict[str, Any] = {}
    while True:
        if get_origin(annotation) in {Union, UnionType}:
            annotation = next(option for option in get_args(annotation) if option is not type(None))
        elif get_origin(annotation) is Annotated:
            for meta in annotation.__metadata__:
                extra |= meta.extra or {}
            annotation = annotation.__origin__
        else:
            return annotation, extra


def _merge(path_params: Mapping[str, str], query_string: bytes, known: Mapping[str, _Field]) -> dict[str, str]:
    pieces = query_string.split(b"&", MOST_PARAMETERS)
    if len(pieces) > MOST_PARAMETERS:
        raise ServiceError("BAD_REQUEST", f"A request takes at most {MOST_PARAMETERS} parameters.")
    values: dict[str, str] = {}
    for piece in filter(None, pieces):
        raw_name, _, raw_value = piece.partition(b"=")
        name = _unescape(raw_name, "A parameter's name")
        if name not in known or name in path_params:
            raise _unknown(name, known.keys() - path_params.keys())
        if name in values:
            raise ServiceError("BAD_REQUEST", f"{name} is given more than once.", details={"parameter": name})
        values[name] = _unescape(raw_value, name)
    return {**path_params, **values}


def _unknown(name: str, known: set[str]) -> ServiceError:
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    takes = f"It takes {', '.join(sorted(known))}" if known else "It takes no parameters in the query"
    return ServiceError(
        "BAD_REQUEST", f"{shown} is not a parameter of this route. {takes}.", details={"parameter": shown}
    )


def _unescape(raw: bytes, name: str) -> str:
    if _BAD_ESCAPE.search(raw):
        fault = "a percent sign without two hexadecimal digits"
    else:
        try:
            return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
        except UnicodeDecodeError:
            fault = "bytes that are not UTF-8"
    raise ServiceError("BAD_REQUEST", f"{name} contains {fault}.", details={"parameter": name})


def _fault(value: str) -> str:
    if not value:
        return "is empty"
    if len(value) > LONGEST_VALUE:
        return f"is longer than {LONGEST_VALUE} characters"
    return "contains characters that cannot be printed"


def _refusal(field: _Field, fault: str = "is not valid") -> ServiceError:
    details: dict[str, object] = {"parameter": field.name}
    if field.allowed:
        details["allowed"] = field.allowed
    return ServiceError("BAD_REQUEST", f"{field.name} {fault}. {field.expected}.", details=details)


def _fits(value: str | int, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _expectation(schema: JsonSchema, allowed: list[str]) -> str:
    if allowed:
        return f"It takes {', '.join(allowed)}"
    options = [schema, *schema.get("anyOf", ())]
    facts = {key: value for option in options for key, value in option.items()}
    if "integer" in {option.get("type") for option in options}:
        low, high = facts.get("minimum"), facts.get("maximum")
        bounds = f" from {low} to {high}" if low is not None and high is not None else ""
        return f"It takes a whole number{bounds}, in plain digits"
    text = facts.get("description") or f"text of at most {facts.get('maxLength', LONGEST_VALUE)} characters"
    return f"It takes {text[0].lower()}{text[1:]}"
