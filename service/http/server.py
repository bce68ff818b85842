"""How uvicorn is set up: our protocol, nothing it adds that we do not want, and a stop within the deadline."""

import ssl

import uvicorn

from service.http.app import App
from service.http.protocol import VerdictProtocol
from service.settings import Settings, SettingsError

_BACKLOG = 2_048


def configure(app: App, settings: Settings) -> uvicorn.Config:
    """The configuration of one process's server; its `serve` takes the sockets that were bound before.

    Args:
        app: The application.
        settings: TLS and how long a stop waits for open answers.
    """
    return uvicorn.Config(
        app,
        http=VerdictProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `throttle` reads them, by the same rule for every hop
        backlog=_BACKLOG,
        timeout_graceful_shutdown=settings.drain_seconds,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )


def check_tls(settings: Settings) -> None:
    """Look at certificate and key before anything is started with them.

    Raises:
        SettingsError: If they cannot be used.
    """
    if settings.tls_cert is None or settings.tls_key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key)
    except OSError as error:
        raise SettingsError(
            "VERDICT_TLS_CERT and VERDICT_TLS_KEY take the paths of a PEM certificate and of its own key "
            f"({error.strerror or error})"
        ) from error
