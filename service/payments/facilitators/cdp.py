"""Bearer tokens for Coinbase's facilitator: a JWT of its own for every question, signed with a CDP API key.

Sources: https://docs.cdp.coinbase.com/get-started/authentication/jwt-authentication, RFC 7515 (compact serialisation),
RFC 8037 (EdDSA), RFC 7518 §3.4 (ES256). Written out here because PyJWT signs with neither kind of key unless a third
library is installed, and the one that is here can do both.
"""

import secrets
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

import msgspec
from Crypto.Hash import SHA256
from Crypto.PublicKey import ECC
from Crypto.Signature import DSS, eddsa

from service.clock import SECOND_MS, Clock
from service.settings import Secret, SettingsError

LIFETIME_S: Final = 120
"""How long a token is good; the longest that CDP takes."""

_SEED: Final = 32
_ED25519: Final = 64
_NONCE: Final = 16
_CURVE: Final = "NIST P-256"

_Sign = Callable[[bytes], bytes]


class CdpKey:
    r"""A CDP API key.

    Args:
        key_id: Its id.
        secret: Base64 of an Ed25519 seed and public key, or a P-256 key in PEM, line feeds perhaps written `\n`.
        clock: Of the tokens' times.

    Raises:
        SettingsError: If the secret is no such key; its message does not repeat it.
    """

    def __init__(self, key_id: str, secret: Secret, clock: Clock) -> None:
        self._id = key_id
        self._clock = clock
        self._algorithm, self._sign = _load_key(secret.text)

    def token(self, method: str, url: str) -> str:
        """Write the token for one request; it is good for no other method or URL."""
        now_s = self._clock.now_ms() // SECOND_MS
        where = urlsplit(url)
        header = {"alg": self._algorithm, "kid": self._id, "typ": "JWT", "nonce": secrets.token_hex(_NONCE)}
        claims = {
            "sub": self._id,
            "iss": "cdp",
            "iat": now_s,
            "nbf": now_s,
            "exp": now_s + LIFETIME_S,
            "uris": [f"{method} {where.netloc}{where.path}"],
        }
        signed = _base64url(msgspec.json.encode(header)) + b"." + _base64url(msgspec.json.encode(claims))
        return (signed + b"." + _base64url(self._sign(signed))).decode()


def _base64url(content: bytes) -> bytes:
    return urlsafe_b64encode(content).rstrip(b"=")


def _load_key(text: str) -> tuple[str, _Sign]:
    """Read a secret: the algorithm's name in JWTs, and what signs."""
    try:
        if "-----BEGIN" in text:
            return "ES256", _p256(text.replace("\\n", "\n"))
        return "EdDSA", _ed25519(text)
    except (ValueError, Base64Error, IndexError) as error:
        raise SettingsError(
            "VERDICT_CDP_KEY_SECRET takes the secret of a CDP key: Ed25519 in base64, or EC P-256 in PEM."
        ) from error


def _ed25519(text: str) -> _Sign:
    content = b64decode(text, validate=True)
    if len(content) != _ED25519:
        raise ValueError("an Ed25519 key is 64 bytes")
    return eddsa.new(eddsa.import_private_key(content[:_SEED]), "rfc8032").sign


def _p256(pem: str) -> _Sign:
    key = ECC.import_key(pem)
    if not key.has_private() or key.curve != _CURVE:
        raise ValueError("not a private key of P-256")
    signer = DSS.new(key, "deterministic-rfc6979", encoding="binary")
    return lambda signed: signer.sign(SHA256.new(signed))
