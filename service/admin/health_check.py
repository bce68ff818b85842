"""`verdict admin doctor --health`: ask the service on this machine whether it is alive."""

import http.client
import ssl
from contextlib import closing
from typing import Final

from service.admin.folder import refusing
from service.admin.listener import bracketed, local, resolve
from service.cli.environment import Environment
from service.cli.output_format import put_document, put_lines
from service.client.errors import DONE, MISUSED, RefusalError
from service.settings import Settings

_LIVE: Final = "/healthz"
_TIMEOUT_S: Final = 4
"""For the connection, and for each read."""


def check_health(environment: Environment, *, as_json: bool) -> int:
    """Ask the address that the settings name for `/healthz`, once.

    Raises:
        RefusalError: If the settings name no port, or the service does not answer 200.
    """
    with refusing():
        settings = Settings.from_environ(environment.variables)
    if settings.port == 0:
        raise RefusalError(
            "VERDICT_PORT=0 takes any free port, so the service's port is not known: set VERDICT_PORT to it", MISUSED
        )
    tls = settings.tls_cert is not None
    try:
        host = local(resolve(settings.host, settings.port)[1][0])
        url = f"{'https' if tls else 'http'}://{bracketed(host)}:{settings.port}{_LIVE}"
    except (OSError, UnicodeError) as error:
        raise RefusalError(f"VERDICT_HOST={settings.host} is not a known host ({error})") from error
    try:
        status = _ask(host, settings.port, tls=tls)
    except (OSError, http.client.HTTPException) as error:
        raise RefusalError(
            f"{url} does not answer ({str(error) or type(error).__name__}): start the service, or read its log"
        ) from error
    if status != http.client.OK:
        raise RefusalError(f"{url} answers {status}, not 200: check what listens there")
    if as_json:
        put_document({"ok": True, "url": url})
    else:
        put_lines([f"{url} answers."])
    return DONE


def _ask(host: str, port: int, *, tls: bool) -> int:
    """The status of one answer. The certificate is not verified: it names the public host, not this address."""
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    if tls:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=context)
    with closing(connection):
        connection.request("GET", _LIVE)
        return connection.getresponse().status
