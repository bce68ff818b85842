"""`verdict` with one more route, `/api/cli/question`: priced and without an envelope, as the question route will be.

Clients of x402 v1 in Python read `error` as text and nothing else, so this is where they can pay.
"""

import sys
from typing import Any, Final

from service import __main__
from service.routes import table
from service.routes.call import Call, Endpoint
from service.wire import offers
from service.wire.envelope import Answer
from service.wire.offers import DEAR_CALL, NoParameters, Offer

QUESTION: Final = Offer(
    id="question",
    path="/api/cli/question",
    summary="Answer one question",
    result=NoParameters,
    price=DEAR_CALL,
    envelope=False,
)


def answer(_: Call[Any, Any]) -> Answer:
    return Answer({"answer": 42})


def add() -> None:
    """Offer the route to whoever reads the table from now on, and bind it."""
    binding = table.bind

    def bind(*arguments: Any) -> dict[str, Endpoint]:
        return {**binding(*arguments), QUESTION.id: answer}

    offers.OFFERS = (*offers.OFFERS, QUESTION)  # type: ignore[misc]
    table.bind = bind  # type: ignore[assignment]


if __name__ == "__main__":
    add()
    sys.exit(__main__.main())
