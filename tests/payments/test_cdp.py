"""Bearer tokens for Coinbase's facilitator, against tokens that PyJWT's own library (`cryptography`) signed.

The expected ones were made once, for these keys, this instant and a nonce of zeros; both kinds of signature are
deterministic there (RFC 8032, RFC 6979).
"""

import secrets
from base64 import urlsafe_b64decode
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from service.payments.facilitators.cdp import CdpKey
from service.settings import Secret, SettingsError
from tests.fakes.clock import FakeClock

KEY_ID = "organizations/o/apiKeys/k"
URL = "https://api.cdp.coinbase.com/platform/v2/x402/settle"


def pem(kind: str, *lines: str) -> str:
    return "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""))


ED25519 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA=="
P256 = pem(
    "EC PRIVATE KEY",
    "MHcCAQEEIBHiIb0bf8mVRPP3ZbDDndJ4bmNsNCLWvsAm0e0DiEysoAoGCCqGSM49",
    "AwEHoUQDQgAEB/ZOlIaIwPM7H2BXkYg+lWtBP/yUR2ZwGIn64gI0uq0JhwIY/RcZ",
    "BPR+rQOdrHON8SxLa3lp1NPZKPcdhyC+Pw==",
)
P256_PUBLIC = pem(
    "PUBLIC KEY",
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEB/ZOlIaIwPM7H2BXkYg+lWtBP/yU",
    "R2ZwGIn64gI0uq0JhwIY/RcZBPR+rQOdrHON8SxLa3lp1NPZKPcdhyC+Pw==",
)
P384 = pem(
    "PRIVATE KEY",
    "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAAAAAAAAAAAAAAAAAA",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWhZANiAAQR3iSiwlHH",
    "d1c8rF6gJeRn8gjlHb/5j8VPZmHL5WWDsDeIL0ocopfmCrzbw4NthLyPppbHdED5",
    "LQ9YN+kKAOfFKEtEd1TV3uiMmGUztpAa6zF3aG0K6PszGEQUq+bBcTo=",
)

_CLAIMS = (
    "eyJzdWIiOiJvcmdhbml6YXRpb25zL28vYXBpS2V5cy9rIiwiaXNzIjoiY2RwIiwiaWF0IjoxNzUzNDQ0ODAwLCJuYmYiOjE3NTM0NDQ4MDAs"
    "ImV4cCI6MTc1MzQ0NDkyMCwidXJpcyI6WyJQT1NUIGFwaS5jZHAuY29pbmJhc2UuY29tL3BsYXRmb3JtL3YyL3g0MDIvc2V0dGxlIl19"
)
_REST = (
    "Im9yZ2FuaXphdGlvbnMvby9hcGlLZXlzL2siLCJ0eXAiOiJKV1QiLCJub25jZSI6IjAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwIn0"
)
SIGNED = {
    ED25519: f"eyJhbGciOiJFZERTQSIsImtpZCI6{_REST}.{_CLAIMS}"
    ".0-YJhWy0fPPxrRsuj_K4sfjGOHr62BXTjhw6eNKZmSW8XP6hzridFa2A11JWKkRUuVoNnVAOY_fw4jJgGqmvBQ",
    P256: f"eyJhbGciOiJFUzI1NiIsImtpZCI6{_REST}.{_CLAIMS}"
    ".Ng7ousLg8p5w7AExgTTlAVxY2NMIVa7Pr-BGiaNvD1ZBEsaQvvUqf54DLVDNYK8DD6VyjKgppbG-XHCLOJKU1Q",
}


def key(secret: str) -> CdpKey:
    return CdpKey(KEY_ID, Secret(secret), FakeClock())


def part(token: str, number: int) -> Any:
    return msgspec.json.decode(urlsafe_b64decode(token.split(".")[number] + "=="))


@pytest.mark.parametrize("secret", SIGNED, ids=["Ed25519", "P-256"])
def test_a_token_is_the_one_that_another_library_signs(secret: str) -> None:
    with patch.object(secrets, "token_hex", lambda length: "00" * length):
        assert key(secret).token("POST", URL) == SIGNED[secret]


def test_a_pem_whose_line_feeds_were_written_out_is_read_all_the_same() -> None:
    with patch.object(secrets, "token_hex", lambda length: "00" * length):
        assert key(P256.replace("\n", "\\n")).token("POST", URL) == SIGNED[P256]


def test_a_token_is_good_for_one_method_and_url_and_two_minutes_and_never_the_same_twice() -> None:
    one, other = (key(ED25519).token("GET", URL.replace("settle", "supported")) for _ in range(2))
    assert part(one, 1)["uris"] == ["GET api.cdp.coinbase.com/platform/v2/x402/supported"]
    assert part(one, 1)["exp"] - part(one, 1)["iat"] == 120
    assert part(one, 0)["nonce"] != part(other, 0)["nonce"]


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "secret",
        "söcret",
        ED25519[:-4],
        ED25519 + "AAAA",
        ED25519[:44],
        P256[:90],
        P256.replace("MHc", "NHc"),
        P256_PUBLIC,
        P384,
        "-----BEGIN",
        "-----BEGIN EC PRIVATE KEY-----\n\n-----END EC PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----",
    ],
)
def test_what_is_no_key_is_refused_without_being_repeated(secret: str) -> None:
    with pytest.raises(SettingsError) as caught:
        key(secret)
    assert str(caught.value) == (
        "VERDICT_CDP_KEY_SECRET takes the secret of a CDP key: Ed25519 in base64, or EC P-256 in PEM."
    )
