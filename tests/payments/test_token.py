"""What a token says becomes x402's own words, which clients know."""

import pytest
from eth_utils import keccak

from service.payments import errors, settlement
from service.payments.facilitators import token
from service.upstream.json_rpc import RevertedError
from tests.payments.signing import payment


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("FiatTokenV2: authorization is used or canceled", "invalid_exact_evm_nonce_already_used"),
        ("FiatTokenV2: authorization is expired", "invalid_exact_evm_payload_authorization_valid_before"),
        ("FiatTokenV2: authorization is not yet valid", "invalid_exact_evm_payload_authorization_valid_after"),
        ("ERC20: transfer amount exceeds balance", "insufficient_funds"),
        ("FiatTokenV2: invalid signature", "invalid_exact_evm_payload_signature"),
        ("Blacklistable: account is blacklisted", "invalid_exact_evm_transaction_simulation_failed"),
    ],
)
def test_a_refusal_has_the_word_that_clients_know(said: str, word: str) -> None:
    assert token.refusal_reason(RevertedError(f"execution reverted: {said}")) == word


@pytest.mark.parametrize(
    ("error", "word"),
    [
        ("ERC3009ConsumedAuthorization(address,bytes32)", "invalid_exact_evm_nonce_already_used"),
        (
            "ERC3009InvalidAuthorizationTime(uint256,uint256)",
            "invalid_exact_evm_payload_authorization_valid_before",
        ),
        ("ERC3009InvalidSignature()", "invalid_exact_evm_payload_signature"),
        ("ERC20InsufficientBalance(address,uint256,uint256)", "insufficient_funds"),
        ("Unheard()", "invalid_exact_evm_transaction_simulation_failed"),
    ],
)
def test_a_custom_error_has_the_word_that_clients_know(error: str, word: str) -> None:
    assert token.refusal_reason(RevertedError("execution reverted", keccak(text=error)[:4] + bytes(96))) == word


def test_a_payment_that_came_to_nothing_has_the_word_that_clients_know() -> None:
    assert (settlement.EXPIRED_UNSETTLED, errors.NONCE_USED) == (
        "expired_unsettled",
        "invalid_exact_evm_nonce_already_used",
    )


def test_a_call_that_moves_money_has_its_nine_words_and_no_more() -> None:
    assert len(token.encode_transfer(payment())) == 4 + 9 * 32
