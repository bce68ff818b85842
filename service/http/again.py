"""A head that comes again on one connection: all that it takes to answer it, made once.

Answers wait together for their commit, so what each of them is made of adds up: with a scope, an exchange, a cycle and
a giver of their own, 64 requests hold more than a processor keeps near, and every step waits for memory. A connection
has one request under way at a time, so they are made for the connection's last head and used again.
"""

from collections import Counter

from starlette.types import Scope

from service.http.cycle import Cycle
from service.http.giver import Giver
from service.http.heads import Known


class Again:
    """Answers the same head on one connection, as often as it comes.

    Args:
        head: Its bytes, the token among them: they go with the connection, and whoever sent them has them at hand.
        known: What it says.
        scope: The request, with the connection's part; to be kept by nobody else.
        answers: Counts answers by route name and status.
        cycle: Takes the answers; every request has left it when the next one comes.

    Attributes:
        head: Its bytes.
        cycle: The cycle.
    """

    __slots__ = ("_exchange", "_fields", "_giver", "_lane", "_scope", "cycle", "head")

    def __init__(
        self, head: bytes, known: Known, scope: Scope, answers: Counter[tuple[str, int]], cycle: Cycle
    ) -> None:
        self.head = head
        self.cycle = cycle
        self._lane = known.lane
        self._exchange = scope["verdict"] = known.exchange.again()
        self._fields = tuple(known.exchange.fields)
        self._scope = scope
        self._giver = Giver(answers, scope, self._exchange, cycle)

    def answer(self) -> bool:
        """Answer a request the short way: now, or as soon as it is counted.

        Returns:
            Whether that is done; else nothing has happened, and what arrived must be read like anything else.
        """
        exchange, scope = self._exchange, self._scope
        exchange.renew(self._fields)
        self.cycle.renew()
        try:
            for check in self._lane.checks:
                if not check(scope, exchange):
                    return False
            self._giver.serve(self._lane)
        except Exception as error:  # noqa: BLE001 -- whatever it is becomes an answer
            self._giver.set_exception(error)
        return True
