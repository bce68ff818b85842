"""Bad tokens of one client: they have limits of their own, and shut out neither a valid key nor a public page."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from service.access.api_keys import ApiKeyFormat
from service.errors import ServiceError
from tests.fakes.asgi import ask
from tests.http.stage import RISK, TIER, Stage, staged
from tests.http.test_browser import CHROMIUM, Site

MANIFEST = "/api/cli/manifest"
PEPPER = b"p" * 32


def unknown() -> str:
    """A well-formed key that nobody was given: the checksum is no secret."""
    return ApiKeyFormat("verdict_sk_", PEPPER).draw()


def malformed(number: int) -> str:
    return f"verdict_sk_{number:036}"


async def statuses(stage: Stage, tokens: list[str], **headers: str) -> Counter[int]:
    return Counter([(await ask(stage.app, TIER, key=token, headers=headers)).status for token in tokens])


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path, site=Site()) as opened:
        yield opened


@pytest.fixture
def reads(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every read of the store."""
    seen: list[str] = []
    read = stage.db.read

    async def noting(sql: str, parameters: Any = ()) -> Any:
        seen.append(sql)
        return await read(sql, parameters)

    monkeypatch.setattr(stage.db, "read", noting)
    return seen


@pytest.mark.slow
@pytest.mark.promise("auth.neighbour")
@pytest.mark.parametrize("kind", ["malformed", "unknown"])
@pytest.mark.parametrize("cached", [True, False])
async def test_420_bogus_keys_of_an_address_shut_out_neither_its_valid_keys_nor_public_pages(
    stage: Stage, kind: str, cached: bool
) -> None:
    key = await stage.key()
    if cached:
        assert await statuses(stage, [key]) == {200: 1}
    bogus = [unknown() if kind == "unknown" else malformed(number) for number in range(420)]
    refused = await statuses(stage, bogus)
    assert refused == ({401: 300, 429: 120} if kind == "unknown" else {401: 420})
    assert await statuses(stage, [key]) == {200: 1}
    assert (await ask(stage.app, RISK, key=key)).status == 200
    for path in (MANIFEST, "/robots.txt"):
        assert (await ask(stage.app, path)).status == 200
    assert (await ask(stage.app, "/coin/BTC", accept=CHROMIUM)).status == 200


@pytest.mark.promise("auth.neighbour")
async def test_a_refused_key_that_is_sent_too_often_is_429_with_retry_after_for_its_network_alone(
    tmp_path: Path,
) -> None:
    trusted = {"trusted_proxies": ("192.0.2.0/24",)}
    async with staged(tmp_path, rate_per_minute=60, rate_burst=5, **trusted) as stage:
        bad = malformed(1)
        assert await statuses(stage, [bad] * 8) == {401: 5, 429: 3}
        reply = await ask(stage.app, TIER, key=bad)
        assert (reply.code, reply.headers["retry-after"]) == ("RATE_LIMITED", "1")
        assert "token that is not valid" in reply.json["error"]["message"]
        assert await statuses(stage, [malformed(2), malformed(3)]) == {401: 2}
        assert await statuses(stage, [bad], **{"x-forwarded-for": "198.51.100.9"}) == {401: 1}
        await stage.clock.advance(1)
        assert await statuses(stage, [bad]) == {401: 1}


async def test_revoked_and_expired_keys_keep_their_reason_beside_a_flood_of_unknown_ones(tmp_path: Path) -> None:
    async with staged(tmp_path, rate_per_minute=60, rate_burst=5) as stage:
        key = await stage.key()
        await stage.admin.revoke_key(key[:19])
        assert await statuses(stage, [unknown() for _ in range(8)]) == {401: 5, 429: 3}
        reply = await ask(stage.app, TIER, key=key)
        assert (reply.status, reply.code) == (401, "AUTH_INVALID")
        assert "revoked" in reply.json["error"]["message"]


@pytest.mark.promise("auth.unknown-no-read", "keys.checksum-first")
async def test_a_flood_of_unknown_keys_costs_two_reads_of_the_store_and_malformed_ones_none(
    stage: Stage, reads: list[str]
) -> None:
    await asyncio.gather(*(ask(stage.app, TIER, key=unknown()) for _ in range(1_000)))
    assert len(reads) <= 2
    reads.clear()
    await statuses(stage, [malformed(number) for number in range(50)])
    assert reads == []


async def test_a_revoked_key_is_looked_up_once_and_then_refused_from_memory(stage: Stage, reads: list[str]) -> None:
    key = await stage.key()
    await stage.admin.revoke_key(key[:19])
    assert await statuses(stage, [key]) == {401: 1}
    reads.clear()
    assert await statuses(stage, [key] * 20) == {401: 20}
    assert reads == []


@pytest.mark.promise("auth.neighbour")
async def test_a_key_made_during_a_flood_of_unknown_keys_is_accepted_at_once(stage: Stage) -> None:
    flood = [asyncio.create_task(ask(stage.app, TIER, key=unknown())) for _ in range(500)]
    await asyncio.sleep(0)
    assert await statuses(stage, [await stage.key()]) == {200: 1}
    await asyncio.gather(*flood)


async def test_a_store_that_cannot_be_read_is_503_and_no_fault_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged(tmp_path, rate_per_minute=60, rate_burst=2) as stage:
        key = await stage.key()
        with monkeypatch.context() as failing:
            failing.setattr(stage.access.authenticator._index._db, "read", _fails)
            assert await statuses(stage, [key] * 5) == {503: 5}
        assert await statuses(stage, [key]) == {200: 1}


async def _fails(*_: object) -> None:
    raise ServiceError("UNAVAILABLE", "The store does not answer.", headers={"Retry-After": "5"})
