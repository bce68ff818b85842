"""What is published of a route: a row of the table of offers."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from service.units import MicroUsd, usdc
from service.wire.queries import NoParameters

DATA_CALL: Final = MicroUsd(5_000)
"""Price of an ordinary data call: 0.005 USDC."""

DEAR_CALL: Final = MicroUsd(50_000)
"""Price of the question route, pairs and walk-forward: 0.05 USDC."""

UPSTREAM: Final = ("UPSTREAM_4XX", "UPSTREAM_5XX", "UPSTREAM_UNREACHABLE")
"""What a route answers that has nothing to say because an upstream failed."""

Gate = Literal["public", "bearer", "session", "question", "payer"]
"""Who may call: anyone; any credential; sessions only; a credential or a new device; a credential or a payer."""


class Offer(Struct, frozen=True, kw_only=True):
    """One route.

    Attributes:
        id: Stable name, also of the route function's binding (`coin.risk`).
        method: HTTP method; GET also answers HEAD, uncounted.
        path: Starlette path template. Fields of `parameters` named in it come from the path, the others from the query.
        parameters: Struct the path and query are decoded into; its `Meta` constraints are the whole validation.
        result: Struct of `data` (or of the bare body where `envelope` is false).
        results: Further structs that `data` may be, where a parameter decides (an `action`).
        body: Struct of the JSON request body, if the route takes one.
        summary: One sentence for manifest, OpenAPI and clients.
        price: What a call costs once the quota is spent; 0 is free and never counted.
        refresh_seconds: How often the data behind it is refreshed, if it is.
        streaming: Answers line by line; never payable.
        envelope: Whether the answer is wrapped.
        dated: Whether the envelope's `meta` carries the age of underlying data.
        gate: Who may call.
        also: Codes this route may answer beyond those every route of its gate may.
        bare_errors: Whether a failure is `{"error": message}`, without codes and envelope.
        forms: Media types of a success, the usual one first; the caller's `Accept` chooses.
    """

    id: str
    path: str
    summary: str
    result: type[Struct]
    results: Sequence[type[Struct]] = ()
    method: Literal["GET", "POST", "DELETE"] = "GET"
    parameters: type[Struct] = NoParameters
    body: type[Struct] | None = None
    price: MicroUsd = MicroUsd(0)
    refresh_seconds: int | None = None
    streaming: bool = False
    envelope: bool = True
    dated: bool = True
    gate: Gate = "bearer"
    also: Sequence[str] = ()
    bare_errors: bool = False
    forms: Sequence[str] = ("application/json",)

    @property
    def counted(self) -> bool:
        """Whether a call uses up a question: everything that has a price does, and so do streams."""
        return self.price > 0 or self.streaming

    @property
    def payable(self) -> bool:
        """Whether a call may be paid for once the quota is spent."""
        return self.price > 0 and not self.streaming

    @property
    def price_usdc(self) -> str:
        """The price in decimal USDC."""
        return usdc(self.price)


def data_call(
    id_: str,
    path: str,
    summary: str,
    parameters: type[Struct],
    result: type[Struct],
    *results: type[Struct],
    refresh: int,
    also: Sequence[str] = (),
    price: MicroUsd = DATA_CALL,
) -> Offer:
    """A priced GET of data, enveloped and dated.

    Args:
        id_: As `Offer.id`.
        path: As there.
        summary: As there.
        parameters: As there.
        result: As there.
        *results: As there.
        refresh: `refresh_seconds`.
        also: Codes beside those of a failed upstream, which every such route may answer.
        price: As there.
    """
    return Offer(
        id=id_,
        path=path,
        summary=summary,
        parameters=parameters,
        result=result,
        results=results,
        price=price,
        refresh_seconds=refresh,
        also=(*also, *UPSTREAM),
    )
