"""The way from a tool to the service: one request, paid for where that was said, on a connection that is kept."""

import secrets
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from msgspec import UNSET

from service.clients.mcp.tools import Asked
from service.clients.paying.buyer import Buyer
from service.clients.sdk.answer import Answer, RefusedError
from service.clients.sdk.client import Client, fill, is_token
from service.wire.offers import OFFERS, QUESTION

OFFER_OF: Final = {offer.id: offer for offer in OFFERS}
_KEY_BYTES: Final = 16


class Gateway:
    """One service, for the callers of a tool server.

    Args:
        url: Where it is.
        token_of: Whom to be there, by the HTTP request that a call came with; None where it came without one.
        buyer: Pays for what is refused with 402; none pays nothing.
    """

    def __init__(
        self, url: str, token_of: Callable[[Mapping[str, str] | None], str | None], buyer: Buyer | None = None
    ) -> None:
        self.url = url
        self.pays = buyer is not None
        self._token_of = token_of
        self._buyer = buyer
        self._idle: deque[Client] = deque()

    def ask(self, asked: Asked, headers: Mapping[str, str] | None) -> Answer:
        """Send one request, and pay for it where that was said. Blocks; called from threads.

        Args:
            asked: Which.
            headers: Of the HTTP request that the call came with.

        Raises:
            RefusedError: If the service says no.
            UnreachableError: If no answer came.
            UnreadableError: If it is none of this interface.
            UnpaidError: If it has to be paid for and was not.
            OpenPaymentError: If nobody can say whether it was.
        """
        offer = OFFER_OF[asked.offer]
        values = {name: value for name, value in asked.values.items() if value is not UNSET}
        path, rest = fill(offer.path, values)
        query, body = ({}, rest) if offer.body else (rest, None)
        own = {"Idempotency-Key": secrets.token_hex(_KEY_BYTES)} if offer is QUESTION else {}

        with self._client(headers) as client:

            def send(more: Mapping[str, str]) -> Answer:
                return client.ask(offer.method, path, query, body, {**own, **more})

            try:
                return send({})
            except RefusedError as refused:
                if self._buyer is None or refused.status != HTTPStatus.PAYMENT_REQUIRED:
                    raise
                return self._buyer.buy(refused, send, client)

    def read(self, offer: str, headers: Mapping[str, str] | None) -> Any:
        """What a route answers that takes nothing: its whole document.

        Raises:
            RefusedError: As `ask`.
            UnreachableError: As `ask`.
            UnreadableError: As `ask`.
        """
        return self.ask(Asked(offer, {}), headers).document

    def close(self) -> None:
        """Let go of the connections."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _client(self, headers: Mapping[str, str] | None) -> Iterator[Client]:
        """A client that nobody else uses, as the caller; afterwards it knows no caller any more."""
        token = self._token_of(headers)
        try:
            client = self._idle.pop()
        except IndexError:
            client = Client(self.url)
        client.token = token
        try:
            yield client
        finally:
            client.token = None
            self._idle.append(client)


def bearer(headers: Mapping[str, str] | None) -> str | None:
    """The token that an HTTP request carries (RFC 6750 §2.1), none if it carries none."""
    scheme, _, token = (headers or {}).get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" and is_token(token) else None
