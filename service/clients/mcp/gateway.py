"""Sends a tool's request to the service over pooled connections, and pays for it if configured."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from msgspec import UNSET

from service.clients.mcp.tools import ToolRequest
from service.clients.paying.buyer import Buyer
from service.clients.sdk.answer import RawAnswer, RefusedError
from service.clients.sdk.calls import request_of
from service.clients.sdk.connection import is_token
from service.clients.sdk.pool import ConnectionPool


class Gateway:
    """Calls one service for the callers of the MCP server.

    Args:
        url: The service.
        token_of: The token for a call, by the headers of its HTTP request (None over standard input).
        buyer: Pays for requests refused with 402; None never pays.

    Attributes:
        pool: The connections.
        close: Closes them.
    """

    def __init__(
        self, url: str, token_of: Callable[[Mapping[str, str] | None], str | None], buyer: Buyer | None = None
    ) -> None:
        self.pool = ConnectionPool(url)
        self.close = self.pool.close
        self.pays = buyer is not None
        self._token_of = token_of
        self._buyer = buyer

    def ask(self, asked: ToolRequest, headers: Mapping[str, str] | None) -> RawAnswer:
        """Send one request, and pay for it if configured. Blocks; called from threads.

        Args:
            asked: The request.
            headers: Headers of the call's HTTP request.

        Raises:
            RefusedError: If the service refuses.
            UnreachableError: If no answer arrived.
            UnreadableAnswerError: If the answer is not one of this API.
            UnpaidError: If payment is required and was not made.
            OpenPaymentError: If the outcome of the payment is not known yet.
        """
        request = request_of(asked.offer, {name: value for name, value in asked.values.items() if value is not UNSET})

        with self.pool.connection(self._token_of(headers)) as client:

            def send(more: Mapping[str, str]) -> RawAnswer:
                return client.ask(*request._replace(headers={**request.headers, **more}))

            try:
                return send({})
            except RefusedError as refused:
                if self._buyer is None or refused.status != HTTPStatus.PAYMENT_REQUIRED:
                    raise
                return self._buyer.buy(refused, send, client)

    def read(self, offer: str, headers: Mapping[str, str] | None) -> Any:
        """The whole answer of a route without parameters.

        Raises:
            RefusedError: As `ask`.
            UnreachableError: As `ask`.
            UnreadableAnswerError: As `ask`.
        """
        return self.ask(ToolRequest(offer, {}), headers).document


def bearer(headers: Mapping[str, str] | None) -> str | None:
    """The bearer token of an HTTP request (RFC 6750 §2.1), or None."""
    scheme, _, token = (headers or {}).get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" and is_token(token) else None
