"""Checks of `verdict admin doctor`: proxies, server, quarantine, refreshes and language model."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from service.admin.quarantine import read_quarantined
from service.ask.llm_writer import endpoint_of
from service.clock import Clock, iso
from service.market.plausibility.quarantine import WHOLE
from service.payments.networks import node_url
from service.proxies import proxy_for
from service.settings import UPSTREAMS, Secret, Settings, SettingsError
from service.storage.engine import Connection, DatabaseError, error_name
from service.storage.port import LEADER
from service.upstream.completions import ChatMessage, Completion, CompletionError, ModelEndpoint, open_completions
from service.upstream.failures import TITLES


class DoctorCheck(Struct, frozen=True):
    """Result of one check: findings (empty if there are none) and a remedy."""

    check: str
    said: str
    findings: list[str] = []
    remedy: str | None = None


def judge(check: str, said: str, findings: list[str], remedy: str) -> DoctorCheck:
    """Make a check; the remedy is included only if there are findings."""
    return DoctorCheck(check, said, findings, remedy if findings else None)


_PROXY: Final = "proxy"
_DIRECT: Final = "webhooks, transcript feeds and redirects to other hosts connect directly"


def check_proxies(settings: Settings) -> list[DoctorCheck]:
    """Say which proxy of the environment is used for which upstream; empty if none is."""
    users: dict[str, list[str]] = {}
    for name, url in _configured(settings):
        try:
            proxy = proxy_for(url)
        except SettingsError as error:
            return [DoctorCheck(_PROXY, "invalid setting", [str(error)], "correct the variable, or unset it")]
        if proxy is not None:
            users.setdefault(str(proxy), []).append(name)
    said = "; ".join(f"{proxy} for {', '.join(names)}" for proxy, names in users.items())
    return [DoctorCheck(_PROXY, f"{said}; {_DIRECT}")] if users else []


def _configured(settings: Settings) -> Iterator[tuple[str, str]]:
    """Name and URL of everything that the service asks and the operator configures."""
    if settings.source == "live":
        for name in UPSTREAMS:
            yield TITLES[name], settings.url_of(name)
        for place, url in enumerate(settings.wallets_rpc, 1):
            yield f"node {place}", url.text
    if settings.settlement == "remote" and settings.facilitator_url:
        yield "facilitator", settings.facilitator_url
    if settings.settlement != "ledger" or settings.rpc_url:
        yield "payment chain", node_url(settings)
    if settings.llm_url:
        yield "model", settings.llm_url


_QUARANTINE_REMEDY: Final = (
    "run `verdict admin doctor --upstreams`; values are accepted again by themselves once the upstream's answers are "
    "plausible, or once a second source confirms them"
)


def check_quarantine(connection: Connection) -> DoctorCheck:
    """List quarantined values. Quarantined whole answers are findings; single values are not."""
    held = read_quarantined(connection)
    if not held:
        return DoctorCheck("quarantine", "no value is quarantined")
    whole = [f"every answer of {value.source} is quarantined: {value.reason}" for value in held if value.coin == WHOLE]
    single = Counter(f"{value.coin} {value.field} ({value.reason})" for value in held if value.coin != WHOLE)
    shown = ", ".join(sorted(single)[:3])
    return judge(
        "quarantine", f"{len(single)} values are quarantined{': ' if shown else ''}{shown}", whole, _QUARANTINE_REMEDY
    )


_FAILED: Final = """
    SELECT 'prices and funding (Hyperliquid)', failed_ms, failed_status, failed_body
    FROM market_state WHERE failed_ms IS NOT NULL
    UNION ALL
    SELECT name, failed_ms, failed_status, failed_body FROM documents WHERE failed_ms IS NOT NULL
    UNION ALL
    SELECT 'feed ' || source, asked_ms, failed_status, failed_body FROM transcript_sources WHERE status = 'failing'
    ORDER BY 1
"""
_REFRESH_REMEDY: Final = "run `verdict admin doctor --upstreams`; it asks every upstream and says what to do about each"


def check_refreshes(connection: Connection) -> DoctorCheck:
    """Report every refresh whose last attempt failed."""
    found = [
        f"{what}: {body or 'no answer'}{'' if status is None else f' (status {status})'}, {iso(failed_ms)}"
        for what, failed_ms, status, body in connection.execute(_FAILED).fetchall()
    ]
    return judge(
        "refreshes", f"the last of {len(found)} failed" if found else "none has failed", found, _REFRESH_REMEDY
    )


_KEEPING: Final = frozenset({"on", "remote_apply"})
_PAGES: Final = "check its pages with pg_amcheck"
_MEND: Final = "correct VERDICT_STORE, or start the server"


def check_server(connection: Connection) -> list[DoctorCheck]:
    """Check a PostgreSQL server: version, durable commits, connected processes."""
    from service.storage.postgres.status import read_server_status  # noqa: PLC0415 - asyncpg, where it is used

    found = read_server_status(connection, LEADER)
    findings = [
        f"{name} is {value}: acknowledged writes may be lost"
        for name, value in found.keeps.items()
        if value not in _KEEPING
    ]
    if found.standby:
        findings.append("it is a read-only standby")
    said = f"{found.version}, {'not usable for the service' if findings else 'commits are durable'}"
    empty = [] if found.begun else ["no service has used it yet"]
    remedy = "start the service once, or name the database that it uses in VERDICT_STORE"
    return [
        judge("PostgreSQL", said, findings, "set all three to on, on the server that writes"),
        judge("database", f"reachable, {found.size / 2**20:.1f} MiB; {_PAGES}", empty, remedy),
        DoctorCheck("nodes", f"{_nodes(found.nodes)}; {_lead(found.leader)}"),
    ]


def unreachable(address: Secret, error: DatabaseError) -> DoctorCheck:  # type: ignore[valid-type]
    """Make the finding for a server that cannot be used, without its password."""
    from service.storage.postgres.errors import refusal  # noqa: PLC0415 - asyncpg, where it is used

    return DoctorCheck("database", "cannot be read", [str(refusal(address, error, error_name(error)))], _MEND)


def _nodes(places: list[str]) -> str:
    if not places:
        return "no process of the service is connected"
    said = "1 process is connected" if len(places) == 1 else f"{len(places)} processes are connected"
    return f"{said}, from {', '.join(dict.fromkeys(places))}"


def _lead(leader: str | None) -> str:
    return "no process is the leader" if leader is None else f"the leader is connected from {leader}"


_MODEL: Final = "model"
_QUESTION: Final = (ChatMessage("user", "Answer with the one word: ready"),)
_MODEL_REMEDY: Final = (
    "let VERDICT_LLM_URL name an OpenAI-compatible API (up to what stands before /chat/completions) that streams, "
    "VERDICT_LLM_MODEL a model it has, and VERDICT_LLM_KEY a key it takes; until then the rules write every answer"
)


def check_model(settings: Settings, clock: Clock) -> DoctorCheck:
    """Ask the configured model one short question, outside the daily budget."""
    endpoint = endpoint_of(settings)
    if endpoint is None:
        return DoctorCheck(_MODEL, "no model is configured; the rules write every answer")
    try:
        completion = asyncio.run(_ask(endpoint, clock))
    except CompletionError as error:
        return DoctorCheck(_MODEL, "it does not answer", [f"{endpoint.model}: {error}"], _MODEL_REMEDY)
    if not completion.text.strip():
        return DoctorCheck(_MODEL, "it does not answer", [f"{endpoint.model}: an empty answer"], _MODEL_REMEDY)
    usage = "reports its usage" if completion.tokens else "does not report its usage, so the maximum is counted"
    return DoctorCheck(_MODEL, f"{endpoint.model} answers and {usage}")


async def _ask(endpoint: ModelEndpoint, clock: Clock) -> Completion:
    async with open_completions(endpoint, clock) as completions:
        return await completions.complete(_QUESTION)
