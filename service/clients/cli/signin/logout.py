"""`verdict logout`: end the session at the service, and keep it no longer."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Final

from service.clients.cli.refusal import DONE, UNAVAILABLE, UNREACHABLE, RefusalError
from service.clients.profile import credentials
from service.clients.profile.caller import url_of
from service.clients.profile.credentials import Credential
from service.clients.sdk.answer import RefusedError, UnreachableError
from service.clients.sdk.client import Client
from service.clients.signin.exchange import sign_out

_ENDED: Final = frozenset({401, 403})


def run(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Forget what is kept for the service's address; a session is ended there, too."""
    url = url_of(arguments, environment)
    kept = credentials.find(environment, url)
    # Forgotten whatever happens: who logs out means that nobody at this machine can go on.
    credentials.forget(environment, url)
    sys.stdout.write(f"{_end(url, kept)}\n")
    if environment.get("VERDICT_TOKEN"):
        sys.stderr.write("verdict: VERDICT_TOKEN is still set, and is used until you unset it\n")
    return DONE


def _end(url: str, kept: Credential | None) -> str:
    if kept is None:
        return f"Nobody was signed in to {url}."
    if kept.kind == "api_key":
        return f"The key for {url} is forgotten here. It still works: `verdict keys revoke` ends it."
    client = Client(url, kept.token)
    try:
        sign_out(client)
    except RefusedError as error:
        if error.status not in _ENDED:
            raise _left(kept, error.message, UNAVAILABLE) from None
    except UnreachableError as error:
        raise _left(kept, str(error), UNREACHABLE) from None
    finally:
        client.close()
    return f"Signed out of {url}."


def _left(kept: Credential, reason: str, code: int) -> RefusalError:
    until = f"until {kept.expires_at}" if kept.expires_at else "until it ends by itself"
    return RefusalError(f"the session is forgotten here, but the service still takes it {until}: {reason}", code)
