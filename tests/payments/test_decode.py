"""Payment headers: what an honest client writes is read, anything else is a 400 that says what is wrong."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import ServiceError
from service.payments.decode import DecodedPayment, PaymentHeader, decode_exact, decode_payment
from service.payments.errors import PaymentRefusedError
from service.wire.payment import ExactPayload
from tests.payments.recorded import RECORDED
from tests.payments.signing import header, pay_v1, pay_v2, wallet

CARRIERS: Final[tuple[PaymentHeader, PaymentHeader]] = ("payment-signature", "x-payment")
V1: Final = pay_v1(wallet())
V2: Final = pay_v2(wallet())


def sent(payload: object, carrier: PaymentHeader = "x-payment") -> DecodedPayment:
    return decode_payment(carrier, header(payload).encode())


def raw(text: bytes, carrier: PaymentHeader = "x-payment") -> DecodedPayment:
    return decode_payment(carrier, b64encode(text))


def read_raw(text: bytes) -> ExactPayload:
    return decode_exact(raw(text))


def read(payload: object) -> ExactPayload:
    return decode_exact(sent(payload))


def refused(call: Callable[..., object], *args: object) -> str:
    """The message of the BAD_REQUEST that a call raises."""
    with pytest.raises(ServiceError) as caught:
        call(*args)
    assert caught.value.code == "BAD_REQUEST"
    assert caught.value.details is not None
    assert caught.value.message.startswith(f"{caught.value.details['parameter']} ")
    return caught.value.message


def spoilt(payload: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A payload in which one member is something else; the member need not have been there."""
    copy: dict[str, Any] = json.loads(json.dumps(payload))
    *way, last = path.split(".")
    place = copy
    for name in way:
        place = place[name]
    place[last] = value
    return copy


def without(payload: dict[str, Any], path: str) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(payload))
    *way, last = path.split(".")
    place = copy
    for name in way:
        place = place[name]
    del place[last]
    return copy


@pytest.mark.promise("pay.headers")
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_v2_payment_is_read_from_either_header(carrier: PaymentHeader) -> None:
    payment = sent(V2, carrier)
    assert (payment.version, payment.scheme, payment.network) == (2, "exact", "eip155:84532")
    assert payment.accepted is not None
    assert msgspec.to_builtins(payment.accepted) == V2["accepted"]
    assert msgspec.to_builtins(decode_exact(payment)) == V2["payload"]


@pytest.mark.promise("pay.headers")
def test_a_v1_payment_is_read_from_x_payment() -> None:
    payment = sent(V1)
    assert (payment.version, payment.scheme, payment.network) == (1, "exact", "base-sepolia")
    assert payment.accepted is None
    assert msgspec.to_builtins(decode_exact(payment)) == V1["payload"]


@pytest.mark.parametrize("client", RECORDED)
def test_what_the_official_clients_wrote_is_read(client: str) -> None:
    carrier, _, value = RECORDED[client]
    assert decode_exact(decode_payment(carrier, value)).authorization.value == "5000"


def test_what_the_challenge_said_may_be_sent_back_and_is_not_looked_into() -> None:
    echo = {"resource": {"url": "https://elsewhere.example/"}, "extensions": {"bazaar": {"info": [1, {"a": "{}"}]}}}
    assert sent(V2 | echo) == sent(V2)
    assert sent(V2 | {"resource": None, "extensions": None}) == sent(V2)


@pytest.mark.parametrize("value", [5, "text", [], [{}], True])
def test_extensions_and_resource_are_objects(value: object) -> None:
    assert "extensions takes" in refused(sent, V2 | {"extensions": value})
    assert "resource takes" in refused(sent, V2 | {"resource": value})


@pytest.mark.promise("pay.checked")
@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"!",
        b"not base64 at all",
        b"e30",  # no padding
        b"e30=e30=",
        b"e3 0=",
        b"e30=\n",
        b" e30=",
        b"=e30",
        b"e30==",
        b"e30-_w==",  # the alphabet of URLs
        b"\xff\xfe",
    ],
)
def test_garbage_base64_is_a_400(value: bytes) -> None:
    if value:
        assert "standard base64" in refused(decode_payment, "payment-signature", value)
    else:
        assert "PAYMENT-SIGNATURE is empty" in refused(decode_payment, "payment-signature", value)


@pytest.mark.promise("pay.checked")
@pytest.mark.parametrize(
    "text", [b"{", b"hello", b"{'x402Version':2}", b'{"x402Version":2,}', b"\x00", b'{"x402Version":2}{}']
)
def test_what_is_not_json_is_a_400(text: bytes) -> None:
    assert "not valid JSON" in refused(raw, text)


@pytest.mark.parametrize("text", [b"[]", b"null", b"2", b'"text"', b"true", b"{}", b'{"x402Version":null}'])
def test_json_that_is_no_payment_is_a_400(text: bytes) -> None:
    for carrier in CARRIERS:
        refused(raw, text, carrier)


@pytest.mark.parametrize("version", ["2", 2.0, True, None, [2], {}])
def test_a_version_of_another_type_is_a_400(version: object) -> None:
    assert "x402Version" in refused(sent, V2 | {"x402Version": version})


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("version", [0, 3, -1, 2**64, 10**400])
def test_version_0_or_3_is_refused_by_its_reason_code(carrier: PaymentHeader, version: int) -> None:
    text = json.dumps(V2 | {"x402Version": version}).encode()
    with pytest.raises(PaymentRefusedError) as caught:
        raw(text, carrier)
    assert caught.value.details == {"reason": "invalid_x402_version"}
    assert ("another x402 version" in caught.value.message) == (carrier == "x-payment")


def test_a_v1_payload_in_payment_signature_is_refused_and_told_where_it_belongs() -> None:
    with pytest.raises(PaymentRefusedError, match="X-PAYMENT") as caught:
        sent(V1, "payment-signature")
    assert caught.value.reason == "invalid_x402_version"


def test_an_integer_too_long_for_python_is_a_400() -> None:
    refused(raw, b'{"x402Version":' + b"9" * 5_000 + b"}")
    refused(raw, json.dumps(V2).encode().replace(b"60", b"9" * 5_000))


@pytest.mark.parametrize("levels", [33, 2_000, 200_000])
@pytest.mark.parametrize("place", [b'{"x402Version":2,"payload":%b}', b'{"x402Version":2,"extensions":%b}', b"%b"])
def test_deep_json_is_a_400(place: bytes, levels: int) -> None:
    assert "nested more than 32 deep" in refused(raw, place % (b"[" * levels + b"]" * levels))
    assert "nested more than 32 deep" in refused(raw, place % (b"[" * levels))


def test_a_header_of_a_megabyte_is_read_in_linear_time_and_refused() -> None:
    refused(raw, b'{"x402Version":2,"payload":"' + b"a" * 1_000_000 + b'"}')
    refused(read, spoilt(V2, "payload.signature", "0x" + "ab" * 500_000))


MEMBERS: Final = [
    "accepted",
    "payload",
    *(f"accepted.{name}" for name in ("scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds")),
]


@pytest.mark.parametrize("path", MEMBERS)
def test_a_member_that_is_missing_is_a_400_that_names_it(path: str) -> None:
    assert path.rpartition(".")[2] in refused(sent, without(V2, path))


@pytest.mark.parametrize("path", ["unknown", "accepted.unknown", "scheme", "network"])
def test_a_member_that_nobody_knows_is_a_400_that_names_it(path: str) -> None:
    assert path.rpartition(".")[2] in refused(sent, spoilt(V2, path, "exact"))


@pytest.mark.parametrize("path", ["accepted", "resource", "unknown"])
def test_a_v1_payment_has_the_members_of_v1_alone(path: str) -> None:
    refused(sent, V1 | {path: {}})


SIGNED: Final = ["from", "to", "value", "validAfter", "validBefore", "nonce"]


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("value", [None, 5, 5.0, True, [], {}, ["5000"], "", " ", "0x", "\x00"])
@pytest.mark.parametrize("payload", [V1, V2], ids=["v1", "v2"])
def test_what_is_signed_is_text_of_its_own_form(payload: dict[str, Any], name: str, value: object) -> None:
    path = f"payload.authorization.{name}"
    assert f"authorization.{name} " in refused(read, spoilt(payload, path, value))


@pytest.mark.parametrize("path", ["payload.signature", "payload.authorization", "payload.authorization.nonce"])
def test_what_is_signed_is_all_there(path: str) -> None:
    assert path.rpartition(".")[2] in refused(read, without(V2, path))


@pytest.mark.parametrize("path", ["payload.more", "payload.authorization.more", "payload.authorization.from_"])
def test_nothing_else_is_signed(path: str) -> None:
    assert path.rpartition(".")[2] in refused(read, spoilt(V2, path, "1"))


@pytest.mark.promise("pay.checked")
@pytest.mark.parametrize(
    "number",
    [
        "1_000",
        " 1000 ",
        "+1000",
        "-1",
        "01000",
        "1e3",
        "1000.0",
        "0x3e8",
        "\u0661\u0660",
        "1000\n",
        "",
        "1,000",
        "9" * 79,
    ],
)
@pytest.mark.parametrize("name", ["value", "validAfter", "validBefore"])
def test_a_number_is_written_in_plain_digits(name: str, number: str) -> None:
    refused(read, spoilt(V2, f"payload.authorization.{name}", number))


@pytest.mark.promise("pay.claimed")
@pytest.mark.parametrize(
    "nonce",
    [
        "ab" * 32,
        "0X" + "ab" * 32,
        "0x" + "ab" * 31,
        "0x" + "ab" * 33,
        "0x" + "ab" * 31 + "a",
        "0x" + "gg" * 32,
        "0x" + "ab" * 32 + "\n",
    ],
)
def test_a_nonce_without_0x_or_of_another_length_is_refused(nonce: str) -> None:
    refused(read, spoilt(V2, "payload.authorization.nonce", nonce))


@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize(
    "address", ["11" * 20, "0x" + "11" * 19, "0x" + "11" * 21, "0X" + "11" * 20, "0x" + "11" * 20 + "\n", "vitalik.eth"]
)
def test_an_address_is_0x_and_40_digits(name: str, address: str) -> None:
    refused(read, spoilt(V2, f"payload.authorization.{name}", address))


@pytest.mark.parametrize("length", [0, 1, 64, 4_097])
def test_a_signature_has_65_bytes_or_those_of_a_contract(length: int) -> None:
    refused(read, spoilt(V2, "payload.signature", "0x" + "ab" * length))


@pytest.mark.parametrize("signature", ["ab" * 65, "0X" + "ab" * 65, "0x" + "ab" * 65 + "a", "0x" + "gg" * 65, None])
def test_a_signature_is_0x_and_whole_bytes(signature: object) -> None:
    refused(read, spoilt(V2, "payload.signature", signature))


def test_a_permit2_payload_is_a_400_where_eip_3009_is_asked_for() -> None:
    permit = {"signature": V2["payload"]["signature"], "permit2Authorization": {"nonce": "1"}}
    assert "permit2Authorization" in refused(read, V2 | {"payload": permit})


TWICE: Final = [
    (b'"x402Version":2', b'"x402Version":2,"x402Version":2'),
    (b'"payload":', b'"payload":{},"payload":'),
    (b'"value":', b'"value":"1","value":'),
    (b'"value":', b'"v\\u0061lue":"1","value":'),
    (b'"signature":', b'"signature":"0x","signature":'),
    (b'"amount":', b'"amount":"1","amount":'),
    (b'"name":', b'"name":"Other","name":'),
    (b'"accepted":', b'"extensions":{},"extensions":{},"accepted":'),
    (b'"accepted":', b'"extensions":{"value":"1"},"extensions":{"value":"1"},"accepted":'),
    (b'"accepted":', b'"resource":{"a":1,"a":1},"accepted":'),
]


@pytest.mark.promise("pay.checked")
@pytest.mark.parametrize(("text", "twice"), TWICE)
def test_a_member_given_twice_is_a_400(text: bytes, twice: bytes) -> None:
    payload = msgspec.json.encode(V2)
    assert payload.count(text) == 1
    assert "twice" in refused(raw, payload.replace(text, twice))


@pytest.mark.parametrize("name", [b"x402Version", b"scheme", b"network", b"payload", b"value", b"nonce"])
def test_a_member_of_a_v1_payment_given_twice_is_a_400(name: bytes) -> None:
    member = b'"%b":' % name
    other = b"1," if name == b"x402Version" else b'"1",'
    assert "twice" in refused(raw, msgspec.json.encode(V1).replace(member, member + other + member))


def test_extensions_like_another_member_do_not_hide_what_that_one_repeats() -> None:
    extra = b'{"name":"Other","name":"USDC","version":"2"}'
    payload = msgspec.json.encode(V2 | {"extensions": {}}).replace(b'"extensions":{}', b'"extensions":' + extra)
    payload = payload.replace(msgspec.json.encode(V2["accepted"]["extra"]), extra)
    assert payload.count(extra) == 2
    assert "twice" in refused(raw, payload)


def test_what_is_not_utf_8_is_a_400_wherever_it_stands() -> None:
    payload = msgspec.json.encode(V2)
    for text in (b"exact", b"0x036C", b"USDC", V2["payload"]["signature"].encode()):
        for bad in (b"\xff", b"\xed\xa0\x80", b"\xc0\x80"):
            refused(read_raw, payload.replace(text, bad))


def test_a_lone_surrogate_is_a_400() -> None:
    payload = msgspec.json.encode(V2)
    for text in (b"exact", b"USDC", V2["payload"]["authorization"]["nonce"].encode()):
        refused(read_raw, payload.replace(text, b"\\ud800"))


def test_a_refusal_is_short_and_does_not_repeat_what_was_sent() -> None:
    secret = "0x" + "ab" * 64 + "zz"
    assert "abab" not in refused(read, spoilt(V2, "payload.signature", secret))
    assert len(refused(sent, V2 | {"x" * 9_000: 1})) < 300
    assert len(refused(raw, b'{"x402Version":2,"%b":1,"%b":1}' % ((b"x" * 9_000,) * 2))) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(SIGNED),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PATHS: Final = [*MEMBERS, "x402Version", "payload.signature", "accepted.extra", "extensions", "resource", "new",
                *(f"payload.authorization.{name}" for name in SIGNED)]  # fmt: skip


def answered(carrier: PaymentHeader, value: bytes) -> None:
    """Whatever comes in is read, or is a 400 or a 402."""
    code = "fine"
    try:
        decode_exact(decode_payment(carrier, value))
    except ServiceError as error:
        code = error.code
    assert code in {"fine", "BAD_REQUEST", "PAYMENT_REQUIRED"}


@given(st.sampled_from(CARRIERS), st.binary(max_size=300), st.booleans())
def test_any_bytes_are_answered(carrier: PaymentHeader, value: bytes, encoded: bool) -> None:
    answered(carrier, b64encode(value) if encoded else value)


@given(st.sampled_from(CARRIERS), st.sampled_from([V1, V2]), st.sampled_from(PATHS), JSON)
def test_any_value_in_any_place_is_answered(
    carrier: PaymentHeader, payload: dict[str, Any], path: str, value: object
) -> None:
    try:
        spoiling = spoilt(payload, path, value)
    except KeyError:
        return
    answered(carrier, b64encode(json.dumps(spoiling).encode("utf-8", "surrogatepass")))


@given(st.sampled_from(CARRIERS), st.sampled_from([V1, V2]), st.data())
def test_any_byte_may_be_another(carrier: PaymentHeader, payload: dict[str, Any], data: st.DataObject) -> None:
    text = bytearray(msgspec.json.encode(payload))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    answered(carrier, b64encode(bytes(text)))


KNOWN: Final = ["x402Version", "payload", "accepted", "amount", "signature", "value", "scheme", "name"]
TANGLED: Final = st.text(st.sampled_from('{}",:a'), max_size=6) | st.none()


@given(
    st.sampled_from(KNOWN),
    st.dictionaries(st.sampled_from([*KNOWN, "{", ",", ":"]), TANGLED, max_size=3).map(msgspec.json.encode),
    st.sampled_from([b"%b", b"[%b]", b'{"payload":%b}', b'"%b"', b"null", b"{}"]),
)
def test_no_extensions_hide_a_member_that_is_given_twice(name: str, extensions: bytes, other: bytes) -> None:
    member = b'"%b":' % name.encode()
    value = msgspec.json.encode(extensions.decode()) if other == b'"%b"' else other.replace(b"%b", extensions)
    twice = msgspec.json.encode(V2).replace(member, member + value + b"," + member)
    for place in (b'"payload":', b'"accepted":'):
        refused(read_raw, twice.replace(place, b'"extensions":' + extensions + b"," + place, 1))
