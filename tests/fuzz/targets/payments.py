"""Payments as they come in headers, answers of facilitators, and what our client is asked to pay."""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from service.client.paying.terms import UnpaidError, read_terms
from service.errors import ServiceError
from service.payments.checks import check_payment, normalised_payment
from service.payments.decode import PaymentHeader, decode_payment
from service.payments.errors import PaymentRefusedError
from service.payments.facilitators.remote import settle_outcome
from service.upstream.http_client import Reply
from service.wire.payment import RequirementsV2
from tests.fakes.clock import START_MS
from tests.fuzz.target import Target, check_sound
from tests.payments.recorded import RECORDED
from tests.payments.signing import SEPOLIA, pay_v1, pay_v2, payment, row, wallet

_CARRIERS: tuple[PaymentHeader, ...] = ("payment-signature", "x-payment")
_ROW = msgspec.convert(row(), RequirementsV2)
_WORDS = (b"x402Version", b"authorization", b"signature", b"accepted", b"eip155:84532", b"base-sepolia", b"exact")
_OWN = payment()


def read_header(data: bytes) -> None:
    """A header as it was sent: by which name, then its value."""
    with suppress(ServiceError, PaymentRefusedError):
        check_sound(decode_payment(_CARRIERS[data[:1] == b"1"], data[1:]))


def read_payment(data: bytes) -> None:
    """The JSON in a header, weighed to its end."""
    for carrier in _CARRIERS:
        try:
            presented = decode_payment(carrier, b64encode(data))
        except (ServiceError, PaymentRefusedError):
            continue
        with suppress(ServiceError):
            normalised_payment(presented)
        with suppress(ServiceError, PaymentRefusedError):
            check_sound(check_payment(presented, _ROW, SEPOLIA, START_MS))


def read_settled(data: bytes) -> None:
    """What a facilitator answers."""
    for status in (200, 400, 500):
        check_sound(settle_outcome(Reply(status, data), _OWN))


def read_challenge(data: bytes) -> None:
    """What a service asks our client for."""
    for header in (b64encode(data).decode(), data.decode("latin-1")):
        with suppress(UnpaidError):
            read_terms(header)


def _headers() -> Iterable[bytes]:
    for carrier, _, value in RECORDED.values():
        yield (b"1" if carrier == "x-payment" else b"0") + value


def _payments() -> Iterable[bytes]:
    yield from (b64decode(value) for _, _, value in RECORDED.values())
    yield from map(msgspec.json.encode, (pay_v1(wallet()), pay_v2(wallet())))


def _settled() -> Iterable[bytes]:
    yield msgspec.json.encode(
        {"success": True, "transaction": "0x" + "12" * 32, "network": SEPOLIA, "payer": _OWN.payer, "amount": "5000"}
    )
    yield msgspec.json.encode({"success": False, "errorReason": "payment_expired", "transaction": "", "network": None})


def _challenges() -> Iterable[bytes]:
    yield msgspec.json.encode({"x402Version": 2, "error": "pay", "accepts": [row()], "resource": {"url": "http://a/b"}})


TARGETS = (
    Target("payments.header", read_header, _headers, _WORDS),
    Target("payments.payment", read_payment, _payments, _WORDS, is_json=True),
    Target("payments.settled", read_settled, _settled, is_json=True),
    Target("payments.challenge", read_challenge, _challenges, is_json=True),
)
