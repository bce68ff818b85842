"""`verdict doctor --client`: looks over the way from here to the service, and changes nothing."""

from __future__ import annotations

import json
import stat
import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple

from service import __version__
from service.clients.cli.account.finding import Check, lines
from service.clients.cli.figures import moment, span
from service.clients.cli.output import put
from service.clients.cli.refusal import DONE, FAILED, RefusalError
from service.clients.cli.shape import form
from service.clients.cli.terminal import screen
from service.clients.profile import config, credentials
from service.clients.profile.caller import token_of, url_of
from service.clients.profile.folders import state_dir
from service.clients.sdk.address import Address, read_address
from service.clients.sdk.answer import RefusedError, UnreachableError, UnreadableError, reading
from service.clients.sdk.client import Client
from service.clock import SECOND_MS, Clock, SystemClock, parse_iso

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MOST_APART_MS: Final = 30 * SECOND_MS
"""What the service forgives a session; a payment's window forgives little more."""

_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MANIFEST: Final = "/api/cli/manifest"
_TIER: Final = "/api/cli/billing/tier"


class _Told(NamedTuple):
    """What the manifest told, and when by both clocks, epoch milliseconds."""

    version: str
    there_ms: int
    before_ms: int
    after_ms: int


def check(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Look everything over."""
    checks = list(_checks(arguments, environment, SystemClock()))
    sound = not any(found.finding for found in checks)
    if form(arguments) == "json":
        document = {"ok": sound, "checks": [found._asdict() for found in checks]}
        put(json.dumps(document, ensure_ascii=False) + "\n")
    else:
        on = screen(environment, sys.stdout)
        sys.stdout.writelines(f"{line}\n" for found in checks for line in lines(found, on))
    return DONE if sound else FAILED


def _checks(arguments: Namespace, environment: Mapping[str, str], clock: Clock) -> Iterator[Check]:
    yield _configuration(environment)
    yield _privacy(environment)
    try:
        url = url_of(arguments, environment)
        token = token_of(environment, url)
    except RefusalError as error:
        yield Check("address", "not known", str(error), "set it right, and run this again")
        return
    yield _address(arguments, environment, read_address(url))
    client = Client(url, token)
    try:
        told = _ask(client, clock)
    except (UnreachableError, UnreadableError, RefusedError) as error:
        yield Check("service", "gives no manifest", str(error), "see that it runs, and that this is its address")
        return
    yield Check("service", _versions(told.version))
    yield _encryption(client, clock)
    yield _clock(told)
    yield _token(client, environment)


def _configuration(environment: Mapping[str, str]) -> Check:
    try:
        chosen = config.shown(config.read(environment))
    except RefusalError as error:
        return Check("configuration", "cannot be used", str(error), "mend the file, or delete it")
    return Check("configuration", ", ".join(chosen) + " chosen" if chosen else "nothing is chosen")


def _privacy(environment: Mapping[str, str]) -> Check:
    paths = [config.path(environment), state_dir(environment) / credentials.FILE]
    kept = [path for path in paths if path.exists()]
    exposed = [path for path in kept if _is_exposed(path)]
    if exposed:
        names = " ".join(map(str, exposed))
        return Check("files", "open to others", f"{names} can be read by others", f"run: chmod 600 {names}")
    return Check("files", "readable by their owner alone" if kept else "none is kept yet")


def _is_exposed(path: Path) -> bool:
    return bool(path.stat().st_mode & _FOR_OTHERS)


def _address(arguments: Namespace, environment: Mapping[str, str], address: Address) -> Check:
    source = "--url" if getattr(arguments, "url", None) else "VERDICT_URL" if environment.get("VERDICT_URL") else None
    said = f"{address}, by {source or ('the configuration' if config.read(environment).url else 'default')}"
    if address.secure or _is_here(address.host):
        return Check("address", said)
    return Check(
        "address", said, "what is sent there can be read on the way, the token too", "use https:// if it has that"
    )


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _ask(client: Client, clock: Clock) -> _Told:
    client.ask("GET", _MANIFEST)  # the second answer comes over a connection that is there: its time is the way's alone
    before_ms = clock.now_ms()
    answer = client.ask("GET", _MANIFEST)
    after_ms = clock.now_ms()
    with reading():
        return _Told(str(answer.data["version"]), _instant(answer.meta["ts"]), before_ms, after_ms)


def _instant(text: str) -> int:
    try:
        return parse_iso(text)
    except ValueError as error:
        raise TypeError(text) from error


def _versions(there: str) -> str:
    return f"version {there}, as here" if there == __version__ else f"version {there}, and {__version__} here"


def _encryption(client: Client, clock: Clock) -> Check:
    tls = client.tls
    if tls is None:
        return Check("encryption", "none")
    left_s = tls.ends_s - clock.now_ms() / SECOND_MS
    return Check("encryption", f"{tls.version}, by a certificate that is good for another {span(left_s)}")


def _clock(told: _Told) -> Check:
    # By when it was written there, somewhere between asking and hearing: as little apart as that allows.
    apart_ms = max(told.before_ms - told.there_ms, told.there_ms - told.after_ms, 0)
    if apart_ms <= MOST_APART_MS:
        return Check("clock", f"{apart_ms / SECOND_MS:.1f} s apart from the service's")
    side = "behind" if told.there_ms > told.after_ms else "ahead of"
    finding = f"the clock here is {span(apart_ms / SECOND_MS)} {side} the service's: what is signed here may be refused"
    return Check("clock", "apart from the service's", finding, "set the clock of this machine right, or the service's")


def _token(client: Client, environment: Mapping[str, str]) -> Check:
    source = "VERDICT_TOKEN" if environment.get("VERDICT_TOKEN", "").strip() else "the one that is kept"
    if client.token is None:
        return Check(
            "token", "none is kept for this address", "only what is public can be asked", "run `verdict login`"
        )
    try:
        answer = client.ask("GET", _TIER)
        with reading():
            tier, end = str(answer.data["tier"]), answer.data["expiresAt"]
    except RefusedError as error:
        return Check("token", f"{source} is refused", error.message, "run `verdict login`, or unset VERDICT_TOKEN")
    except (UnreachableError, UnreadableError) as error:
        return Check("token", f"{source} could not be tried", str(error), "run this again")
    return Check("token", f"{source} is good: plan {tier}" + (f" until {moment(end)}" if end else ""))
