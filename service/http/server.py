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

    Raises:
        SettingsError: If the certificate or its key cannot be used.
    """
    config = uvicorn.Config(
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
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"VERDICT_TLS_CERT and VERDICT_TLS_KEY take the paths of a PEM certificate and its key ({error.strerror})"
        ) from error
    return config


def server(app: App, settings: Settings) -> uvicorn.Server:
    """A server for one process, as `configure` says."""
    return uvicorn.Server(configure(app, settings))
