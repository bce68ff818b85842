"""Why no answer came, in words that say what to look at."""

import http.client
import socket
import ssl
from typing import Final

_UNTRUSTED: Final = (
    "if you trust it, set SSL_CERT_FILE to its certificate; if it has expired, look at the clock of this machine too"
)


def why_unconnected(error: Exception, url: str, patience_s: float) -> str:
    """Why there is no connection.

    Args:
        error: What the socket raised.
        url: Where to.
        patience_s: How long was waited.
    """
    match error:
        case ssl.SSLCertVerificationError():
            return f"{url} is not trusted: {error.verify_message}; {_UNTRUSTED}"
        case ssl.SSLError():
            return f"{url} speaks no TLS that is understood here ({_reason(error)}); is it http:// instead?"
        case socket.gaierror():
            return f"{url} cannot be reached: no such name is known here; is it spelt right?"
        case ConnectionRefusedError():
            return f"{url} cannot be reached: nothing listens there; is the service running?"
        case TimeoutError():
            return f"{url} cannot be reached: no connection within {patience_s:.0f} s"
    return f"{url} cannot be reached: {_reason(error)}"


def why_unanswered(error: Exception, url: str, patience_s: float) -> str:
    """Why a request that was sent has no whole answer.

    Args:
        error: What the connection raised.
        url: Where to.
        patience_s: How long was waited for the next bytes.
    """
    match error:
        case TimeoutError():
            return f"{url} did not answer within {patience_s:.0f} s"
        case http.client.IncompleteRead():
            return f"the answer of {url} broke off"
        case http.client.RemoteDisconnected():
            return f"{url} closed the connection without an answer; is it https:// instead?"
        case http.client.HTTPException():
            return f"what answers at {url} does not speak HTTP as it should; is that address a Verdict service?"
    return f"the connection to {url} broke: {_reason(error)}"


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None)
    return str(reason or str(error) or type(error).__name__)
