"""The rule of the quota, and nothing else: no store, no clock, integers only.

- Free: a starter of ten that never refills. From the next 00:00 UTC after the tenth on, one question a UTC day; unused
  days do not add up. Access: fifty a UTC day. Pro: no limit, counted all the same.
- An account without free questions (plan none) has no question on the free tier.
- Access and pro leave the starter alone: who falls back to free has what is left of it. What they used today counts for
  today under whatever tier comes next.
- A day never comes before one the user has been seen in. So a clock that is set back gives nothing again, and a day in
  the future (a clock that was ahead) holds until it is reached or repaired.
"""

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from service.access.caller import Plan
from service.access.standing import Standing
from service.clock import DAY_MS
from service.wire.access import Tier

STARTER: Final = 10
"""Questions a user starts with on the free tier."""

PER_DAY: Final[dict[Tier, int | None]] = {"free": 1, "access": 50, "pro": None}
"""Questions a UTC day; on the free tier once the starter is spent. Null: no limit."""

Bucket = Literal[0, 1]
"""What a question was taken from, as `usage_events.bucket` has it."""

FROM_STARTER: Final = 0
FROM_DAY: Final = 1

PAID: Final = 2
"""In place of a bucket: the call was paid for, so nothing was taken and the quota knows nothing of it."""

VISIT: Final = 3
"""In place of a bucket: a device's one free question, which no user's quota knows of."""

NOBODY: Final = 0
"""In place of a user: whoever asks without a token. Users are numbered from 1."""


class Usage(Struct, frozen=True):
    """A user's counters, as a row of `quota`.

    Attributes:
        starter_used: Questions taken from the starter.
        starter_day: The UTC day the last of them was taken in, days since 1970-01-01.
        day: The last UTC day the user was seen in.
        day_used: Questions taken from that day's allowance.
        counted: All questions ever.
    """

    starter_used: int = 0
    starter_day: int = 0
    day: int = 0
    day_used: int = 0
    counted: int = 0


def take(usage: Usage, tier: Plan, today: int) -> tuple[Bucket | None, Usage]:
    """Take one question.

    Args:
        usage: The counters before.
        tier: What the user is entitled to now.
        today: The UTC day by the clock, days since 1970-01-01.

    Returns:
        What it was taken from and the counters after; null and the same counters where nothing is left.
    """
    day, day_used = (today, 0) if today > usage.day else (usage.day, usage.day_used)
    if tier == "free" and usage.starter_used < STARTER:
        return FROM_STARTER, Usage(usage.starter_used + 1, day, day, day_used, usage.counted + 1)
    if _remaining_of_day(usage, tier, day, day_used) == 0:
        return None, usage
    return FROM_DAY, Usage(usage.starter_used, usage.starter_day, day, day_used + 1, usage.counted + 1)


def give_back(usage: Usage, bucket: int, day: int) -> Usage:
    """Return a question that was taken and came to nothing; a day that has passed gets nothing back.

    Args:
        usage: The counters before.
        bucket: What the question was taken from.
        day: The UTC day it was taken in.

    Returns:
        The counters after.
    """
    from_starter = bucket == FROM_STARTER
    from_today = not from_starter and day == usage.day
    return Usage(
        usage.starter_used - from_starter,
        usage.starter_day,
        usage.day,
        usage.day_used - from_today,
        usage.counted - 1,
    )


def standing_of(usage: Usage, tier: Plan, today: int) -> Standing:
    """Say what is left.

    Args:
        usage: The counters.
        tier: What the user is entitled to now.
        today: The UTC day by the clock, days since 1970-01-01.
    """
    if tier == "none":
        return Standing("free", usage.starter_used, 0, 0, "lifetime", None)
    day, day_used = (today, 0) if today > usage.day else (usage.day, usage.day_used)
    next_day_ms = (day + 1) * DAY_MS
    if tier == "free" and (usage.starter_used < STARTER or usage.starter_day >= day):
        left = STARTER - usage.starter_used
        return Standing(tier, usage.starter_used, STARTER, left, "lifetime", None if left else next_day_ms)
    limit = PER_DAY[tier]
    remaining = _remaining_of_day(usage, tier, day, day_used)
    return Standing(tier, day_used, limit, remaining, "day", None if limit is None else next_day_ms)


def standing_beside(usage: Usage, answered: Usage, tier: Plan, today: int) -> Standing:
    """As `standing_of`, and `busy` where the quota is used up only by reservations.

    Args:
        usage: The counters, reservations included.
        answered: The counters without reservations.
        tier: What the user is entitled to now.
        today: The UTC day by the clock, days since 1970-01-01.
    """
    standing = standing_of(usage, tier, today)
    busy = standing.remaining == 0 and take(answered, tier, today)[0] is not None
    return replace(standing, busy=True) if busy else standing


def _remaining_of_day(usage: Usage, tier: Plan, day: int, day_used: int) -> int | None:
    limit = 0 if tier == "none" else PER_DAY[tier]
    if limit is None:
        return None
    if tier == "free" and usage.starter_day >= day:
        return 0
    return max(0, limit - day_used)
