"""Terms are signed only if all of them is understood, and what is signed is what was asked."""

import json
from base64 import b64decode, b64encode
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given, settings
from hypothesis import strategies as st

from service.client.paying.buyer import sign_payment
from service.client.paying.terms import STABLECOINS, Ceilings, PaymentQuote, Terms, UnpaidError, read_terms
from service.client.wallet import Wallet
from service.payments.checks import check_payment
from service.payments.decode import decode_payment
from service.payments.networks import NETWORKS
from service.wire.payment import RequirementsV2, TokenExtra
from tests.client.paying.stand import PAYEE, SECRET, asking
from tests.payments.signing import MAINNET, TYPES, row

NOW_S = 1_753_444_800
ROW = row(pay_to=PAYEE)


def read(*rows: Any) -> Any:
    return read_terms(asking(*rows).headers["payment-required"])


def test_the_first_row_that_is_understood_is_taken_for_at_most_five_minutes() -> None:
    terms = read(
        "no row", {**row(), "network": "solana:1"}, {**row(price=50_000, pay_to=PAYEE), "maxTimeoutSeconds": 10**12}
    )
    assert (terms.amount, terms.pay_to, terms.window_s, terms.dollar.chain_id) == (50_000, PAYEE, 300, 84_532)
    assert read(ROW).row == ROW
    assert read(ROW).window_s == 60


def test_the_tokens_are_those_of_the_service() -> None:
    ours = {(coin.network, coin.asset, coin.name, coin.version) for coin in STABLECOINS.values()}
    assert ours == {(name, own.usdc, own.domain.name, own.domain.version) for name, own in NETWORKS.items()}
    assert all(coin.network == f"eip155:{coin.chain_id}" for coin in STABLECOINS.values())
    assert [coin.network for coin in STABLECOINS.values() if coin.is_real] == [MAINNET]


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("network", ["eip155:1", "base-sepolia", ["eip155:84532"]], "network"),
        ("network", [MAINNET], "asset"),
        ("asset", ["0x4200000000000000000000000000000000000006", 7], "asset"),
        ("extra", [{"name": "USD Coin", "version": "2"}, {"name": "USDC", "version": "3"}, None], "domain"),
        ("extra", [{"name": "USDC", "version": "2", "assetTransferMethod": "permit2"}], "EIP-3009"),
        ("scheme", ["upto", None], "exact"),
        ("amount", [5_000, "0", "-5000", "5000.0", "5e3", "0x1388", "5000\n", "\u0665000", "9" * 40], "amount"),
        ("payTo", ["0x22", None, "vitalik.eth", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"], "payee"),
        ("maxTimeoutSeconds", [0, "60", True, 60.0], "time"),
    ],
)
def test_terms_that_are_not_understood_are_refused_with_the_reason(name: str, values: list[Any], said: str) -> None:
    for value in values:
        with pytest.raises(UnpaidError, match=rf"{said}.*Nothing was paid"):
            read({**ROW, name: value})


@pytest.mark.parametrize(
    "challenge",
    [b"[", b"[" * 50_000, b"\xff", b"[]", b"{}", b'{"x402Version": 1, "accepts": [{}]}', b'{"x402Version": 2}',
     b'{"x402Version": 2, "accepts": {}}', b'{"x402Version": 2, "accepts": []}'],
)  # fmt: skip
def test_a_challenge_that_cannot_be_read_is_refused(challenge: bytes) -> None:
    for header in (None, "", "%", b64encode(challenge).decode()):
        with pytest.raises(UnpaidError, match="Nothing was paid"):
            read_terms(header)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(ROW)), anything), st.booleans())
def test_any_terms_that_are_read_are_safe_to_sign(changes: Any, listed: bool) -> None:
    given_row = {**row(), **changes}
    try:
        terms = read(*([given_row] if listed else [changes, given_row]))
    except UnpaidError:
        return
    assert terms.dollar == STABLECOINS["eip155:84532"]
    assert (terms.row["scheme"], terms.row["asset"]) == ("exact", terms.dollar.asset)
    assert 1 <= terms.amount == int(terms.row["amount"])
    assert 1 <= terms.window_s <= 300


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(sorted(STABLECOINS)),
    st.integers(1, 10**17),
    st.integers(1, 300),
    st.binary(min_size=32, max_size=32),
)
def test_another_library_finds_our_wallet_behind_every_signature(
    network: str, amount: int, window_s: int, nonce: bytes
) -> None:
    terms = Terms(amount, PAYEE, STABLECOINS[network], window_s, ROW)
    quote = PaymentQuote(terms, "GET /", "http://x", 0, Ceilings(), None)
    stored = sign_payment(quote, Wallet(SECRET), NOW_S * 1_000, nonce)
    sent = json.loads(b64decode(stored.header, validate=True))
    coin = terms.dollar
    domain = {
        "name": coin.name, "version": coin.version, "chainId": coin.chain_id, "verifyingContract": coin.asset,
    }  # fmt: skip
    message = {
        "from": Account.from_key(SECRET).address, "to": PAYEE, "value": amount, "validAfter": NOW_S - 600,
        "validBefore": NOW_S + window_s, "nonce": nonce,
    }  # fmt: skip
    signed = {**{name: str(value) for name, value in message.items()}, "nonce": "0x" + nonce.hex()}
    payload = {"signature": sent["payload"]["signature"], "authorization": signed}
    assert sent == {"x402Version": 2, "accepted": ROW, "payload": payload}
    signer = Account.recover_message(encode_typed_data(domain, TYPES, message), signature=payload["signature"])
    assert signer == stored.payer == message["from"]
    assert (stored.nonce, stored.valid_before_s) == (signed["nonce"], NOW_S + window_s)
    assert SECRET.hex() not in b64decode(stored.header).decode() + repr(stored)


def test_the_service_accepts_what_is_signed() -> None:
    quote = PaymentQuote(read(ROW), "GET /", "http://x", 0, Ceilings(), None)
    header = sign_payment(quote, Wallet(SECRET), NOW_S * 1_000, bytes(range(32))).header
    required = RequirementsV2(
        ROW["scheme"], ROW["network"], ROW["amount"], ROW["asset"], PAYEE, 60, TokenExtra(**ROW["extra"])
    )
    payment = check_payment(
        decode_payment("payment-signature", header.encode()), required, "eip155:84532", NOW_S * 1_000
    )
    assert (payment.value, payment.nonce) == (5_000, "0x" + bytes(range(32)).hex())
