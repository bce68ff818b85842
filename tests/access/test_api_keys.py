import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.api_keys import ApiKeyFormat
from service.errors import ServiceError

PREFIX = "verdict_sk_"
FORM = ApiKeyFormat(PREFIX, b"p" * 32)
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def crc32(data: bytes) -> int:
    """CRC-32 as ISO 3309 defines it, bit by bit: independent of the library the service uses."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0xEDB88320 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def accepts(token: str, form: ApiKeyFormat = FORM) -> bool:
    try:
        form.check(token)
    except ServiceError as error:
        return (error.code, error.headers) != ("AUTH_INVALID", {"WWW-Authenticate": "Bearer"})
    return True


@pytest.mark.promise("keys.format")
def test_a_key_is_prefix_thirty_random_and_six_of_checksum() -> None:
    key = FORM.draw()
    assert re.fullmatch(r"verdict_sk_[0-9A-Za-z]{36}", key)
    number = 0
    for character in key[-6:]:
        number = number * 62 + BASE62.index(character)
    assert number == crc32(key[:-6].encode())
    assert accepts(key)


def test_a_key_that_was_ever_given_out_stays_good() -> None:
    assert accepts("verdict_sk_0123456789ABCDEFGHIJKLMNOPQRST3hJFYf")


@given(st.integers(0, 46), st.sampled_from(BASE62))
def test_one_wrong_character_anywhere_is_noticed(at: int, character: str) -> None:
    key = FORM.draw()
    changed = key[:at] + character + key[at + 1 :]
    assert accepts(changed) is (changed == key)


@given(st.integers(0, 45))
def test_two_characters_swapped_are_noticed(at: int) -> None:
    key = FORM.draw()
    changed = key[:at] + key[at + 1] + key[at] + key[at + 2 :]
    assert accepts(changed) is (changed == key)


@given(st.one_of(st.text(), st.text().map(PREFIX.__add__)))
def test_any_other_text_is_refused_and_breaks_nothing(text: str) -> None:
    assert not accepts(text)


@pytest.mark.parametrize("spoil", ["{}\n", "{} ", " {}", "{}\x00", "{}{}", "{}é"])
def test_a_key_with_something_around_it_is_refused(spoil: str) -> None:
    key = FORM.draw()
    assert not accepts(spoil.format(key, key))


def test_look_alike_digits_are_refused() -> None:
    key = FORM.draw()
    for arabic in "٠١٢":
        assert not accepts(key[:-1] + arabic)


def test_sixty_four_kilobytes_are_refused() -> None:
    assert not accepts(PREFIX + "A" * 65_536)


@pytest.mark.promise("keys.prefix-setting")
def test_the_prefix_is_a_setting() -> None:
    other = ApiKeyFormat("acme_sk_", b"p" * 32)
    key = other.draw()
    assert key.startswith("acme_sk_")
    assert accepts(key, other)
    assert not accepts(key)
    assert other.display_prefix(key) == key[:16]


def test_the_message_tells_a_wrong_form_from_a_wrong_checksum() -> None:
    with pytest.raises(ServiceError, match="verdict_sk_ and 36 characters"):
        FORM.check("verdict_sk_short")
    with pytest.raises(ServiceError, match="checksum does not match"):
        FORM.check("verdict_sk_" + "0" * 36)


@pytest.mark.promise("keys.stored")
def test_the_fingerprint_is_hmac_sha256_under_the_pepper() -> None:
    key = FORM.draw()
    assert FORM.fingerprint(key) == hmac.new(b"p" * 32, key.encode(), hashlib.sha256).digest()
    assert ApiKeyFormat(PREFIX, b"q" * 32).fingerprint(key) != FORM.fingerprint(key)
