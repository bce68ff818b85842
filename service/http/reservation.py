"""A question that is set aside while its answer is made: counted before the first byte of that, or given back."""

from functools import partial
from typing import Final

from starlette.types import Message

from service.access.meter import Meter
from service.http.exchange import Exchange

_FIRST_ERROR: Final = 400


class Reservation:
    """One reserved question.

    Args:
        meter: Where it is reserved.
        event_id: Its event.
        exchange: The request that it is for.
    """

    def __init__(self, meter: Meter, event_id: int, exchange: Exchange) -> None:
        self._meter = meter
        self._event_id = event_id
        self._exchange = exchange
        self._open = True

    async def settle(self, head: Message) -> bool:
        """Count the question, or give it back, as the answer's head says.

        An answer that is kept is counted in the transaction that keeps it: the question is left to whoever does that.

        Returns:
            Whether it is counted.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be counted: do not answer.
        """
        counted = is_counted(head, self._exchange)
        if not counted:
            await self._meter.release(self._event_id)
        elif self._exchange.kept:
            self._exchange.reserved = self._event_id
        else:
            await self._meter.commit(self._event_id)
            head["delivered"] = partial(self._meter.delivered, self._event_id)
        self._open = False
        return counted

    async def end(self) -> None:
        """Give the question back unless it is settled. Never raises."""
        if self._open:
            await self._meter.release(self._event_id)


def is_counted(head: Message, exchange: Exchange) -> bool:
    """Whether a head begins an answer that costs a question."""
    return head["status"] < _FIRST_ERROR and exchange.counted
