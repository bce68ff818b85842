"""`verdict doctor`: checks configuration, connection and token. `verdict admin doctor` prints checks the same way."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

from service import __version__
from service.cli.environment import Environment, VerdictCommand, json_option, url_option
from service.cli.formatting import moment, span
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import Cell, Display, safe
from service.client import config, credentials
from service.client.address import Address, read_address
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError, reading
from service.client.caller import token_of, url_of
from service.client.connection import ApiConnection
from service.client.errors import DONE, FAILED, RefusalError
from service.client.files import state_dir
from service.clock import SECOND_MS, Clock, SystemClock, parse_iso
from service.proxies import is_loopback, proxy_for

MOST_APART_MS: Final = 30 * SECOND_MS
"""The leeway that the service grants a session. That of a payment is only a little longer."""

_INDENT: Final = " " * 9
_SHOWN: Final = 3
_NO_SERVICE: Final = (
    "Check that it runs, and that this is its address. On its own machine, `verdict admin doctor` checks its data "
    "folder."
)
_MANIFEST: Final = "/api/cli/manifest"
_TIER: Final = "/api/cli/billing/tier"


class DoctorCheck(NamedTuple):
    """Result of one check.

    Attributes:
        check: What was checked.
        said: What was seen, in a few words.
        findings: What is wrong, a sentence each; empty if nothing is.
        remedy: What to do about the findings, in sentences; None if there are none.
    """

    check: str
    said: str
    findings: Sequence[str] = ()
    remedy: str | None = None

    @property
    def is_finding(self) -> bool:
        """Whether something is wrong."""
        return bool(self.findings)

    def lines(self, screen: Display) -> Iterator[str]:
        """The check for people."""
        mark = Cell("FINDING", "bad") if self.is_finding else Cell("ok", "good")
        return check_lines(screen, mark, f"{self.check}: {self.said}", self.findings, self.remedy)


def check_lines(
    screen: Display, mark: Cell, head: str, notes: Sequence[str], remedy: str | None, *, break_words: bool = False
) -> Iterator[str]:
    """A mark of at most eight letters and a head, up to three notes below it, and what to do.

    A word that is longer than a line stays whole, so that it can be copied, unless `break_words` is set.
    """
    lines = [f"{mark.text:<9}{head}", *(f"{_INDENT}- {note}" for note in notes[:_SHOWN])]
    if len(notes) > _SHOWN:
        lines.append(f"{_INDENT}- and {len(notes) - _SHOWN} more (--json lists them)")
    if remedy:
        lines.append(f"{_INDENT}What to do: {remedy}")
    wrapper = textwrap.TextWrapper(
        screen.width, subsequent_indent=f"{_INDENT}  ", break_on_hyphens=False, break_long_words=break_words
    )
    first, *rest = (wrapped for line in lines for wrapped in wrapper.wrap(safe(line)))
    yield screen.paint(mark.style, mark.text) + first[len(mark.text) :]
    yield from rest


def is_exposed(path: Path) -> bool:
    """Whether other users may read or change a file."""
    return bool(path.stat().st_mode & 0o077)


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
    is_sound = not any(found.is_finding for found in checks)
    if environment.prints_json(as_json):
        rows = [
            {"check": check, "said": said, "finding": " ".join(findings) or None, "remedy": remedy}
            for check, said, findings, remedy in checks
        ]
        put_document({"ok": is_sound, "checks": rows})
    else:
        put_lines(line for found in checks for line in found.lines(environment.screen))
    return DONE if is_sound else FAILED


def _checks(typed: str | None, environment: Mapping[str, str], clock: Clock) -> Iterator[DoctorCheck]:
    yield _configuration(environment)
    yield _privacy(environment)
    try:
        url = url_of(typed, environment)
        token = token_of(environment, url)
    except RefusalError as error:
        yield DoctorCheck("address", "not known", [str(error)], "Correct it, and run this again.")
        return
    yield _address(typed, environment, read_address(url))
    client = ApiConnection(url, token)
    try:
        version, ahead_ms = _ask(client, clock)
    except (UnreachableError, UnreadableAnswerError, RefusedError) as error:
        yield DoctorCheck("service", "gives no manifest", [str(error)], _NO_SERVICE)
        return
    yield DoctorCheck("service", _versions(version))
    yield _encryption(client, clock)
    yield _clock(ahead_ms)
    yield _token(client, environment)


def _configuration(environment: Mapping[str, str]) -> DoctorCheck:
    try:
        chosen = config.shown(config.read(environment))
    except RefusalError as error:
        remedy = "Correct the file, or delete it."
        return DoctorCheck("configuration", "cannot be used", [str(error)], remedy)
    return DoctorCheck("configuration", ", ".join(chosen) + " chosen" if chosen else "nothing is chosen")


def _privacy(environment: Mapping[str, str]) -> DoctorCheck:
    paths = [config.path(environment), state_dir(environment) / credentials.FILE]
    kept = [path for path in paths if path.exists()]
    if names := " ".join(str(path) for path in kept if is_exposed(path)):
        found = [f"Other users can read {names}."]
        return DoctorCheck("files", "open to others", found, f"Run `chmod 600 {names}`.")
    return DoctorCheck("files", "readable by their owner alone" if kept else "none is stored yet")


def _address(typed: str | None, environment: Mapping[str, str], address: Address) -> DoctorCheck:
    source = "--url" if typed else "VERDICT_URL" if environment.get("VERDICT_URL") else None
    said = f"{address}, by {source or ('the configuration' if config.read(environment).url else 'default')}"
    try:
        proxy = proxy_for(str(address))
    except ValueError as error:
        return DoctorCheck("address", said, [str(error)], "Correct the variable, or unset it.")
    if proxy is not None:
        said += f", through the proxy {proxy}"
    if address.secure or is_loopback(address.host):
        return DoctorCheck("address", said)
    found = ["Others on the network can read what is sent there, the token included."]
    return DoctorCheck("address", said, found, "Use https:// if the service supports it.")


def _ask(client: ApiConnection, clock: Clock) -> tuple[str, int]:
    """The service's version, and by how much its clock is ahead of ours, milliseconds."""
    client.ask("GET", _MANIFEST)  # connects, so that the second call measures the network alone
    before_ms = clock.now_ms()
    answer = client.ask("GET", _MANIFEST)
    after_ms = clock.now_ms()
    with reading():
        try:
            there_ms = parse_iso(answer.meta["ts"])
        except ValueError as error:
            raise TypeError(answer.meta["ts"]) from error
        # The answer was written between the two instants: the smallest difference that allows.
        return str(answer.data["version"]), max(there_ms - after_ms, 0) + min(there_ms - before_ms, 0)


def _versions(there: str) -> str:
    return f"version {there}, as here" if there == __version__ else f"version {there}, and {__version__} here"


def _encryption(client: ApiConnection, clock: Clock) -> DoctorCheck:
    tls = client.tls
    if tls is None:
        return DoctorCheck("encryption", "none")
    left_s = tls.ends_s - clock.now_ms() / SECOND_MS
    return DoctorCheck("encryption", f"{tls.version}, with a certificate that is valid for another {span(left_s)}")


def _clock(ahead_ms: int) -> DoctorCheck:
    apart_s = abs(ahead_ms) / SECOND_MS
    if abs(ahead_ms) <= MOST_APART_MS:
        return DoctorCheck("clock", f"{apart_s:.1f} s apart from the service's")
    side = "behind" if ahead_ms > 0 else "ahead of"
    finding = f"The clock here is {span(apart_s)} {side} the service's, so it may refuse what is signed here."
    remedy = "Correct the clock of this machine, or the service's."
    return DoctorCheck("clock", "apart from the service's", [finding], remedy)


def _token(client: ApiConnection, environment: Mapping[str, str]) -> DoctorCheck:
    source = "VERDICT_TOKEN" if environment.get("VERDICT_TOKEN", "").strip() else "the stored one"
    if client.token is None:
        found = ["Only public routes answer."]
        return DoctorCheck("token", "none is stored for this address", found, "Run `verdict login`.")
    try:
        answer = client.ask("GET", _TIER)
        with reading():
            tier, end = str(answer.data["tier"]), answer.data["expiresAt"]
    except RefusedError as error:
        remedy = "Run `verdict login`, or unset VERDICT_TOKEN."
        return DoctorCheck("token", f"{source} is refused", [str(error)], remedy)
    except (UnreachableError, UnreadableAnswerError) as error:
        return DoctorCheck("token", f"{source} could not be tried", [str(error)], "Run this again.")
    return DoctorCheck("token", f"{source} is valid: tier {tier}" + (f" until {moment(end)}" if end else ""))
