"""`verdict admin doctor --upstreams`: ask every upstream once, and say which does not serve, why, and what to do."""

import asyncio
import logging
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct

from service.admin.doctor_checks import DoctorCheck, check_model, check_proxies
from service.admin.folder import refusing
from service.admin.probes import Probe, ProbeResult, open_probes, remedy_for
from service.admin.settlement import check_settlement
from service.cli.environment import Environment
from service.cli.output_format import put_document, put_lines
from service.cli.terminal import cut, safe
from service.client.errors import DONE, FAILED
from service.clock import MINUTE_MS, SECOND_MS, Clock
from service.feeds.dates import parse_http_date
from service.settings import Settings
from service.upstream.failures import UpstreamError
from service.upstream.session import Head
from service.wiring.clocks import choose_clock

DEADLINE_S: Final = 20.0
"""Seconds for one row; rows are asked side by side, so it holds for all of them."""

CLOCK_WARN_MS: Final = 5 * SECOND_MS
CLOCK_FAIL_MS: Final = MINUTE_MS
"""From here on prices are dated wrongly: no observation may lie in the future."""

_LIMITS: Final = ("retry-after", "ratelimit", "x-ratelimit", "x-mbx-used-weight")
_MOST_LIMITS: Final = 3
_WIDTH: Final = 80
_COLUMNS: Final = (4, 36, 7, 8)
_INDENT: Final = " " * 6
_SET_CLOCK: Final = "Set this machine's clock by NTP (`timedatectl set-ntp true`)."


class EndpointResult(Struct, frozen=True, kw_only=True):
    """One endpoint, asked once.

    Attributes:
        endpoint: Upstream and what was asked.
        state: `ok`, `warn` (nothing that a route needs is missing) or `fail`.
        said: What was answered, or why there was no answer.
        stage: Where it failed: `dns`, `connect`, `tls`, `http`, `decode`, `clock`; null where it did not.
        status: HTTP status; null where there was none, or where the protocol has none.
        took_ms: Milliseconds until the answer was decoded, waiting for the weight budget included.
        clock_ms: The upstream's clock less ours, milliseconds, to a second; null where it sent no `Date`.
        limits: Headers about rate limits and weights, as they came.
        remedy: What to do; null where nothing has to be done.
    """

    endpoint: str
    state: Literal["ok", "warn", "fail"]
    said: str
    stage: str | None = None
    status: int | None = None
    took_ms: int | None = None
    clock_ms: int | None = None
    limits: Mapping[str, str] = {}
    remedy: str | None = None


def check_upstreams(environment: Environment, *, as_json: bool) -> int:
    """Ask every upstream that the configured service would use. Nothing is stored and no payment is made."""
    with refusing():
        settings = Settings.from_environ(environment.variables)
        logging.disable()  # every failure is a row
        try:
            rows = asyncio.run(_ask_all(settings, choose_clock(settings)))
        finally:
            logging.disable(logging.NOTSET)
    failed = any(row.state == "fail" for row in rows)
    if as_json:
        put_document({"ok": not failed, "upstreams": msgspec.to_builtins(rows)})
    else:
        put_lines(_lines(rows))
    return FAILED if failed else DONE


async def _ask_all(settings: Settings, clock: Clock) -> list[EndpointResult]:
    async with open_probes(settings, clock) as probes:
        outcomes, others = await asyncio.gather(
            asyncio.gather(*(_ask(probe, clock) for probe in probes)), _ask_others(settings, clock)
        )
    served = {probe.group for probe, row in zip(probes, outcomes, strict=True) if row.state == "ok"}
    spared = [
        msgspec.structs.replace(row, state="warn")
        if row.state == "fail" and row.stage != "clock" and (probe.group is None or probe.group in served)
        else row
        for probe, row in zip(probes, outcomes, strict=True)
    ]
    return [*map(_row, check_proxies(settings)), *spared, *others]


async def _ask(probe: Probe, clock: Clock) -> EndpointResult:
    """Ask one endpoint; a failure is a row, not an exception."""
    began_s = clock.monotonic()
    outcome: ProbeResult | UpstreamError
    try:
        async with asyncio.timeout(DEADLINE_S):
            outcome = await probe.ask()
    except UpstreamError as error:
        outcome = error
    except TimeoutError:
        outcome = UpstreamError(probe.upstream, None, f"no answer within {DEADLINE_S:g} s".encode(), stage="connect")
    head = None if probe.session is None else probe.session.last
    row = _failed(probe, outcome) if isinstance(outcome, UpstreamError) else _answered(probe, outcome, head)
    return msgspec.structs.replace(
        row,
        took_ms=round((clock.monotonic() - began_s) * SECOND_MS),
        clock_ms=None if head is None else _clock_difference(head),
        limits={} if head is None else _limits(head),
    )


def _failed(probe: Probe, error: UpstreamError) -> EndpointResult:
    remedy = remedy_for(error, probe)
    status = error.upstream_status
    return EndpointResult(
        endpoint=probe.endpoint, state="fail", said=_said(error), stage=error.stage, status=status, remedy=remedy
    )


def _answered(probe: Probe, answer: ProbeResult, head: Head | None) -> EndpointResult:
    status = None if head is None else head.status
    off_ms = abs(0 if head is None else _clock_difference(head) or 0)
    if off_ms > CLOCK_WARN_MS:
        state: Literal["warn", "fail"] = "fail" if off_ms > CLOCK_FAIL_MS else "warn"
        said = f"{answer.said}; its clock and this machine's differ"
        return EndpointResult(
            endpoint=probe.endpoint, state=state, said=said, stage="clock", status=status, remedy=_SET_CLOCK
        )
    if answer.warning is not None:
        said = f"{answer.said}; {answer.warning}"
        return EndpointResult(endpoint=probe.endpoint, state="warn", said=said, status=status, remedy=answer.remedy)
    return EndpointResult(endpoint=probe.endpoint, state="ok", said=answer.said, status=status)


async def _ask_others(settings: Settings, clock: Clock) -> list[EndpointResult]:
    """Facilitator, payment chain and language model, where they are configured."""
    checks = []
    if settings.settlement != "ledger":
        checks.append(asyncio.to_thread(check_settlement, settings, clock))
    if settings.llm_url:
        checks.append(asyncio.to_thread(check_model, settings, clock))
    return [_row(found) for found in await asyncio.gather(*checks)]


def _row(found: DoctorCheck) -> EndpointResult:
    said = "; ".join([found.said, *found.findings])
    return EndpointResult(
        endpoint=found.check, state="fail" if found.findings else "ok", said=said, remedy=found.remedy
    )


def _said(error: UpstreamError) -> str:
    if error.upstream_status is None:
        return error.body
    if error.stage == "decode":
        return f"{error.upstream_status}, not the expected format: {error.body[:80]}"
    return f"{error.upstream_status}: {error.body[:120]}"


def _clock_difference(head: Head) -> int | None:
    """The upstream's clock less ours; a `Date` is the second that it was written in, so up to a second is none."""
    date_ms = parse_http_date(head.headers.get("Date", ""))
    if date_ms is None:
        return None
    return min(0, date_ms + SECOND_MS - head.at_ms) or max(0, date_ms - head.at_ms)


def _limits(head: Head) -> dict[str, str]:
    found = [(name.lower(), value[:40]) for name, value in head.headers.items() if name.lower().startswith(_LIMITS)]
    return dict(sorted(found)[:_MOST_LIMITS])


def _lines(rows: Sequence[EndpointResult]) -> Iterator[str]:
    yield from _row_lines(("", "ENDPOINT", "TIME", "CLOCK"), "ANSWER")
    for row in rows:
        took = "" if row.took_ms is None else f"{row.took_ms / SECOND_MS:.2f} s"
        clock = "" if row.clock_ms is None else f"{round(row.clock_ms / SECOND_MS) or 0:+d} s".replace("+0", "0")
        state = row.state.upper() if row.state != "ok" else "ok"
        yield from _row_lines((state, row.endpoint, took, clock), row.said)
        if row.limits:
            yield from _note(", ".join(f"{name}: {value}" for name, value in row.limits.items()))
        if row.remedy:
            yield from _note(f"→ {row.remedy}")
    failed, warned = (sum(row.state == state for row in rows) for state in ("fail", "warn"))
    yield f"{len(rows)} endpoints: {len(rows) - failed - warned} ok, {warned} warnings, {failed} failed."


def _row_lines(values: Sequence[str], said: str) -> list[str]:
    """A row of the table; an answer that is too long for its column stands below."""
    start = " ".join(cut(value, width).ljust(width) for value, width in zip(values, _COLUMNS, strict=True)) + " "
    first, *more = textwrap.wrap(safe(said), _WIDTH - len(start)) or [""]
    if len(more) > 1:
        return [start.rstrip(), *_note(safe(said))]
    return [line.rstrip() for line in (start + first, *(" " * len(start) + rest for rest in more))]


def _note(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
