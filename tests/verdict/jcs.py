"""RFC 8785 a second time, from its text: for checking identities without the library that made them."""

import json
import math
from collections.abc import Mapping
from decimal import Decimal


def write(value: object) -> bytes:
    return _text(value).encode()


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: [*name.encode("utf-16-be")])
        return "{" + ",".join(f"{_string(name)}:{_text(value[name])}" for name in names) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, str):
        return _string(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    assert isinstance(value, int | float)
    return _number(float(value))


def _string(text: str) -> str:
    # What JSON.stringify does: quote, backslash and controls are escaped, everything else stands for itself.
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    """Number::toString of ECMA-262 (7.1.12.1): s the shortest digits, n where the point stands, k how many digits."""
    assert math.isfinite(value)
    if value == 0:
        return "0"
    if value < 0:
        return "-" + _number(-value)
    shortest = Decimal(repr(value)).normalize().as_tuple()
    s, exponent = "".join(map(str, shortest.digits)), shortest.exponent
    assert isinstance(exponent, int)
    k, n = len(s), len(s) + exponent
    if k <= n <= 21:
        return s + "0" * (n - k)
    if 0 < n <= 21:
        return f"{s[:n]}.{s[n:]}"
    if -6 < n <= 0:
        return "0." + "0" * -n + s
    mantissa = s if k == 1 else f"{s[0]}.{s[1:]}"
    return f"{mantissa}e{'+' if n > 0 else '-'}{abs(n - 1)}"
