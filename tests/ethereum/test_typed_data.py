from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given
from hypothesis import strategies as st

from service.ethereum.addresses import checksum_address, keccak256
from service.ethereum.signatures import recover, recover_address_bytes
from service.ethereum.typed_data import domain_separator, transfer_digest
from tests.payments.signing import TYPES

TEXT = st.text(st.characters(codec="utf-8"), max_size=9)
UINT = st.integers(0, 2**256 - 1)
ADDRESS = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())


@pytest.mark.parametrize(
    ("name", "chain_id", "token", "answer"),
    [
        (
            "USDC",
            84_532,
            "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818",
        ),
        (
            "USD Coin",
            8_453,
            "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
        ),
    ],
)
def test_the_domains_are_those_the_tokens_answer_for_themselves(
    name: str, chain_id: int, token: str, answer: str
) -> None:
    assert domain_separator(name, "2", chain_id, token).hex() == answer
    assert domain_separator(name, "2", chain_id, token.lower()).hex() == answer


@pytest.mark.promise("pay.exact-3009")
@given(
    st.fixed_dictionaries(
        {"name": TEXT, "version": TEXT, "chainId": st.integers(1, 2**64), "verifyingContract": ADDRESS},
    ),
    st.fixed_dictionaries(
        {
            "from": ADDRESS,
            "to": ADDRESS,
            "value": UINT,
            "validAfter": UINT,
            "validBefore": UINT,
            "nonce": st.binary(min_size=32, max_size=32),
        }
    ),
)
def test_the_digest_is_what_eth_account_signs(domain: dict[str, Any], message: dict[str, Any]) -> None:
    signable = encode_typed_data(domain, TYPES, message)
    expected = keccak256(b"\x19" + signable.version + signable.header + signable.body)
    digest = transfer_digest(
        domain_separator(domain["name"], domain["version"], domain["chainId"], domain["verifyingContract"]),
        sender=message["from"],
        receiver=message["to"],
        value=message["value"],
        valid_after_s=message["validAfter"],
        valid_before_s=message["validBefore"],
        nonce="0x" + message["nonce"].hex(),
    )
    assert digest == expected


def test_the_bytes_of_a_signer_are_its_address() -> None:
    account = Account.from_key((7).to_bytes(32, "big"))
    digest = keccak256(b"anything")
    signature = bytes(account.unsafe_sign_hash(digest).signature)
    assert recover(digest, signature) == account.address
    assert checksum_address("0x" + recover_address_bytes(digest, signature).hex()) == account.address
