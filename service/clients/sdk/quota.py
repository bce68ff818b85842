"""What is left of a caller's questions, as answers to counted calls tell it.

Source: draft-ietf-httpapi-ratelimit-headers-10 (`RateLimit-Policy`, `RateLimit`), structured fields of RFC 9651. Only
the policy `questions` is read; the service names another, `requests`, where somebody asks too fast.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_ITEM: Final = re.compile(r'\s*"questions"((?:\s*;\s*[a-z]+=\d{1,15})*)\s*\Z', re.ASCII)
_PARAMETER: Final = re.compile(r"([a-z]+)=(\d+)", re.ASCII)


class Quota(NamedTuple):
    """What is left.

    Attributes:
        left: Questions.
        limit: Of so many; None where it was not said.
        daily: Whether there are so many a UTC day; else once.
        reset_s: Seconds until one is free again; None where none will be.
    """

    left: int
    limit: int | None
    daily: bool
    reset_s: int | None


def read_quota(headers: Mapping[str, str]) -> Quota | None:
    """What an answer tells of the quota.

    Args:
        headers: By lower-case name.

    Returns:
        Nothing where the answer was not counted, or there is no limit.
    """
    left, policy = _parameters(headers.get("ratelimit", "")), _parameters(headers.get("ratelimit-policy", ""))
    if "r" not in left:
        return None
    return Quota(left["r"], policy.get("q"), "w" in policy, left.get("t"))


def _parameters(field: str) -> dict[str, int]:
    found = next(filter(None, map(_ITEM.match, field.split(","))), None)
    return {name: int(value) for name, value in _PARAMETER.findall(found[1])} if found else {}
