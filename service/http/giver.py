"""The answer of one request that took the short way, from its route to its last byte."""

import logging
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from starlette.types import Scope

from service.access.standing import Decision, Standing
from service.errors import ServiceError
from service.http import errors
from service.http.cycle import Cycle
from service.http.exchange import Exchange
from service.http.gates.meter import Metered
from service.http.lane import Lane
from service.http.whole import Field, Whole, lines_of

log: Final = logging.getLogger("verdict.http")


class Giver:
    """Gives one answer. Where that has to be counted first, it has the part of a future that the meter uses.

    Args:
        answers: Counts answers by route name and status.
        scope: The request.
        exchange: What is known of it.
        cycle: Takes the answer.
    """

    __slots__ = ("_answers", "_cycle", "_exchange", "_metered", "_scope", "_whole")

    def __init__(self, answers: Counter[tuple[str, int]], scope: Scope, exchange: Exchange, cycle: Cycle) -> None:
        self._answers = answers
        self._scope = scope
        self._exchange = exchange
        self._cycle = cycle
        self._metered: Metered
        self._whole: Whole

    def serve(self, lane: Lane) -> None:
        """Run the route, and answer: now, or as soon as it is counted.

        Raises:
            Exception: What the route fails with.
        """
        exchange, metered = self._exchange, lane.metered
        answer = lane.serve.answer(exchange)
        if metered is None or not answer.counted:
            self._give(lane.serve.written(answer))
            return
        self._metered = metered
        spent = metered.spent(exchange)
        if spent is not None:
            self._refuse(spent)
            return
        self._whole = lane.serve.written(answer)
        metered.ask(exchange, self)

    def done(self) -> bool:
        """Whether the peer has left: its question is given back."""
        return self._cycle.disconnected

    def set_result(self, decision: Decision) -> None:
        """Answer, if it is counted."""
        delivered = self._metered.settle(self._exchange, decision)
        if delivered is None:
            self._refuse(decision.standing)
        else:
            self._give(self._whole, delivered)

    def set_exception(self, error: BaseException) -> None:
        """Answer with a failure."""
        self._give(errors.written(failure_of(self._exchange, error), self._exchange.raw_path))

    def _refuse(self, standing: Standing) -> None:
        """Answer what the route says to callers who have no free question."""
        try:
            answer = self._metered.refusal(self._scope, standing)
        except Exception as error:  # noqa: BLE001 -- whatever it is becomes an answer
            self.set_exception(error)
        else:
            self._give(answer)

    def _give(self, answer: Whole, delivered: Callable[[], None] | None = None) -> None:
        """Write an answer with the fields every answer to this request carries, and count it."""
        exchange = self._exchange
        exchange.status = answer.status
        try:
            lines = b"x-request-id: %b\r\n" % exchange.request_id
            if exchange.fields:
                lines += _lines(tuple(exchange.fields))
            self._cycle.answer(answer, lines, delivered)
        except Exception:  # its neighbours in the batch must still be told of theirs
            log.exception("an answer could not be written", extra={"request_id": exchange.request_id.decode()})
            self._cycle.drop()
        self._answers[exchange.route, answer.status] += 1


@lru_cache(maxsize=1024)
def _lines(fields: tuple[Field, ...]) -> bytes:
    """Header lines of quota and origin: within a second they are the same for all who stand alike."""
    return lines_of(fields)


def failure_of(exchange: Exchange, error: BaseException) -> ServiceError:
    """What a caller is told; a defect is logged, and only its request's id leaves."""
    if isinstance(error, ServiceError):
        return error
    request_id = exchange.request_id.decode()
    log.error("a request failed", exc_info=error, extra={"request_id": request_id, "route": exchange.route})
    return errors.internal(exchange.request_id)
