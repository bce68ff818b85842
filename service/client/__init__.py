"""The public Python client: `Verdict`, and `AsyncVerdict` for asyncio. `docs/python.md` shows how to use it.

The names below are imported when they are first used: every command imports from this package, and most need none.

Decisions:
- One library for the command line, the MCP server and Python programs, on the blocking `http.client` of the standard
  library: an asynchronous one takes longer to import than everything else that a command does.
- HTTP_PROXY, HTTPS_PROXY and NO_PROXY are obeyed for hosts that are not this machine. Redirects are errors that name
  their target: a token goes to the given URL and nowhere else.
- A request is repeated automatically only if that is safe: once, a GET without a payment, when a kept connection turns
  out to be closed, or when the service says 503 UNAVAILABLE with a short `Retry-After`.
- A truncated answer is an error: its length is compared with the announced one, which `http.client` does not do.
- Certificates are checked against the system's store (OpenSSL reads `SSL_CERT_FILE`); no switch turns that off.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from service.client.answer import CallerQuota, RefusedError, UnreachableError, UnreadableAnswerError
    from service.client.calls import AnswerMeta, ApiResult
    from service.client.client import AsyncVerdict, StreamEndedError, StreamEvent, Verdict
    from service.client.errors import VerdictError
    from service.client.paying.terms import OpenPaymentError, Terms, UnpaidError
    from service.client.wallet import Wallet

__all__ = [  # noqa: RUF022 - clients first
    "Verdict", "AsyncVerdict", "Wallet", "ApiResult", "AnswerMeta", "CallerQuota", "StreamEvent", "Terms",
    "VerdictError", "RefusedError", "UnpaidError", "OpenPaymentError", "UnreachableError", "UnreadableAnswerError",
    "StreamEndedError",
]  # fmt: skip
_MODULES = ("errors", "answer", "paying.terms", "wallet", "calls", "client")


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - most commands need none of the names

    for module in _MODULES if name in __all__ else ():
        found = getattr(import_module(f"service.client.{module}"), name, None)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
