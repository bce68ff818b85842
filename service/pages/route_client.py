"""Calls the route functions: a page shows what the API answers, by the same functions, and no call is charged."""

from collections.abc import Mapping
from inspect import isawaitable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from service.errors import ServiceError
from service.routes.call import Bound, Call, QuestionRoute, StreamRoute, WaitingRoute
from service.wire.envelope import encode
from service.wire.offers import OFFERS

T = TypeVar("T")


class RouteResult(Struct, Generic[T], frozen=True):
    """What a route answered, and as of when (epoch milliseconds UTC)."""

    data: T
    as_of_ms: int | None


class RouteClient:
    """Asks routes by their offers' ids.

    Args:
        endpoints: Offer id → what answers it.
    """

    def __init__(self, endpoints: Mapping[str, Bound]) -> None:
        self._endpoints = endpoints
        self._parameters = {offer.id: offer.parameters for offer in OFFERS}

    async def ask(self, offer_id: str, kind: type[T], **parameters: object) -> RouteResult[T]:
        """Ask a route that needs no caller.

        Args:
            offer_id: Which.
            kind: The struct it answers with.
            parameters: Its parameters, as its struct names them; they are not checked again.

        Raises:
            ServiceError: As the route.
            TypeError: If the route answers piece by piece.
        """
        endpoint = self._endpoints[offer_id]
        if isinstance(endpoint, QuestionRoute | StreamRoute):
            raise TypeError(f"{offer_id} answers piece by piece")
        query = self._parameters[offer_id](**parameters)
        if isinstance(endpoint, WaitingRoute):
            endpoint.known(query)
        said = endpoint(Call[Any, Any](query, None, None))
        answer = await said if isawaitable(said) else said
        body = answer.data if isinstance(answer.data, msgspec.Raw) else encode(answer.data)
        return RouteResult(msgspec.json.decode(body, type=kind), answer.as_of_ms)

    async def try_ask(self, offer_id: str, kind: type[T], **parameters: object) -> RouteResult[T] | ServiceError:
        """As `ask`; what the route fails with is returned, for a page that can say the rest without it."""
        try:
            return await self.ask(offer_id, kind, **parameters)
        except ServiceError as error:
            return error
