"""The gate of priced routes for requests that carry a payment.

It stands before the meter: what is paid for never touches the free quota. The route runs first, its answer is kept
back, the payment is settled, and only then does the answer leave. What fails, or costs nothing, leaves unpaid.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from typing import Final

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.caller import Caller
from service.access.meter import Meter
from service.access.repeats import KEPT_MS
from service.access.standing import Standing
from service.clock import Clock
from service.errors import ServiceError
from service.http import quota
from service.http.body import again, collect
from service.http.exchange import Exchange
from service.http.resource import resource_url, target
from service.payments.decode import Carrier
from service.payments.payment import NO_ACCOUNT, Entry, Order, PaidAnswer
from service.payments.refusal import PaymentRefusedError
from service.payments.till import NotSettledError, Till, outcome_fields, pending
from service.wire.offers import Offer

_CARRIERS: Final[dict[bytes, Carrier]] = {b"payment-signature": "payment-signature", b"x-payment": "x-payment"}
_FIRST_ERROR: Final = 400

Due = Callable[[Scope, Receive, Send, Standing | None, ServiceError | None], Awaitable[None]]
"""Answers with the route's challenge: what is due, and what is wrong with the payment that came, if one did."""


class Checkout(Struct, frozen=True):
    """What every priced route's gate needs: the till, and for challenges the caller's standing.

    `public_url` is scheme and host that callers use, where the service stands behind a proxy. `anonymous` is whether
    callers without an account may pay.
    """

    till: Till
    meter: Meter
    clock: Clock
    public_url: str | None
    anonymous: bool


class Pay:
    """Sells one route's answers; lets requests without a payment through where their caller has an account.

    A caller without one gets the challenge: its payment is all that this gate wants.

    Args:
        app: What stands behind the gate.
        offer: The route.
        checkout: Where it is sold.
        due: Answers with the route's challenge.
    """

    def __init__(self, app: ASGIApp, offer: Offer, checkout: Checkout, due: Due) -> None:
        self.app = app
        self._offer = offer
        self._checkout = checkout
        self._till = checkout.till
        self._due = due

    def read(self, scope: Scope, exchange: Exchange) -> bool:  # noqa: ARG002 -- the form of every gate's checks
        """Look for a payment.

        Returns:
            Whether there is none; to take one needs waiting.
        """
        return _CARRIERS.keys().isdisjoint(exchange.headers)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve a call for its price; HEAD for nothing, as if it came without the payment.

        Raises:
            ServiceError: BAD_REQUEST for two payments or one that cannot be read; PAYMENT_REUSED; PAYMENT_PENDING; or
                what the route fails with, unpaid.
        """
        exchange: Exchange = scope["verdict"]
        if exchange.key_hash is not None and exchange.caller is not None:
            return self._find(exchange, exchange.key_hash, scope, receive, send)
        return self._serve(exchange, scope, receive, send)

    def _serve(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["method"] != "HEAD" and not self.read(scope, exchange):
            return self._sell(exchange, scope, receive, send)
        if self._caller(exchange) is None:
            return self._challenge(exchange, scope, receive, send, None)
        return self.app(scope, receive, send)

    async def _find(self, exchange: Exchange, key_hash: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Give what the request's key has bought, though nobody lived to keep it with the key; else serve."""
        since_ms = self._checkout.clock.now_ms() - KEPT_MS
        entry = await self._till.find(exchange.known_caller.user_id, key_hash, since_ms)
        if entry is None or entry.answer is None:
            await self._serve(exchange, scope, receive, send)
            return
        exchange.paid = True
        await self._hand_over(exchange, entry, entry.answer, send)

    async def _sell(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        carrier, value = _payment_of(exchange)
        body = b""
        if self._offer.body is not None:
            body = await collect(receive)
            receive = again(body, receive)
        exchange.doubt = pending()
        try:
            tender = self._till.read(carrier, value, self._offer)
            entry = await self._till.take(self._order(exchange, scope, body), tender)
            answer = entry.answer
            if answer is None:
                answer = await self._run(exchange, entry, scope, receive)
                if _is_sold(answer.status, exchange):
                    entry = await self._till.settle(entry, answer)
        except PaymentRefusedError as error:
            if isinstance(error, NotSettledError):
                exchange.fields += error.fields
            await self._challenge(exchange, scope, receive, send, error)
            return
        await self._hand_over(exchange, entry, answer, send)

    async def _run(self, exchange: Exchange, entry: Entry, scope: Scope, receive: Receive) -> PaidAnswer:
        """Have the route answer, and keep the answer back; a payment it has no use for is given back at once."""
        exchange.paid = exchange.kept = True
        kept = _Kept()
        sold = False
        try:
            await self.app(scope, receive, kept)
            sold = _is_sold(kept.status, exchange)
        finally:
            if not sold:
                await self._till.release(entry)
        return PaidAnswer(kept.status, tuple(kept.headers), bytes(kept.body))

    async def _hand_over(self, exchange: Exchange, entry: Entry, answer: PaidAnswer, send: Send) -> None:
        head: Message = {"type": "http.response.start", "status": answer.status, "headers": list(answer.headers)}
        if entry.state != "claimed":
            exchange.fields += outcome_fields(entry)
            head["delivered"] = partial(self._till.delivered, entry)
        await send(head)
        await send({"type": "http.response.body", "body": answer.body})

    async def _challenge(
        self, exchange: Exchange, scope: Scope, receive: Receive, send: Send, refused: ServiceError | None
    ) -> None:
        standing = None
        caller = self._caller(exchange)
        if caller is not None:
            standing = await self._checkout.meter.answered(caller)
            exchange.fields += quota.fields(standing, self._checkout.clock)
        await self._due(scope, receive, send, standing, refused)

    def _caller(self, exchange: Exchange) -> Caller | None:
        """Who pays; null where callers without an account may, and this one has none."""
        return exchange.caller if self._checkout.anonymous else exchange.known_caller

    def _order(self, exchange: Exchange, scope: Scope, body: bytes) -> Order:
        method: str = scope["method"]
        caller = self._caller(exchange)
        return Order(
            user_id=NO_ACCOUNT if caller is None else caller.user_id,
            offer_id=self._offer.id,
            method=method,
            resource=resource_url(scope, self._checkout.public_url),
            request_hash=sha256(b"%b %b\n%b" % (method.encode("ascii"), target(scope), body)).hexdigest(),
            price=self._offer.price,
            key_hash=exchange.key_hash,
        )


class _Kept:
    """An answer that does not leave yet."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = message["headers"]
        else:
            self.body += message["body"]


def _is_sold(status: int, exchange: Exchange) -> bool:
    """Whether an answer of the route is one that costs what is paid for it."""
    return status < _FIRST_ERROR and exchange.counted


def _payment_of(exchange: Exchange) -> tuple[Carrier, bytes]:
    found = [(carrier, exchange.headers[name]) for name, carrier in _CARRIERS.items() if name in exchange.headers]
    if len(found) > 1:
        raise ServiceError("BAD_REQUEST", "a request carries one payment header, PAYMENT-SIGNATURE or X-PAYMENT")
    return found[0]
