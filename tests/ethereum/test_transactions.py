"""Transactions held against eth_account, which shares no code with ours; keystores it wrote are opened."""

import json

import msgspec
import pytest
import rlp
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from service.ethereum.keystore import open_keystore
from service.ethereum.signatures import private_key
from service.ethereum.transactions import ContractCall, encode_rlp, sign_call

SECRET = bytes(range(1, 33))
UINT64 = st.integers(0, 2**64 - 1)
ITEMS = st.recursive(
    st.binary(max_size=80) | st.integers(0, 2**256), lambda inner: st.lists(inner, max_size=6), max_leaves=12
)


@given(ITEMS)
def test_rlp_is_written_as_the_reference_writes_it(item: object) -> None:
    assert encode_rlp(item) == rlp.encode(item)  # type: ignore[arg-type]  # hypothesis' recursion has no type


@pytest.mark.parametrize("size", [0, 1, 55, 56, 255, 256, 70_000])
def test_rlp_writes_every_length_of_length(size: int) -> None:
    assert encode_rlp([b"\xff" * size]) == rlp.encode([b"\xff" * size])


def test_rlp_takes_no_negative_number() -> None:
    with pytest.raises(OverflowError):
        encode_rlp(-1)


@given(UINT64, UINT64, UINT64, UINT64, st.binary(max_size=600), st.binary(min_size=32, max_size=32))
def test_a_call_is_signed_as_eth_account_signs_it(
    nonce: int, tip: int, max_fee: int, gas: int, data: bytes, secret: bytes
) -> None:
    secret = secret if 0 < int.from_bytes(secret) < 2**255 else SECRET
    to = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
    call = ContractCall(chain_id=84532, nonce=nonce, tip=min(tip, max_fee), max_fee=max_fee, gas=gas, to=to, data=data)
    signed = sign_call(call, private_key(secret))
    other = Account.sign_transaction(
        {
            "type": 2,
            "chainId": 84532,
            "nonce": nonce,
            "maxPriorityFeePerGas": call.tip,
            "maxFeePerGas": max_fee,
            "gas": gas,
            "to": to,
            "value": 0,
            "data": data,
        },
        secret,
    )
    assert signed.raw == bytes(other.raw_transaction)
    assert bytes.fromhex(signed.hash[2:]) == bytes(other.hash)


@pytest.mark.parametrize(("kdf", "rounds"), [("scrypt", 2), ("pbkdf2", 3)])
def test_a_keystore_that_eth_account_wrote_is_opened(kdf: str, rounds: int) -> None:
    written = Account.encrypt(SECRET, "correct horse", kdf=kdf, iterations=rounds)
    assert open_keystore(json.dumps(written).encode(), "correct horse") == SECRET
    # Some wallets write `Crypto`.
    capital = {"version": 3, "Crypto": written["crypto"]}
    assert open_keystore(json.dumps(capital).encode(), "correct horse") == SECRET
    with pytest.raises(ValueError, match="password"):
        open_keystore(json.dumps(written).encode(), "correct donkey")


def test_a_keystore_whose_counter_begins_with_zeros_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eth_keyfile.keyfile.Random.get_random_bytes", lambda width: bytes(2) + b"\7" * (width - 2))
    written = Account.encrypt(SECRET, "correct horse", kdf="pbkdf2", iterations=1)
    assert written["crypto"]["cipherparams"]["iv"] == "07" * 14
    assert open_keystore(json.dumps(written).encode(), "correct horse") == SECRET


PBKDF2_VECTOR = {
    "crypto": {
        "cipher": "aes-128-ctr",
        "cipherparams": {"iv": "6087dab2f9fdbbfaddc31a909735c1e6"},
        "ciphertext": "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
        "kdf": "pbkdf2",
        "kdfparams": {
            "c": 262144,
            "dklen": 32,
            "prf": "hmac-sha256",
            "salt": "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
        },
        "mac": "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
    },
    "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    "version": 3,
}
"""Published with the definition (Web3 Secret Storage, test vectors)."""


def test_the_published_vector_is_opened() -> None:
    secret = open_keystore(msgspec.json.encode(PBKDF2_VECTOR), "testpassword")
    assert secret.hex() == "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"


def changed(part: str, **fields: object) -> bytes:
    vector = json.loads(json.dumps(PBKDF2_VECTOR))
    spoilt = vector if part == "" else vector["crypto"] if part == "crypto" else vector["crypto"][part]
    spoilt.update(fields)
    return json.dumps(vector).encode()


SCRYPT = {"n": 2, "r": 8, "p": 1, "dklen": 32, "salt": "00"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        changed("", version=1),
        changed("crypto", cipher="aes-256-cbc"),
        changed("crypto", kdf="argon2"),
        changed("crypto", ciphertext="zz"),
        changed("crypto", ciphertext="00"),
        changed("crypto", mac="0"),
        changed("cipherparams", iv="00" * 17),
        changed("kdfparams", c=0),
        changed("kdfparams", c=10**9),
        changed("kdfparams", c=1, dklen=16),
        changed("kdfparams", c=1, dklen=2**70),
        changed("kdfparams", prf="hmac-md5"),
        changed("crypto", kdf="scrypt", kdfparams={**SCRYPT, "n": 3}),
        changed("crypto", kdf="scrypt", kdfparams={**SCRYPT, "n": 2**40}),
        changed("crypto", kdf="scrypt", kdfparams={**SCRYPT, "salt": None}),
    ],
)
def test_what_is_no_keystore_is_refused_by_name(content: bytes) -> None:
    with pytest.raises(ValueError, match="keystore"):
        open_keystore(content, "testpassword")


@pytest.mark.parametrize(
    ("kdf", "parameters"),
    [
        ("scrypt", {**SCRYPT, "n": 2**18, "p": 2**8}),
        ("scrypt", {**SCRYPT, "dklen": 2**31 - 1}),
        ("scrypt", {**SCRYPT, "dklen": 64}),
        ("pbkdf2", {"c": 10**7 + 1, "dklen": 32, "prf": "hmac-sha256", "salt": "00"}),
        ("pbkdf2", {"c": 1, "dklen": 2**31 - 1, "prf": "hmac-sha256", "salt": "00"}),
    ],
)
def test_a_keystore_that_would_take_hours_or_gigabytes_is_refused_before_anything_is_computed(
    monkeypatch: pytest.MonkeyPatch, kdf: str, parameters: dict[str, object]
) -> None:
    def never(*_: object, **__: object) -> bytes:
        raise AssertionError("it was begun")

    monkeypatch.setattr("service.ethereum.keystore.scrypt", never)
    monkeypatch.setattr("service.ethereum.keystore.pbkdf2_hmac", never)
    with pytest.raises(ValueError, match="parameters cannot be used"):
        open_keystore(changed("crypto", kdf=kdf, kdfparams=parameters), "testpassword")
