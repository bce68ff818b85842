"""Contract wallets on a real EVM: their own contract decides, created already or by a factory (EIP-1271, ERC-6492).

Run by `make chain`.
"""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from eth_keys import keys
from eth_utils import keccak, to_canonical_address, to_checksum_address

from service.access.contract_wallets import ContractWallets, open_contract_wallets
from service.errors import ServiceError
from service.ethereum.contract_signatures import WRAPPED
from service.ethereum.signatures import personal_digest
from tests.chain.evm import CHAIN_ID, USDC, WALLET, Evm, now_s
from tests.chain.node import Node, serving_node
from tests.payments.signing import wallet

pytestmark = [pytest.mark.chain, pytest.mark.timeout(120)]

OWNER, STRANGER = wallet(), wallet(0xBEEF)
DIGEST = personal_digest("api.example.org wants you to sign in")
IDENTITY = "0x" + "00" * 19 + "04"
"""A precompile that returns its input."""


def signature(by: Any = OWNER, digest: bytes = DIGEST) -> bytes:
    """The wallet contract's own form: 65 bytes and 32 of anything."""
    signed = keys.PrivateKey(bytes(by.key)).sign_msg_hash(digest).to_bytes()
    return bytes(signed[:64]) + bytes([signed[64] + 27]) + b"\x01" * 32


def contract(digest: bytes) -> bytes:
    """Code of a wallet that accepts one digest: returns the selector, shifted, times (the argument equals it)."""
    return bytes.fromhex("7f") + digest + bytes.fromhex("60043514631626ba7e60e01b0260005260206000f3")


def creation(code: bytes) -> bytes:
    """Init code that creates a contract of this code."""
    return bytes.fromhex("60") + bytes([len(code)]) + bytes.fromhex("80600b6000396000f3") + code


def create2(factory: bytes, init: bytes) -> str:
    """Where a factory creates a contract, salt 0."""
    return str(to_checksum_address(keccak(b"\xff" + factory + bytes(32) + keccak(init))[-20:]))


FACTORY_CODE = bytes.fromhex("36600060003760003660006000f500")
"""Creates a contract of the init code it is given, salt 0."""

FACTORY = bytes.fromhex("fa" * 20)


def wrapped(preparation: bytes, inner: bytes, factory: bytes = FACTORY) -> bytes:
    def tail(content: bytes) -> bytes:
        return len(content).to_bytes(32) + content.ljust(-(-len(content) // 32) * 32, b"\0")

    first = tail(preparation)
    head = factory.rjust(32, b"\0") + (96).to_bytes(32) + (96 + len(first)).to_bytes(32)
    return head + first + tail(inner) + WRAPPED


class Asked(NamedTuple):
    node: Node
    contracts: ContractWallets


@pytest.fixture
async def asked() -> AsyncIterator[Asked]:
    evm = Evm(now_s, owner=OWNER.address, code={to_checksum_address(FACTORY): FACTORY_CODE})
    with serving_node(evm) as node:
        async with open_contract_wallets(node.url, CHAIN_ID) as contracts:
            assert contracts is not None
            yield Asked(node, contracts)


async def test_a_contract_accepts_its_owners_signature(asked: Asked) -> None:
    await asked.contracts.check(WALLET, DIGEST, signature())
    assert asked.node.asked == ["eth_chainId", "eth_call"]


@pytest.mark.parametrize(
    ("address", "given"),
    [
        (WALLET, signature(STRANGER)),
        (WALLET, signature(digest=bytes(32))),
        (WALLET, signature()[:65]),
        (WALLET, b""),
        (USDC, signature()),
        (IDENTITY, signature()),
        (STRANGER.address, signature()),
    ],
    ids=["stranger", "another digest", "without its tail", "empty", "a token", "returns its input", "no contract"],
)
async def test_a_contract_that_does_not_accept_refuses(asked: Asked, address: str, given: bytes) -> None:
    with pytest.raises(ServiceError) as refused:
        await asked.contracts.check(address, DIGEST, given)
    assert refused.value.code == "AUTH_INVALID"


async def test_a_wallet_that_does_not_exist_yet_is_created_for_the_question_alone(asked: Asked) -> None:
    init = creation(contract(DIGEST))
    address = create2(FACTORY, init)
    await asked.contracts.check(address, DIGEST, wrapped(init, b"any"))
    assert asked.node.evm.state_at().get_code(to_canonical_address(address)) == b""


@pytest.mark.parametrize("inner", [b"", b"x", b"x" * 31, b"x" * 32, b"x" * 33, b"x" * 3_000], ids=len)
async def test_the_inner_signature_has_any_length(asked: Asked, inner: bytes) -> None:
    init = creation(contract(DIGEST))
    await asked.contracts.check(create2(FACTORY, init), DIGEST, wrapped(init, inner))


async def test_a_wrapped_signature_of_an_existing_wallet_counts(asked: Asked) -> None:
    await asked.contracts.check(WALLET, DIGEST, wrapped(b"", signature()))
    assert asked.node.asked == ["eth_chainId", "eth_call"]


REVERTS = bytes.fromhex("7f") + bytes.fromhex("1626ba7e").ljust(32, b"\0") + bytes.fromhex("60005260206000fd")
"""Reverts with the word that means yes."""

SHORT = bytes.fromhex("631626ba7e60e01b60005260046000f3")
"""Returns the selector without its padding."""


@pytest.mark.parametrize(
    "case", ["another digest", "another address", "nothing created", "a revert", "a short answer", "no factory"]
)
async def test_what_a_factory_creates_must_accept(asked: Asked, case: str) -> None:
    code = {"another digest": contract(bytes(32)), "a revert": REVERTS, "a short answer": SHORT}.get(
        case, contract(DIGEST)
    )
    init = creation(code)
    address = STRANGER.address if case == "another address" else create2(FACTORY, init)
    preparation = b"\xfe" if case == "nothing created" else init
    factory = b"\x99" * 20 if case == "no factory" else FACTORY
    with pytest.raises(ServiceError) as refused:
        await asked.contracts.check(address, DIGEST, wrapped(preparation, b"any", factory))
    assert refused.value.code == "AUTH_INVALID"
