"""What a model may use in a day, over all processes: the most an answer may cost is set aside before it is begun."""

from typing import Final

from msgspec import Struct

from service.clock import Clock, day_of
from service.storage.database import Database
from service.storage.engine import Connection

_TAKE: Final = """
INSERT INTO model_use (day, tokens) SELECT ?1, ?2 WHERE ?2 <= ?3
ON CONFLICT (day) DO UPDATE SET tokens = model_use.tokens + excluded.tokens
WHERE model_use.tokens + excluded.tokens <= ?3
"""
_CHANGE: Final = "UPDATE model_use SET tokens = max(0, tokens + ?) WHERE day = ?"


class Allowance(Struct, frozen=True):
    """Tokens set aside on a UTC day: spent, as long as nobody says how many of them were."""

    day: int
    tokens: int


class Budget:
    """Tokens of a UTC day.

    They are counted where every process counts them, in the transaction that compares them with the limit, so that no
    two answers can both have the last of them.

    Args:
        database: Where they are counted.
        clock: Says which day it is.
        daily_tokens: How many there are.
    """

    def __init__(self, database: Database, clock: Clock, daily_tokens: int) -> None:
        self._database = database
        self._clock = clock
        self._daily_tokens = daily_tokens

    async def reserve(self, tokens: int) -> Allowance | None:
        """Set tokens aside.

        Returns:
            Null where fewer are left today.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot take it: then nothing may be asked.
        """
        day = day_of(self._clock.now_ms())
        row = (day, tokens, self._daily_tokens)

        def take(connection: Connection) -> bool:
            return bool(connection.execute(_TAKE, row).rowcount)

        return Allowance(day, tokens) if await self._database.write(take) else None

    async def settle(self, allowance: Allowance, tokens: int) -> None:
        """Say how many were used: fewer than were set aside, or more. They count on the day they were set aside.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot take it: then all of the allowance counts as used.
        """
        change = (tokens - allowance.tokens, allowance.day)
        await self._database.write(lambda connection: connection.execute(_CHANGE, change).rowcount)
