"""What is signed is what was asked, by the wallet's own key, and nothing else."""

import json
from base64 import b64decode

from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given, settings
from hypothesis import strategies as st

from service.client.paying.buyer import sign_payment
from service.client.paying.payment_store import StoredPayment
from service.client.paying.terms import STABLECOINS, Ceilings, PaymentQuote, Terms
from service.client.wallet import Wallet
from service.payments.checks import check_payment
from service.payments.decode import decode_payment
from service.wire.payment import RequirementsV2, TokenExtra
from tests.client.paying.stand import PAYEE, SECRET
from tests.payments.signing import TYPES, row

NOW_S = 1_753_444_800
NONCE = bytes(range(32))


def authorize_(terms: Terms, wallet: Wallet, now_s: int, nonce: bytes) -> StoredPayment:
    return sign_payment(PaymentQuote(terms, "w", "u", 0, Ceilings(), None), wallet, now_s * 1000, nonce)


def terms_of(network: str = "eip155:84532", amount: int = 5_000, window_s: int = 60) -> Terms:
    asked = {**row("eip155:8453" if network == "eip155:8453" else "eip155:84532", amount, PAYEE)}
    return Terms(amount, PAYEE, STABLECOINS[network], window_s, asked)


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
    terms = terms_of(network, amount, window_s)
    signed = authorize_(terms, Wallet(SECRET), NOW_S, nonce)
    sent = json.loads(b64decode(signed.header, validate=True))
    authorization = sent["payload"]["authorization"]
    domain = {
        "name": terms.dollar.name,
        "version": terms.dollar.version,
        "chainId": terms.dollar.chain_id,
        "verifyingContract": terms.dollar.asset,
    }
    message = {
        "from": Account.from_key(SECRET).address,
        "to": PAYEE,
        "value": amount,
        "validAfter": NOW_S - 600,
        "validBefore": NOW_S + window_s,
        "nonce": nonce,
    }
    assert authorization == {**{name: str(value) for name, value in message.items()}, "nonce": "0x" + nonce.hex()}
    signer = Account.recover_message(encode_typed_data(domain, TYPES, message), signature=sent["payload"]["signature"])
    assert signer == signed.payer == message["from"]
    assert (signed.nonce, signed.valid_before_s) == (authorization["nonce"], NOW_S + window_s)
    assert sent == {"x402Version": 2, "accepted": terms.row, "payload": sent["payload"]}


def test_the_service_takes_it() -> None:
    asked = row(pay_to=PAYEE)
    required = RequirementsV2(
        scheme="exact",
        network=asked["network"],
        amount=asked["amount"],
        asset=asked["asset"],
        pay_to=PAYEE,
        max_timeout_seconds=60,
        extra=TokenExtra(**asked["extra"]),
    )
    signed = authorize_(terms_of(), Wallet(SECRET), NOW_S, NONCE)
    payment = check_payment(
        decode_payment("payment-signature", signed.header.encode()), required, "eip155:84532", NOW_S * 1_000
    )
    assert (payment.payer, payment.value, payment.nonce) == (signed.payer.lower(), 5_000, "0x" + NONCE.hex())


def test_the_key_is_nowhere_in_what_is_sent_or_shown() -> None:
    wallet = Wallet(SECRET)
    signed = authorize_(terms_of(), wallet, NOW_S, NONCE)
    for text in (b64decode(signed.header).decode(), repr(signed), repr(wallet)):
        assert SECRET.hex() not in text
