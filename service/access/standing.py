"""What is left of a user's questions, and what the meter decided."""

from msgspec import Struct

from service.wire.access import Tier
from service.wire.payment import Period


class Standing(Struct, frozen=True):
    """A user's quota at one instant.

    `limit` and `remaining` are null where there is no limit; `period` is `lifetime` while the starter lasts and for the
    rest of the day it was spent in, and `day` after; `reset_ms` is the next 00:00 UTC at which a question becomes free
    again, null where nothing resets. `used` may exceed `limit` where the tier has fallen.

    `busy` means that no question is free now, but that some are only reserved for calls under way: the quota is not
    spent, and the caller may ask again in a second.
    """

    tier: Tier
    used: int
    limit: int | None
    remaining: int | None
    period: Period
    reset_ms: int | None
    busy: bool = False


class Decision(Struct, frozen=True):
    """Whether a call may go on. `event_id` is its usage event, null where it was refused."""

    event_id: int | None
    standing: Standing
