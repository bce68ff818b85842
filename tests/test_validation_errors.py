"""No refusal shows a pattern: what does not fit is said in words."""

import string
from collections.abc import Callable, Iterator
from functools import partial
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import pytest
from msgspec import Meta, Struct

from service.errors import ServiceError
from service.http.gates.body import decode_body
from service.http.gates.parameters import ParameterDecoder
from service.payments.decode import DecodedPayment, decode_exact
from service.validation_errors import explain_invalid
from service.wire.ask import Question
from service.wire.offer import Offer
from service.wire.offers import OFFERS
from service.wire.payment import ExactPayload
from service.wire.schema import path_fields

SIGNS = ("^", "regex", r"\Z", "Expected `")
WRONG: tuple[Any, ...] = (
    "",
    "\u0001",
    "!" * 199,
    "%$^&",
    "x" * 9_000,
    -1,
    10**18,
    1.5,
    True,
    None,
    [],
    [7],
    {},
    {"a": 1},
)


class Part(Struct, forbid_unknown_fields=True):
    code: Annotated[str, Meta(pattern=r"^[a-z]{2}\Z", description="Two letters such as de", max_length=9)]
    count: Annotated[int, Meta(ge=1, le=5)] = 1


class Whole(Struct):
    parts: list[Part] = []
    by_name: dict[str, Part] = {}
    kind: Literal["a", "b"] = "a"
    bare: Annotated[str, Meta(pattern="^x$")] = "x"
    some: Annotated[list[int], Meta(min_length=1)] | None = None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"parts": [{"code": "DEU"}]}, "parts[0].code is not valid: it takes two letters such as de"),
        ({"by_name": {"x": {"code": "1"}}}, "by_name[...].code is not valid: it takes two letters such as de"),
        ({"parts": [{"code": "a" * 10}]}, "parts[0].code takes at most 9 characters"),
        ({"parts": [{"code": "de", "count": 0}]}, "parts[0].count takes a number that is at least 1"),
        ({"parts": [{"code": "de", "count": 6}]}, "parts[0].count takes a number that is at most 5"),
        ({"parts": [{}]}, "parts[0].code is required"),
        ({"parts": [{"code": "de", "other": 1}]}, "parts[0].other is not a known field"),
        ({"parts": [{"code": "de", "a`b": 1}]}, "parts[0].a`b is not a known field"),
        ({"parts": [{"code": "de", "`": 1}]}, "parts[0].` is not a known field"),
        ({"parts": [{"code": "de", "``x``": 1}]}, "parts[0].``x`` is not a known field"),
        ({"parts": [{"code": "de", "x` - at `$.kind": 1}]}, "parts[0].x` - at `$.kind is not a known field"),
        ({"parts": [{"code": "de", "a\r\nb\u202e": 1}]}, "parts[0].a b is not a known field"),
        ({"parts": [{"code": "de", "x" * 300: 1}]}, f"{'x' * 80} is not a known field"),
        ({"parts": [{"code": "de", "": 1}]}, "parts[0] has a field whose name shows nothing, which is not known"),
        ({"parts": [{"code": "de", " \n": 1}]}, "parts[0] has a field whose name shows nothing, which is not known"),
        ({"parts": [{"code": "de", "\u200b": 1}]}, "parts[0] has a field whose name shows nothing, which is not known"),
        ({"parts": 7}, "parts takes a list, not a whole number"),
        ({"parts": [None]}, "parts[0] takes an object, not null"),
        ({"kind": "secret"}, "kind is not valid: it takes one of a, b"),
        ({"bare": "secret"}, "bare is not valid"),
        ({"some": []}, "some takes at least 1 entry"),
        ({"some": "x"}, "some takes a list or null, not text"),
        ([], "the body takes an object, not a list"),
        (True, "the body takes an object, not true or false"),
    ],
)
def test_what_does_not_fit_is_said_in_words(value: object, said: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.json.decode(msgspec.json.encode(value), type=Whole)
    assert explain_invalid(refused.value, Whole).sentence("the body") == said


@pytest.mark.parametrize("number", ["1e400", "-1e999", "1" * 6_000, "1e99999", "-" + "9" * 5_000, "1.5e3080"])
def test_a_number_that_no_computer_holds_is_said_to_be_out_of_range(number: str) -> None:
    with pytest.raises(ServiceError, match=r"parts\[0\].count is out of range\."):
        decode_body(Whole, f'{{"parts":[{{"code":"de","count":{number}}}]}}'.encode())


def refusal(work: Callable[[], object]) -> str:
    """The message of a refusal; empty if there is none."""
    try:
        work()
    except ServiceError as error:
        return error.message
    return ""


def bodies(kind: Any, depth: int = 2) -> Iterator[Any]:
    """Bodies in which one field at a time is wrong; the others are what comes first to mind."""
    for wrong in WRONG:
        yield wrong
    fields = msgspec.structs.fields(kind)
    good = {info.encode_name: sample(info.type) for info in fields if info.required}
    for info in fields:
        for wrong in (*WRONG, *nested(info.type, depth)):
            yield {**good, info.encode_name: wrong}
        yield {name: value for name, value in good.items() if name != info.encode_name}
    yield {**good, "unknown": 1}


def nested(kind: Any, depth: int) -> Iterator[Any]:
    for option in (kind, *get_args(kind)) if depth else ():
        if isinstance(option, type) and issubclass(option, Struct):
            yield from bodies(option, depth - 1)
        elif get_origin(option) is list:
            yield from ([each] for each in nested(option, depth - 1))


def sample(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return sample(kind.__origin__)
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, Struct):
        return {info.encode_name: sample(info.type) for info in msgspec.structs.fields(kind) if info.required}
    return {str: "0x" + "0" * 40, int: 1, bool: True, float: 1.0, NoneType: None}.get(kind, [])


@pytest.mark.parametrize("offer", [offer for offer in OFFERS if offer.body], ids=lambda offer: offer.id)
def test_no_refusal_of_a_body_shows_a_pattern(offer: Offer) -> None:
    assert offer.body
    said = [refusal(partial(decode_body, offer.body, msgspec.json.encode(body))) for body in bodies(offer.body)]
    assert len([each for each in said if each]) > len(WRONG)
    assert [each for each in said if any(sign in each for sign in SIGNS)] == []


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.id)
def test_no_refusal_of_a_parameter_shows_a_pattern(offer: Offer) -> None:
    decoder = ParameterDecoder(offer)
    in_path = path_fields(offer.path)
    for info in msgspec.structs.fields(offer.parameters):
        for wrong in ("", "!!", "x" * 190, "%00", "-1", "9" * 15, "%C3%A9", "a b", string.ascii_letters):
            path = dict.fromkeys(in_path, "BTC")
            query = b""
            if info.encode_name in in_path:
                path[info.encode_name] = wrong
            else:
                query = f"{info.encode_name}={wrong}".encode()
            said = refusal(partial(decoder.decode, path, query))
            assert not any(sign in said for sign in SIGNS), said


def test_no_refusal_of_a_payment_shows_a_pattern() -> None:
    presented = partial(
        DecodedPayment, carrier="payment-signature", version=2, scheme="exact", network="", accepted=None
    )
    for body in bodies(ExactPayload):
        said = refusal(partial(decode_exact, presented(payload=msgspec.Raw(msgspec.json.encode(body)))))
        assert not any(sign in said for sign in SIGNS), said


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([{"role": "assistant", "content": "x"}], "the last of messages must have the role user"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], "must have the role user"),
        ([{"role": "user", "content": ""}], "the last of messages says nothing: write a question"),
        ([{"role": "user", "content": " \t"}], "write a question"),
        ([{"role": "user", "content": "x" * 7_000}] * 2, "messages hold more than 8000 characters in all"),
        ([{"role": "user", "content": "x" * 4_001}] * 2, "more than 8000 characters"),
    ],
)
def test_a_reason_of_our_own_is_repeated(messages: list[dict[str, str]], reason: str) -> None:
    with pytest.raises(ServiceError, match=reason):
        decode_body(Question, msgspec.json.encode({"messages": messages}))


def test_an_enumeration_lists_its_values() -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "archetype": "x"}
    with pytest.raises(ServiceError, match="one of base, trader, analyst"):
        decode_body(Question, msgspec.json.encode(body))
