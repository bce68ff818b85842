"""What a payment has to be: the terms of the challenge, a window that is open, and its payer's own signature."""

from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec
import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from service.clock import SECOND_MS
from service.errors import ServiceError
from service.payments.checks import check_payment, normalised_payment
from service.payments.decode import PaymentHeader, decode_payment
from service.payments.errors import PaymentRefusedError
from service.payments.networks import NETWORKS
from service.payments.records import Payment
from service.wire.payment import RequirementsV2
from tests.fakes.clock import START_MS
from tests.payments.recorded import RECORDED
from tests.payments.signing import (
    MAINNET,
    PAYEE,
    SEPOLIA,
    authorization,
    header,
    pay_v1,
    pay_v2,
    payment,
    row,
    sign,
    wallet,
)

ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
NOW_S: Final = START_MS // SECOND_MS
PAYER: Final = wallet()
Pay = Callable[..., dict[str, Any]]
both = pytest.mark.parametrize("pay", [pay_v1, pay_v2], ids=["v1", "v2"])


def asked(price: int = 5_000) -> RequirementsV2:
    return msgspec.convert(row(price=price), RequirementsV2)


def take(
    payload: object, *, price: int = 5_000, now_ms: int = START_MS, carrier: PaymentHeader = "x-payment"
) -> Payment:
    return check_payment(decode_payment(carrier, header(payload).encode()), asked(price), SEPOLIA, now_ms)


def reason(payload: object, *, price: int = 5_000, now_ms: int = START_MS) -> str:
    """The reason code a payment is refused with."""
    with pytest.raises(PaymentRefusedError) as caught:
        take(payload, price=price, now_ms=now_ms)
    assert caught.value.code == "PAYMENT_REQUIRED"
    assert caught.value.details == {"reason": caught.value.reason}
    return caught.value.reason


def resigned(payload: dict[str, Any], signature: str) -> dict[str, Any]:
    return payload | {"payload": payload["payload"] | {"signature": signature}}


@pytest.mark.promise("pay.checked", "pay.exact-3009")
@both
def test_a_good_payment_is_taken_in_its_normal_form(pay: Pay) -> None:
    signed = authorization(PAYER)
    taken = take(pay(PAYER, None, signed))
    version: Literal[1, 2] = 1 if pay is pay_v1 else 2
    assert taken == msgspec.structs.replace(
        payment(PAYER, version=version, nonce=signed["nonce"]), signature=taken.signature
    )
    assert taken.signature == sign(PAYER, signed, row())


@pytest.mark.promise("pay.exact-3009")
@pytest.mark.parametrize("client", RECORDED)
def test_what_the_official_clients_signed_is_taken(client: str) -> None:
    carrier, at_s, value = RECORDED[client]
    taken = check_payment(decode_payment(carrier, value), asked(), SEPOLIA, at_s * SECOND_MS)
    assert (taken.payer, taken.pay_to, taken.value) == (PAYER.address.lower(), PAYEE, 5_000)


@pytest.mark.promise("pay.claimed")
def test_another_writing_of_the_same_payment_has_the_same_normal_form() -> None:
    payload = pay_v2(PAYER)
    signed = payload["payload"]["authorization"]
    shouted = payload | {
        "payload": {
            "signature": "0x" + payload["payload"]["signature"][2:].upper(),
            "authorization": signed
            | {"from": "0x" + PAYER.address[2:].upper(), "nonce": "0x" + signed["nonce"][2:].upper()},
        },
        "accepted": payload["accepted"] | {"asset": row()["asset"].lower()},
    }
    assert take(shouted) == take(payload)
    v1 = {"x402Version": 1, "scheme": "exact", "network": "base-sepolia", "payload": payload["payload"]}
    assert msgspec.structs.replace(take(v1), version=2) == take(payload)


@pytest.mark.promise("pay.checked", "errors.payment-refused")
@both
@pytest.mark.parametrize("value", ["0", "1", "4999", "5001", "50000", str(2**256 - 1), "9" * 78])
def test_a_value_that_is_not_the_price_is_refused(pay: Pay, value: str) -> None:
    payload = pay(PAYER)
    payload["payload"]["authorization"]["value"] = value
    assert reason(payload) == "invalid_exact_evm_payload_authorization_value_mismatch"


@both
def test_the_payment_of_a_cheap_route_is_refused_on_a_dear_one(pay: Pay) -> None:
    code = reason(pay(PAYER), price=50_000)
    if pay is pay_v2:
        assert code == "invalid_payment_requirements"
    else:
        assert code == "invalid_exact_evm_payload_authorization_value_mismatch"


def test_a_cheap_signature_under_a_dear_row_is_refused() -> None:
    dear = pay_v2(PAYER, row(price=50_000), authorization(PAYER, value="5000"))
    assert reason(dear, price=50_000) == "invalid_exact_evm_payload_authorization_value_mismatch"


@pytest.mark.promise("pay.checked")
@both
def test_money_for_somebody_else_is_refused(pay: Pay) -> None:
    payload = pay(PAYER, None, authorization(PAYER, to="0x" + "22" * 20))
    assert reason(payload) == "invalid_exact_evm_payload_recipient_mismatch"


@both
@pytest.mark.parametrize("scheme", ["", "upto", "Exact", "exact ", "permit2"])
def test_another_scheme_is_refused(pay: Pay, scheme: str) -> None:
    assert reason(pay(PAYER, row() | {"scheme": scheme})) == "unsupported_scheme"


@pytest.mark.promise("pay.checked")
@pytest.mark.parametrize(
    "network",
    ["", "eip155:8453", "base-sepolia", "EIP155:84532", "eip155:084532", "solana:EtWTRABZaYq6iMfeYKouRu166VU2"],
)
def test_another_network_is_refused(network: str) -> None:
    payload = pay_v2(PAYER)
    payload["accepted"]["network"] = network
    assert reason(payload) == "invalid_network"


@pytest.mark.parametrize("network", ["", "base", "eip155:84532", "Base-Sepolia", "solana"])
def test_a_v1_payment_names_its_network_as_v1_does(network: str) -> None:
    assert reason(pay_v1(PAYER) | {"network": network}) == "invalid_network"


def test_a_payment_of_another_kind_is_told_which_kind_is_wanted_before_its_payload_is_read() -> None:
    solana = {
        "scheme": "exact",
        "network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
        "amount": "5000",
        "asset": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
        "payTo": "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4",
        "maxTimeoutSeconds": 60,
        "extra": {"feePayer": "EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd"},
    }
    assert reason({"x402Version": 2, "accepted": solana, "payload": {"transaction": "AAAA"}}) == "invalid_network"


def test_what_is_signed_has_to_be_of_the_shape_of_its_kind() -> None:
    with pytest.raises(ServiceError, match="transaction") as caught:
        take(pay_v2(PAYER) | {"payload": {"transaction": "AAAA"}})
    assert caught.value.code == "BAD_REQUEST"


@pytest.mark.promise("pay.checked")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount", "4999"),
        ("amount", "05000"),
        ("amount", "5_000"),
        ("asset", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        ("asset", ""),
        ("payTo", "0x" + "22" * 20),
        ("maxTimeoutSeconds", 61),
        ("maxTimeoutSeconds", 0),
        ("maxTimeoutSeconds", 10**30),
        ("extra", {}),
        ("extra", {"name": "USDC"}),
        ("extra", {"name": "USD Coin", "version": "2"}),
        ("extra", {"name": "USDC", "version": "1"}),
        ("extra", {"name": "USDC", "version": 2}),
        ("extra", {"name": ["USDC"], "version": {"2": "2"}}),
    ],
)
def test_an_accepted_row_that_was_not_offered_is_refused_by_its_field(name: str, value: object) -> None:
    payload = pay_v2(PAYER)
    payload["accepted"] = payload["accepted"] | {name: value}
    with pytest.raises(PaymentRefusedError, match=rf"accepted\.{name} ") as caught:
        take(payload)
    assert caught.value.reason == "invalid_payment_requirements"


@pytest.mark.promise("pay.checked", "errors.payment-refused")
@pytest.mark.parametrize(
    "added",
    [
        {"assetTransferMethod": "eip3009"},
        {"assetTransferMethod": "erc7710"},
        {"assetTransferMethod": None},
        {"AssetTransferMethod": "permit2"},
        {"facilitatorAddress": "0x" + "22" * 20},
        {"feePayer": ""},
        {"chainId": 84532},
        {"nested": {"name": "USDC"}},
        {"Name": "USDC"},
        {"": ""},
    ],
)
def test_a_member_added_to_extra_is_refused(added: dict[str, object]) -> None:
    payload = pay_v2(PAYER)
    payload["accepted"] = payload["accepted"] | {"extra": row()["extra"] | added}
    with pytest.raises(PaymentRefusedError, match=r"accepted\.extra differs from the offer") as caught:
        take(payload)
    assert caught.value.reason == "invalid_payment_requirements"


@pytest.mark.parametrize("member", ["scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds", "extra"])
def test_an_accepted_row_in_another_order_of_members_is_the_same_row(member: str) -> None:
    payload = pay_v2(PAYER)
    value = payload["accepted"].pop(member)
    payload["accepted"] |= {member: dict(reversed(value.items())) if isinstance(value, dict) else value}
    assert take(payload).value == 5_000


def test_a_row_without_extra_is_another_row() -> None:
    payload = pay_v2(PAYER)
    payload["accepted"] = {name: value for name, value in payload["accepted"].items() if name != "extra"}
    assert reason(payload) == "invalid_payment_requirements"


BEFORE: Final = "invalid_exact_evm_payload_authorization_valid_before"
AFTER: Final = "invalid_exact_evm_payload_authorization_valid_after"


@pytest.mark.promise("pay.checked")
@both
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"validBefore": str(NOW_S - 1)}, BEFORE),
        ({"validBefore": str(NOW_S)}, BEFORE),
        ({"validBefore": str(NOW_S + 5)}, BEFORE),
        ({"validBefore": "0"}, BEFORE),
        ({"validBefore": str(NOW_S + 121)}, BEFORE),
        ({"validBefore": str(2**256 - 1)}, BEFORE),
        ({"validAfter": str(NOW_S + 1)}, AFTER),
        ({"validAfter": str(2**256 - 1)}, AFTER),
        ({"validAfter": str(NOW_S + 50), "validBefore": str(NOW_S + 40)}, AFTER),
    ],
)
def test_a_window_that_is_not_open_or_is_too_long_is_refused(pay: Pay, changes: dict[str, str], code: str) -> None:
    assert reason(pay(PAYER, None, authorization(PAYER) | changes)) == code


@both
@pytest.mark.parametrize(
    "changes",
    [
        {"validBefore": str(NOW_S + 6)},
        {"validBefore": str(NOW_S + 120)},
        {"validAfter": str(NOW_S)},
        {"validAfter": "0"},
    ],
)
def test_the_edges_of_the_window_are_inside(pay: Pay, changes: dict[str, str]) -> None:
    assert take(pay(PAYER, None, authorization(PAYER) | changes)).value == 5_000


def test_six_seconds_are_six_whole_seconds() -> None:
    payload = pay_v2(PAYER, None, authorization(PAYER, validBefore=str(NOW_S + 6)))
    assert reason(payload, now_ms=START_MS + 1) == BEFORE


def test_digits_beyond_what_the_token_can_count_are_refused_and_not_hashed() -> None:
    for name in ("value", "validAfter", "validBefore"):
        payload = pay_v2(PAYER)
        payload["payload"]["authorization"][name] = "9" * 78
        assert reason(payload).startswith("invalid_exact_evm_payload_authorization_")


SIGNATURE: Final = "invalid_exact_evm_payload_signature"


@pytest.mark.promise("pay.recovered")
@both
def test_somebody_elses_signature_is_refused(pay: Pay) -> None:
    signed = authorization(PAYER)
    assert reason(resigned(pay(PAYER, None, signed), sign(wallet(2), signed, row()))) == SIGNATURE


@pytest.mark.promise("pay.recovered")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nonce", "0x" + "ab" * 32),
        ("validAfter", str(NOW_S - 601)),
        ("validBefore", str(NOW_S + 59)),
        ("from", wallet(2).address),
    ],
)
def test_nothing_that_was_signed_can_be_changed(name: str, value: str) -> None:
    payload = pay_v2(PAYER)
    payload["payload"]["authorization"][name] = value
    assert reason(payload) == SIGNATURE


@pytest.mark.parametrize(
    "change",
    [
        {"network": "eip155:8453"},
        {"asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
        {"extra": {"name": "USD Coin", "version": "2"}},
        {"extra": {"name": "USDC", "version": "1"}},
    ],
)
def test_a_signature_for_another_chain_or_token_is_refused(change: dict[str, Any]) -> None:
    signed = authorization(PAYER)
    assert reason(resigned(pay_v2(PAYER, None, signed), sign(PAYER, signed, row() | change))) == SIGNATURE


@pytest.mark.promise("pay.recovered")
def test_the_malleated_twin_of_a_good_signature_is_refused() -> None:
    payload = pay_v2(PAYER)
    good = bytes.fromhex(payload["payload"]["signature"][2:])
    high = (ORDER - int.from_bytes(good[32:64])).to_bytes(32)
    twin = good[:32] + high + bytes([55 - good[64]])
    assert reason(resigned(payload, "0x" + twin.hex())) == SIGNATURE


def test_a_recovery_id_that_the_token_reverts_on_is_refused() -> None:
    payload = pay_v2(PAYER)
    good = bytes.fromhex(payload["payload"]["signature"][2:])
    for v in (good[64] - 27, good[64] + 2, good[64] + 8, 255):
        assert reason(resigned(payload, "0x" + (good[:64] + bytes([v])).hex())) == SIGNATURE


def test_numbers_that_are_no_signature_are_refused() -> None:
    for parts in ((0, 1), (1, 0), (0, 0), (ORDER, 1), (2**256 - 1, 1), (5, 1)):
        signature = b"".join(number.to_bytes(32) for number in parts) + b"\x1b"
        assert reason(resigned(pay_v2(PAYER), "0x" + signature.hex())) == SIGNATURE


@pytest.mark.promise("pay.recovered")
@pytest.mark.parametrize("length", [66, 97, 600])
def test_a_contracts_signature_is_left_to_who_can_see_its_chain(length: int) -> None:
    signature = "0x" + "ab" * length
    assert take(resigned(pay_v2(PAYER), signature)).signature == signature


@both
def test_a_payment_is_known_by_its_normal_form_when_it_is_not_good_any_more(pay: Pay) -> None:
    payload = pay(PAYER)
    late = START_MS + 3_600 * SECOND_MS
    assert reason(payload, now_ms=late) == BEFORE
    assert normalised_payment(decode_payment("x-payment", header(payload).encode())) == take(payload)


@pytest.mark.parametrize("change", [{"network": "solana"}, {"network": MAINNET}, {"scheme": "upto"}])
def test_a_payment_of_another_kind_is_not_known(change: dict[str, str]) -> None:
    assert normalised_payment(decode_payment("x-payment", header(pay_v1(PAYER) | change).encode())) is None


def test_a_payment_of_any_chain_that_may_be_named_is_known() -> None:
    known = normalised_payment(decode_payment("x-payment", header(pay_v1(PAYER) | {"network": "base"}).encode()))
    assert known is not None
    assert (known.network, known.asset) == (MAINNET, NETWORKS[MAINNET].usdc.lower())


@given(st.integers(1, ORDER - 1), st.integers(0, 2**256 - 1), st.integers(6, 120), st.sampled_from([pay_v1, pay_v2]))
def test_whatever_a_wallet_signs_within_the_terms_is_taken(key: int, nonce: int, left_s: int, pay: Pay) -> None:
    payer = Account.from_key(key.to_bytes(32))
    signed = authorization(payer, nonce=f"0x{nonce:064x}", validBefore=str(NOW_S + left_s))
    taken = take(pay(payer, None, signed))
    assert (taken.payer, taken.nonce, taken.valid_before_s) == (
        payer.address.lower(),
        signed["nonce"],
        NOW_S + left_s,
    )


@given(st.binary(min_size=65, max_size=65))
def test_no_bytes_but_the_payers_signature_are_taken(signature: bytes) -> None:
    assert reason(resigned(ONE, "0x" + signature.hex())) == SIGNATURE


@given(st.integers(0, 8 * 65 - 1))
def test_no_bit_of_a_signature_may_be_another(bit: int) -> None:
    good = int(ONE["payload"]["signature"], 16)
    assert reason(resigned(ONE, f"0x{good ^ 1 << bit:0130x}")) == SIGNATURE


ONE: Final = pay_v2(PAYER)
