import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from service.ethereum import addresses
from service.ethereum.addresses import checksum_address, keccak256, read_address
from service.ethereum.signatures import address_of, private_key, recover_personal, sign_personal

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

EIP_55_EXAMPLES = [
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
]


@pytest.mark.parametrize("length", [0, 1, 64, 135, 136, 137, 1_000])
def test_keccak_is_the_same_with_and_without_the_faster_package(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    data = bytes(range(256)) * 4
    installed = addresses._fastest()(data[:length]).digest()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert addresses._fastest()(data[:length]).digest() == installed


def test_keccak_is_ethereums_and_not_sha3() -> None:
    assert keccak256(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"


@pytest.mark.parametrize("address", EIP_55_EXAMPLES)
def test_the_examples_of_eip_55_are_written_as_it_writes_them(address: str) -> None:
    assert checksum_address(address.lower().replace("0X", "0x")) == address
    assert read_address(address) == address


@given(st.binary(min_size=20, max_size=20))
def test_every_address_is_written_as_eth_utils_does(raw: bytes) -> None:
    expected = to_checksum_address(raw)
    assert checksum_address("0x" + raw.hex()) == expected
    assert {read_address("0x" + raw.hex()), read_address("0x" + raw.hex().upper())} == {expected}


def test_an_address_with_one_letter_in_the_wrong_case_is_refused() -> None:
    with pytest.raises(ValueError, match="capital letters"):
        read_address("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")


@pytest.mark.parametrize("text", ["", "0x", "0x1", "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x" + "g" * 40,
                                  "0x" + "a" * 40 + "\n", "0X" + "a" * 40, "0x" + "٣" * 40])  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="40 hexadecimal digits"):
        read_address(text)


def signed(number: int, text: str) -> tuple[str, bytes]:
    account = Account.from_key(number.to_bytes(32, "big"))
    return account.address, bytes(account.sign_message(encode_defunct(text=text)).signature)


@given(st.integers(1, ORDER - 1), st.text(alphabet=st.characters(codec="utf-8")))
def test_the_signer_of_any_text_is_found_as_eth_account_signs_it(number: int, text: str) -> None:
    address, signature = signed(number, text)
    assert recover_personal(text, signature) == address
    assert recover_personal(text, signature[:64] + bytes([signature[64] - 27])) == address


@given(st.integers(1, ORDER - 1), st.text(alphabet=st.characters(codec="utf-8")))
def test_a_text_is_signed_as_eth_account_signs_it(number: int, text: str) -> None:
    key = private_key(number.to_bytes(32, "big"))
    assert (address_of(key.public_key), sign_personal(text, key)) == signed(number, text)


@pytest.mark.parametrize("number", [0, ORDER, 2**256 - 1])
def test_a_number_that_is_no_key_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match=r"(?i)secret"):
        private_key(number.to_bytes(32, "big"))


def test_the_malleated_twin_of_a_signature_is_refused() -> None:
    _, signature = signed(1, "text")
    high = ORDER - int.from_bytes(signature[32:64])
    twin = signature[:32] + high.to_bytes(32, "big") + bytes([55 - signature[64]])
    assert Account.recover_message(encode_defunct(text="text"), signature=twin) == signed(1, "text")[0]
    with pytest.raises(ValueError, match="high"):
        recover_personal("text", twin)


@pytest.mark.parametrize("v", [2, 3, 26, 29, 30, 35, 36, 255])
def test_another_recovery_id_is_refused(v: int) -> None:
    with pytest.raises(ValueError, match="0, 1, 27 or 28"):
        recover_personal("text", signed(1, "text")[1][:64] + bytes([v]))


@pytest.mark.parametrize("length", [0, 1, 64, 66, 130])
def test_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="65 bytes"):
        recover_personal("text", bytes(length))


@pytest.mark.parametrize(("r", "s"), [(0, 1), (1, 0), (0, 0), (ORDER, 1), (2**256 - 1, 1), (5, 1)])
def test_numbers_that_belong_to_no_key_are_refused(r: int, s: int) -> None:
    with pytest.raises(ValueError, match=r"recover|parse"):
        recover_personal("text", r.to_bytes(32, "big") + s.to_bytes(32, "big") + b"\x1b")


@given(st.binary(min_size=65, max_size=65))
def test_any_bytes_are_refused_or_name_an_address(signature: bytes) -> None:
    try:
        address = recover_personal("text", signature)
    except ValueError:
        return
    assert checksum_address(address) == address
