"""`verdict doctor`: checks configuration, connection and token without changing anything."""

import stat
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import click

from service import __version__
from service.cli.environment import Environment, VerdictCommand, json_option, url_option
from service.cli.formatting import moment, span
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import Display, Style, safe
from service.client import config, credentials
from service.client.address import Address, read_address
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError, reading
from service.client.caller import token_of, url_of
from service.client.connection import ApiConnection
from service.client.errors import DONE, FAILED, RefusalError
from service.client.files import state_dir
from service.clock import SECOND_MS, Clock, SystemClock, parse_iso
from service.proxies import is_loopback, proxy_for

_INDENT = " " * 9


class CheckResult(NamedTuple):
    """One thing that was looked at.

    Attributes:
        check: What it is.
        said: What was found.
        finding: What is wrong with it; None where all is well.
        remedy: What to do about that.
    """

    check: str
    said: str
    finding: str | None = None
    remedy: str | None = None


def check_lines(found: CheckResult, on: Display) -> Iterator[str]:
    """What a person reads of it, as the operator's `doctor` writes it."""
    mark: str
    style: Style
    mark, style = ("FINDING", "bad") if found.finding else ("ok", "good")
    first, *rest = _wrap(f"{mark:<9}{found.check}: {found.said}", on)
    yield on.paint(style, mark) + first[len(mark) :]
    yield from rest
    if found.finding:
        yield from _wrap(f"{_INDENT}- {found.finding}", on)
        yield from _wrap(f"{_INDENT}What to do: {found.remedy}.", on)


def _wrap(line: str, on: Display) -> list[str]:
    return textwrap.wrap(
        safe(line), on.width, subsequent_indent=_INDENT + "  ", break_long_words=False, break_on_hyphens=False
    )


MOST_APART_MS: Final = 30 * SECOND_MS
"""What the service forgives a session; a payment's window forgives little more."""

_NO_SERVICE: Final = (
    "see that it runs, and that this is its address; on its own machine `verdict admin doctor` checks its data folder"
)
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MANIFEST: Final = "/api/cli/manifest"
_TIER: Final = "/api/cli/billing/tier"


class _ManifestTimes(NamedTuple):
    """Version of the service, and the time by both clocks, epoch milliseconds."""

    version: str
    there_ms: int
    before_ms: int
    after_ms: int


@click.command(
    "doctor",
    cls=VerdictCommand,
    example="verdict doctor",
    epilog="A data folder and its upstreams: `verdict admin doctor`.",
)
@json_option
@url_option
@click.pass_obj
def doctor(environment: Environment, url: str | None, *, as_json: bool) -> int:
    """Check the way from here to the service; exit code 1 on a finding."""
    checks = list(_checks(url, environment.variables, SystemClock()))
    is_sound = not any(found.finding for found in checks)
    if environment.prints_json(as_json):
        put_document({"ok": is_sound, "checks": [found._asdict() for found in checks]})
    else:
        put_lines(line for found in checks for line in check_lines(found, environment.screen))
    return DONE if is_sound else FAILED


def _checks(typed: str | None, environment: Mapping[str, str], clock: Clock) -> Iterator[CheckResult]:
    yield _configuration(environment)
    yield _privacy(environment)
    try:
        url = url_of(typed, environment)
        token = token_of(environment, url)
    except RefusalError as error:
        yield CheckResult("address", "not known", str(error), "set it right, and run this again")
        return
    yield _address(typed, environment, read_address(url))
    client = ApiConnection(url, token)
    try:
        times = _ask(client, clock)
    except (UnreachableError, UnreadableAnswerError, RefusedError) as error:
        yield CheckResult("service", "gives no manifest", str(error), _NO_SERVICE)
        return
    yield CheckResult("service", _versions(times.version))
    yield _encryption(client, clock)
    yield _clock(times)
    yield _token(client, environment)


def _configuration(environment: Mapping[str, str]) -> CheckResult:
    try:
        chosen = config.shown(config.read(environment))
    except RefusalError as error:
        return CheckResult("configuration", "cannot be used", str(error), "mend the file, or delete it")
    return CheckResult("configuration", ", ".join(chosen) + " chosen" if chosen else "nothing is chosen")


def _privacy(environment: Mapping[str, str]) -> CheckResult:
    paths = [config.path(environment), state_dir(environment) / credentials.FILE]
    kept = [path for path in paths if path.exists()]
    exposed = [path for path in kept if _is_exposed(path)]
    if exposed:
        names = " ".join(map(str, exposed))
        return CheckResult("files", "open to others", f"{names} can be read by others", f"run: chmod 600 {names}")
    return CheckResult("files", "readable by their owner alone" if kept else "none is kept yet")


def _is_exposed(path: Path) -> bool:
    return bool(path.stat().st_mode & _FOR_OTHERS)


def _address(typed: str | None, environment: Mapping[str, str], address: Address) -> CheckResult:
    source = "--url" if typed else "VERDICT_URL" if environment.get("VERDICT_URL") else None
    said = f"{address}, by {source or ('the configuration' if config.read(environment).url else 'default')}"
    try:
        proxy = proxy_for(str(address))
    except ValueError as error:
        return CheckResult("address", said, str(error), "correct the variable, or unset it")
    if proxy is not None:
        said += f", through the proxy {proxy}"
    if address.secure or is_loopback(address.host):
        return CheckResult("address", said)
    return CheckResult(
        "address", said, "what is sent there can be read on the way, the token too", "use https:// if it has that"
    )


def _ask(client: ApiConnection, clock: Clock) -> _ManifestTimes:
    client.ask("GET", _MANIFEST)  # the second answer comes over a connection that is there: its time is the way's alone
    before_ms = clock.now_ms()
    answer = client.ask("GET", _MANIFEST)
    after_ms = clock.now_ms()
    with reading():
        return _ManifestTimes(str(answer.data["version"]), _instant(answer.meta["ts"]), before_ms, after_ms)


def _instant(text: str) -> int:
    try:
        return parse_iso(text)
    except ValueError as error:
        raise TypeError(text) from error


def _versions(there: str) -> str:
    return f"version {there}, as here" if there == __version__ else f"version {there}, and {__version__} here"


def _encryption(client: ApiConnection, clock: Clock) -> CheckResult:
    tls = client.tls
    if tls is None:
        return CheckResult("encryption", "none")
    left_s = tls.ends_s - clock.now_ms() / SECOND_MS
    return CheckResult("encryption", f"{tls.version}, by a certificate that is good for another {span(left_s)}")


def _clock(times: _ManifestTimes) -> CheckResult:
    # By when it was written there, somewhere between asking and hearing: as little apart as that allows.
    apart_ms = max(times.before_ms - times.there_ms, times.there_ms - times.after_ms, 0)
    if apart_ms <= MOST_APART_MS:
        return CheckResult("clock", f"{apart_ms / SECOND_MS:.1f} s apart from the service's")
    side = "behind" if times.there_ms > times.after_ms else "ahead of"
    finding = f"the clock here is {span(apart_ms / SECOND_MS)} {side} the service's: what is signed here may be refused"
    return CheckResult(
        "clock", "apart from the service's", finding, "set the clock of this machine right, or the service's"
    )


def _token(client: ApiConnection, environment: Mapping[str, str]) -> CheckResult:
    source = "VERDICT_TOKEN" if environment.get("VERDICT_TOKEN", "").strip() else "the one that is kept"
    if client.token is None:
        return CheckResult(
            "token", "none is kept for this address", "only what is public can be asked", "run `verdict login`"
        )
    try:
        answer = client.ask("GET", _TIER)
        with reading():
            tier, end = str(answer.data["tier"]), answer.data["expiresAt"]
    except RefusedError as error:
        return CheckResult(
            "token", f"{source} is refused", error.message, "run `verdict login`, or unset VERDICT_TOKEN"
        )
    except (UnreachableError, UnreadableAnswerError) as error:
        return CheckResult("token", f"{source} could not be tried", str(error), "run this again")
    return CheckResult("token", f"{source} is good: plan {tier}" + (f" until {moment(end)}" if end else ""))
