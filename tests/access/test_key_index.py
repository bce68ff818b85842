"""The fingerprints of keys in memory: complete at the start, and caught up before a key is refused."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.access import authenticator as room
from service.access import key_index
from service.access.admin import AccessAdmin
from service.access.api_keys import ApiKeyFormat
from service.access.factory import Access, open_admin
from service.access.key_index import KeyIndex
from service.access.secrets import Secrets
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import Database
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database


@pytest.fixture
async def index(db: Database) -> KeyIndex:
    return KeyIndex(db)


@pytest.fixture
async def elsewhere(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> AsyncIterator[AccessAdmin]:
    """Another process on the same store."""
    async with open_database(db.path, clock) as opened:
        yield open_admin(settings, secrets, opened, clock)


@pytest.mark.promise("auth.unknown-no-read")
async def test_a_key_of_another_process_is_known_as_soon_as_it_is_made_and_an_invented_one_never(
    index: KeyIndex, elsewhere: AccessAdmin, secrets: Secrets
) -> None:
    form = ApiKeyFormat("verdict_sk_", secrets.key_pepper)
    for _ in range(3):
        made = await elsewhere.create_key("test")
        assert await index.has(form.fingerprint(made.key))
        assert not await index.has(form.fingerprint(form.draw()))


@pytest.mark.parametrize("page", [1, 2, 3, 20_000])
@pytest.mark.parametrize("few", [0, 100])
async def test_every_key_is_known_whatever_number_is_read_at_once(
    index: KeyIndex, admin: AccessAdmin, secrets: Secrets, monkeypatch: pytest.MonkeyPatch, page: int, few: int
) -> None:
    monkeypatch.setattr(key_index, "_PAGE_ROWS", page)
    monkeypatch.setattr(key_index, "_MERGE_ABOVE", few)
    form = ApiKeyFormat("verdict_sk_", secrets.key_pepper)
    for count in (4, 2):
        made = [form.fingerprint((await admin.create_key("test")).key) for _ in range(count)]
        await index.catch_up()
        assert all([await index.has(fingerprint) for fingerprint in made])
    assert len(index._digests) == 6
    assert list(index._digests) == sorted(index._digests)


async def test_all_who_wait_share_a_read_that_began_after_they_came(
    index: KeyIndex, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0
    read, gate, began = db.read, asyncio.Event(), asyncio.Event()

    async def slowly(sql: str, parameters: Any = ()) -> Any:
        nonlocal reads
        reads += 1
        began.set()
        await gate.wait()
        return await read(sql, parameters)

    monkeypatch.setattr(db, "read", slowly)
    first = asyncio.create_task(index.catch_up())
    await began.wait()
    late = [asyncio.create_task(index.catch_up()) for _ in range(100)]
    for _ in range(10):
        await asyncio.sleep(0)  # each runs until it waits
    assert reads == 1
    gate.set()
    await asyncio.gather(first, *late)
    assert reads == 2


async def test_a_read_that_fails_is_told_to_who_waits_and_the_next_one_succeeds(
    index: KeyIndex, admin: AccessAdmin, secrets: Secrets, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "The store does not answer.")

    made = ApiKeyFormat("verdict_sk_", secrets.key_pepper).fingerprint((await admin.create_key("test")).key)
    with monkeypatch.context() as failing:
        failing.setattr(db, "read", fails)
        asked = [asyncio.create_task(index.has(made)) for _ in range(3)]
        assert [type(error) for error in await asyncio.gather(*asked, return_exceptions=True)] == [ServiceError] * 3
    assert await index.has(made)


async def test_a_caller_that_leaves_stops_nobody_elses_read(index: KeyIndex) -> None:
    leaving, staying = asyncio.create_task(index.catch_up()), asyncio.create_task(index.catch_up())
    await asyncio.sleep(0)
    leaving.cancel()
    await staying


async def test_a_read_that_was_cancelled_before_it_began_is_begun_again(index: KeyIndex) -> None:
    first = asyncio.create_task(index.catch_up())
    await asyncio.sleep(0)
    assert index._next is not None
    index._next.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await index.catch_up()


async def test_few_ended_credentials_are_remembered(
    access: Access, admin: AccessAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_MAX_ENDED", 2)
    for _ in range(4):
        key = (await admin.create_key("test")).key
        await admin.revoke_key(key[:19])
        with pytest.raises(ServiceError, match="revoked"):
            await access.authenticator.authenticate(key)
    assert len(access.authenticator._ended) == 2


async def test_a_key_that_had_expired_works_again_where_the_clock_was_set_back(
    access: Access, admin: AccessAdmin, clock: FakeClock
) -> None:
    key = await admin.create_key("test", expires_ms=clock.now_ms() + 1_000)
    clock.at_ms += 2_000
    with pytest.raises(ServiceError, match="expired"):
        await access.authenticator.authenticate(key.key)
    clock.at_ms -= 2_000
    assert (await access.authenticator.authenticate(key.key)).user_id == key.user_id
