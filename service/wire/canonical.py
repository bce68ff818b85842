"""Canonical JSON: one way to write a value, on every machine, so that a digest of it means something."""

import hashlib

import msgspec
import rfc8785


def canonical(value: object) -> bytes:
    """Write a value as RFC 8785 does: keys sorted by UTF-16, numbers as ECMAScript writes them, no space.

    Args:
        value: A struct, or anything else that JSON can say; fields that are unset are left out.

    Raises:
        rfc8785.CanonicalizationError: If a number is not finite, or an integer beyond 2^53.
    """
    return rfc8785.dumps(msgspec.to_builtins(value))


def digest(value: object) -> str:
    """SHA-256 of a value's canonical form, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()
