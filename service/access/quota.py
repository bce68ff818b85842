"""The quota rule: no store, no clock, integers only.

- Free: ten starter questions that never refill. From the next 00:00 UTC after the tenth, one question a UTC day; unused
  days do not add up. Access: fifty a UTC day. Pro: unlimited, but counted.
- An account without free questions (plan `none`) has no question on the free tier.
- Access and pro do not use the starter. Today's questions count for today under any later tier.
- A user's day never goes back. Setting the clock back gives nothing again; a day in the future holds until it is
  reached or repaired.
"""

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from service.access.caller import Plan
from service.clock import DAY_MS
from service.wire.access import Tier
from service.wire.payment import Period

STARTER: Final = 10
"""Questions a user starts with on the free tier."""


PER_DAY: Final[dict[Tier, int | None]] = {"free": 1, "access": 50, "pro": None}
"""Questions a UTC day; on the free tier once the starter is spent. Null: no limit."""


Bucket = Literal[0, 1]
"""What a question was taken from, as `usage_events.bucket` has it."""

FROM_STARTER: Final = 0
FROM_DAY: Final = 1

PAID: Final = 2
"""Bucket of a paid call: no question was taken."""


ANONYMOUS: Final = 3
"""Bucket of a device's one free question: no user's quota includes it."""


NO_USER: Final = 0
"""In place of a user id: callers without a token. User ids start at 1."""


class QuotaStatus(Struct, frozen=True):
    """A user's quota at one instant.

    `limit` and `remaining` are None without a limit. `period` is `lifetime` while the starter lasts and for the rest of
    the day it was used up; then `day`. `reset_ms` is the next 00:00 UTC at which a question becomes free, or None.
    `used` may exceed `limit` if the tier fell. `busy`: the last questions are only reserved; retry in a second.
    """

    tier: Tier
    used: int
    limit: int | None
    remaining: int | None
    period: Period
    reset_ms: int | None
    busy: bool = False


class ChargeDecision(Struct, frozen=True):
    """Whether a call is granted. `event_id` is its usage event, None if it was refused."""

    event_id: int | None
    quota_status: QuotaStatus


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


def take_question(usage: Usage, tier: Plan, today: int) -> tuple[Bucket | None, Usage]:
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


def return_question(usage: Usage, bucket: int, day: int) -> Usage:
    """Return a question. A day that has passed gets nothing back.

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


def quota_status(usage: Usage, tier: Plan, today: int) -> QuotaStatus:
    """Say what is left.

    Args:
        usage: The counters.
        tier: What the user is entitled to now.
        today: The UTC day by the clock, days since 1970-01-01.
    """
    if tier == "none":
        return QuotaStatus("free", usage.starter_used, 0, 0, "lifetime", None)
    day, day_used = (today, 0) if today > usage.day else (usage.day, usage.day_used)
    next_day_ms = (day + 1) * DAY_MS
    if tier == "free" and (usage.starter_used < STARTER or usage.starter_day >= day):
        left = STARTER - usage.starter_used
        return QuotaStatus(tier, usage.starter_used, STARTER, left, "lifetime", None if left else next_day_ms)
    limit = PER_DAY[tier]
    remaining = _remaining_of_day(usage, tier, day, day_used)
    return QuotaStatus(tier, day_used, limit, remaining, "day", None if limit is None else next_day_ms)


def quota_status_with_reservations(usage: Usage, answered: Usage, tier: Plan, today: int) -> QuotaStatus:
    """As `quota_status`, with `busy` if the quota is used up only by reservations.

    Args:
        usage: The counters, reservations included.
        answered: The counters without reservations.
        tier: The user's plan.
        today: The UTC day, days since 1970-01-01.
    """
    status = quota_status(usage, tier, today)
    busy = status.remaining == 0 and take_question(answered, tier, today)[0] is not None
    return replace(status, busy=True) if busy else status


def _remaining_of_day(usage: Usage, tier: Plan, day: int, day_used: int) -> int | None:
    limit = 0 if tier == "none" else PER_DAY[tier]
    if limit is None:
        return None
    if tier == "free" and usage.starter_day >= day:
        return 0
    return max(0, limit - day_used)
