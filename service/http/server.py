"""How uvicorn is set up: our protocol, nothing it adds that we do not want, and a stop within the deadline."""

import uvicorn

from service.http.app import App
from service.http.protocol import VerdictProtocol
from service.settings import Settings


def server(app: App, settings: Settings) -> uvicorn.Server:
    """A server for one process; give its `serve` the sockets that were bound before.

    Args:
        app: The application.
        settings: TLS and how long a stop waits for open answers.
    """
    config = uvicorn.Config(
        app,
        http=VerdictProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=settings.drain_seconds,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )
    return uvicorn.Server(config)
