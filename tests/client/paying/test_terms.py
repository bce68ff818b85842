"""What is asked for is signed only where all of it is understood."""

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.client.paying.terms import STABLECOINS, UnpaidError, read_terms
from service.payments.networks import NETWORKS
from tests.client.paying.stand import PAYEE, asking
from tests.payments.signing import MAINNET, row


def read(*rows: Any, **challenge: Any) -> Any:
    return read_terms(asking(*rows, **challenge).headers["payment-required"])


def test_an_honest_challenge_is_read_with_amount_payee_token_and_time() -> None:
    terms = read(row(price=50_000, pay_to=PAYEE))
    assert (terms.amount, terms.pay_to, terms.window_s) == (50_000, PAYEE, 60)
    assert terms.dollar.chain_id == 84_532
    assert terms.row == row(price=50_000, pay_to=PAYEE)


def test_the_dollars_that_are_known_are_those_of_the_service() -> None:
    assert {
        (dollar.network, f"eip155:{dollar.chain_id}", dollar.asset, dollar.name, dollar.version)
        for dollar in STABLECOINS.values()
    } == {
        (network, network, known.usdc, known.domain.name, known.domain.version) for network, known in NETWORKS.items()
    }
    assert [dollar.network for dollar in STABLECOINS.values() if dollar.is_real] == [MAINNET]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"network": "eip155:1"}, "network"),
        ({"network": "base-sepolia"}, "network"),
        ({"network": ["eip155:84532"]}, "network"),
        ({"network": MAINNET}, "asset"),
        ({"asset": "0x4200000000000000000000000000000000000006"}, "asset"),
        ({"asset": 7}, "asset"),
        ({"extra": {"name": "USD Coin", "version": "2"}}, "domain"),
        ({"extra": {"name": "USDC", "version": "3"}}, "domain"),
        ({"extra": None}, "domain"),
        ({"extra": {"name": "USDC", "version": "2", "assetTransferMethod": "permit2"}}, "EIP-3009"),
        ({"scheme": "upto"}, "exact"),
        ({"amount": 5_000}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"amount": "-5000"}, "amount"),
        ({"amount": "5000.0"}, "amount"),
        ({"amount": "5e3"}, "amount"),
        ({"amount": "0x1388"}, "amount"),
        ({"amount": " 5000"}, "amount"),
        ({"amount": "5000\n"}, "amount"),
        ({"amount": "\N{ARABIC-INDIC DIGIT FIVE}000"}, "amount"),
        ({"amount": "9" * 40}, "amount"),
        ({"amount": None}, "amount"),
        ({"payTo": "0x22"}, "payee"),
        ({"payTo": None}, "payee"),
        ({"payTo": "vitalik.eth"}, "payee"),
        ({"payTo": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"}, "payee"),
        ({"maxTimeoutSeconds": 0}, "time"),
        ({"maxTimeoutSeconds": "60"}, "time"),
        ({"maxTimeoutSeconds": True}, "time"),
        ({"maxTimeoutSeconds": 60.0}, "time"),
    ],
)
def test_terms_that_are_not_wholly_understood_are_refused_and_it_is_said_why(changes: Any, said: str) -> None:
    with pytest.raises(UnpaidError, match=rf"{said}.*nothing was paid"):
        read({**row(pay_to=PAYEE), **changes})


def test_a_row_that_is_not_understood_does_not_hide_one_that_is() -> None:
    assert read("no row", {**row(), "network": "solana:1"}, row(price=7, pay_to=PAYEE)).amount == 7


def test_a_signature_is_good_for_five_minutes_at_most_whatever_is_asked_for() -> None:
    assert read({**row(), "maxTimeoutSeconds": 10**12}).window_s == 300


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "%",
        b64encode(b"[").decode(),
        b64encode(b"[" * 50_000).decode(),
        b64encode(b"\xff").decode(),
        b64encode(b"[]").decode(),
        b64encode(b"{}").decode(),
        b64encode(json.dumps({"x402Version": 1, "accepts": [row()]}).encode()).decode(),
        b64encode(b'{"x402Version": 2}').decode(),
        b64encode(b'{"x402Version": 2, "accepts": {}}').decode(),
        b64encode(b'{"x402Version": 2, "accepts": []}').decode(),
    ],
)
def test_a_challenge_that_cannot_be_read_is_refused(header: str | None) -> None:
    with pytest.raises(UnpaidError, match="nothing was paid"):
        read_terms(header)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(row())), anything), st.booleans())
def test_whatever_a_service_writes_into_its_terms_what_is_read_is_safe_to_sign(changes: Any, listed: bool) -> None:
    given_row = {**row(), **changes}
    try:
        terms = read(*([given_row] if listed else [changes, given_row]))
    except UnpaidError:
        return
    assert terms.dollar == STABLECOINS["eip155:84532"]
    assert (terms.row["scheme"], terms.row["asset"]) == ("exact", terms.dollar.asset)
    assert 1 <= terms.amount == int(terms.row["amount"])
    assert 1 <= terms.window_s <= 300
