"""Payloads of the tools that only questions use: quota, definitions and recent movements of wallets."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from service.wire.access import Tier
from service.wire.payment import Period
from service.wire.wallets import Movement

MOST_ROWS: Final = 50
"""Rows that one tool answers at most."""


class QuotaStanding(Struct, frozen=True):
    """What is left of the caller's questions; null where there is no limit, or nothing resets."""

    tier: Tier
    used: int
    limit: int | None
    remaining: int | None
    period: Period
    resets_at: str | None


class GlossaryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A key of the glossary."""

    term: Annotated[str, Meta(min_length=1, max_length=40)]


class Definition(Struct, frozen=True):
    """What a word means here, and the titles of what to read beside it."""

    term: str
    title: str
    text: str
    see: list[str]


class RecentQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The largest movements of so many days back from now."""

    days: Annotated[int, Meta(ge=1, le=30)] = 1
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 10


class RecentMovements(Struct, frozen=True):
    """What moved in and out of watched wallets whose worth was known when it was first seen, the largest first.

    `since` is when the first of the days began, `wallets` how many are watched, `total` how many such movements there
    were. A transfer between two watched wallets is one of them, out of the sender's. `chainId` is null without watched
    wallets.
    """

    since: str
    days: int
    wallets: int
    chainId: int | None
    total: int
    movements: list[Movement]
