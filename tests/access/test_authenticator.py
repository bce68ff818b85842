import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from service.access import authenticator as room
from service.access.admin import AccessAdmin
from service.access.authenticator import Authenticator
from service.access.caller import Caller
from service.access.credentials import find_credential
from service.access.factory import Access, open_access
from service.access.secrets import Secrets
from service.access.sessions import LEEWAY_MS, SESSION_MS
from service.clock import MINUTE_MS, SECOND_MS
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import Database
from service.storage.writer import Answer
from service.wire.access import Session
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import START_MS, FakeClock
from tests.fakes.stores import open_database


@pytest.fixture
def authenticator(access: Access) -> Authenticator:
    return access.authenticator


@asynccontextmanager
async def watching(authenticator: Authenticator) -> AsyncIterator[None]:
    task = asyncio.create_task(authenticator.watch())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def later(clock: FakeClock, db: Database, seconds: float = 1.0) -> None:
    """Let time pass and what it started be done: the store's threads answer in the order they were asked."""
    await clock.advance(seconds)
    async with asyncio.timeout(10):
        await db.read("SELECT 1")
        await clock.settle()
        await db.write(lambda connection: connection.execute("SELECT 1").fetchone())
        await clock.settle()


async def refusal(authenticator: Authenticator, token: str) -> str:
    with pytest.raises(ServiceError) as caught:
        await authenticator.authenticate(token)
    assert (caught.value.status, caught.value.code) == (401, "AUTH_INVALID")
    assert caught.value.headers == {"WWW-Authenticate": "Bearer"}
    assert token not in caught.value.message
    return caught.value.message


async def sign_in(access: Access, number: int = 1) -> Session:
    return await access.accounts.login(login(wallet(number), access.accounts.nonce().nonce, START_MS), NETWORK)


class NeverRead:
    """A store that may not be touched."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the store was asked: {name}")


@pytest.mark.promise("auth.two-kinds", "tiers.kind")
async def test_a_key_is_admitted_once_and_recalled_afterwards(authenticator: Authenticator, admin: AccessAdmin) -> None:
    key = await admin.create_key("mine")
    assert authenticator.cached(key.key) is None
    caller = await authenticator.authenticate(key.key)
    assert caller == Caller(user_id=key.user_id, kind="api_key", credential_id=1)
    assert authenticator.cached(key.key) is caller


@pytest.mark.promise("tiers.kind", "auth.two-kinds")
async def test_a_session_is_admitted_with_its_wallet_and_end(access: Access) -> None:
    session = await sign_in(access)
    caller = await access.authenticator.authenticate(session.token)
    assert (caller.kind, caller.wallet) == ("session", wallet().address)
    assert caller.expires_ms == START_MS + SESSION_MS + LEEWAY_MS
    assert access.authenticator.cached(session.token) is caller


@pytest.mark.promise("keys.checksum-first", "auth.malformed-401")
async def test_what_is_malformed_is_refused_without_asking_the_store(
    access: Access, admin: AccessAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = (await admin.create_key("mine")).key
    session = (await sign_in(access)).token
    monkeypatch.setattr(access.authenticator, "_db", NeverRead())
    checksum = key[:-1] + ("0" if key[-1] != "0" else "1")
    assert "checksum" in await refusal(access.authenticator, checksum)
    assert "36 characters" in await refusal(access.authenticator, key + "A" * 65_536)
    assert "neither an API key (verdict_sk_…) nor a session" in await refusal(access.authenticator, "acme" + key)
    assert "neither" in await refusal(access.authenticator, "\ud800")
    assert "session token is malformed" in await refusal(access.authenticator, session + "A")
    assert "not signed" in await refusal(access.authenticator, session[:-1] + ("0" if session[-1] != "0" else "8"))
    assert access.authenticator.cached("\ud800") is None


@pytest.mark.promise("auth.unknown-401")
async def test_a_well_formed_key_nobody_was_given_is_unknown(access: Access, settings: Settings) -> None:
    stranger = access.authenticator._keys.draw()
    assert "not known" in await refusal(access.authenticator, stranger)
    assert access.authenticator.cached(stranger) is None


@pytest.mark.promise("auth.expired-401", "errors.auth-invalid-reason")
async def test_a_key_expires_to_the_millisecond_also_when_it_is_remembered(
    authenticator: Authenticator, admin: AccessAdmin, clock: FakeClock
) -> None:
    key = (await admin.create_key("mine", expires_ms=START_MS + 5_000)).key
    caller = await authenticator.authenticate(key)
    clock.at_ms = START_MS + 4_999
    assert authenticator.cached(key) is caller
    assert authenticator.is_valid(caller)
    clock.at_ms = START_MS + 5_000
    assert authenticator.cached(key) is None
    assert not authenticator.is_valid(caller)
    assert await refusal(authenticator, key) == "The API key expired at 2025-07-25T12:00:05.000Z."


@pytest.mark.promise("auth.expired-401", "sessions.30-days", "sessions.leeway")
async def test_a_session_expires_after_thirty_days_and_the_leeway(access: Access, clock: FakeClock) -> None:
    token = (await sign_in(access)).token
    clock.at_ms = START_MS + SESSION_MS + LEEWAY_MS - 1
    assert (await access.authenticator.authenticate(token)).kind == "session"
    clock.at_ms += 1
    assert access.authenticator.cached(token) is None
    assert "session expired" in await refusal(access.authenticator, token)


async def test_a_session_shortened_in_the_store_ends_there(access: Access, db: Database, clock: FakeClock) -> None:
    token = (await sign_in(access)).token
    await db.write(lambda connection: connection.execute("UPDATE credentials SET expires_ms = ?", (START_MS,)).rowcount)
    clock.at_ms = START_MS + LEEWAY_MS
    assert "session expired" in await refusal(access.authenticator, token)


@pytest.mark.promise("auth.tier-resolved")
async def test_a_tier_ends_with_its_grant_also_when_it_is_remembered(
    authenticator: Authenticator, admin: AccessAdmin, clock: FakeClock
) -> None:
    key = await admin.create_key("mine")
    await admin.add_grant(key.user_id, "access")
    await admin.add_grant(key.user_id, "pro", START_MS + 5_000)
    first = await authenticator.authenticate(key.key)
    assert (first.tier, first.source, first.entitlement_ends_ms) == ("pro", "grant", START_MS + 5_000)
    clock.at_ms = START_MS + 5_000
    assert authenticator.cached(key.key) is None
    assert (await authenticator.authenticate(key.key)).tier == "access"


@pytest.mark.promise("revocation.several", "auth.revoked-401")
async def test_a_revocation_by_another_process_is_known_within_a_second(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, clock: FakeClock
) -> None:
    mine, other = await admin.create_key("mine"), await admin.create_key("other")
    caller, bystander = await authenticator.authenticate(mine.key), await authenticator.authenticate(other.key)
    async with watching(authenticator):
        await clock.settle()
        await admin.revoke_key(mine.prefix)
        await later(clock, db)
        assert authenticator.cached(mine.key) is None
        assert not authenticator.is_valid(caller)
        assert authenticator.cached(other.key) is bystander
        assert authenticator.is_valid(bystander)
    assert await refusal(authenticator, mine.key) == "The API key was revoked at 2025-07-25T12:00:00.000Z."


async def test_setting_the_clock_back_revives_nothing(
    authenticator: Authenticator, admin: AccessAdmin, clock: FakeClock
) -> None:
    key = await admin.create_key("mine")
    caller = await authenticator.authenticate(key.key)
    await admin.revoke_key(key.prefix)
    await authenticator.catch_up()
    clock.set_wall(0)
    assert authenticator.cached(key.key) is None
    assert not authenticator.is_valid(caller)
    assert "revoked" in await refusal(authenticator, key.key)


async def test_a_grant_by_another_process_is_known_within_a_second_and_ends_no_stream(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, clock: FakeClock
) -> None:
    key = await admin.create_key("mine")
    caller = await authenticator.authenticate(key.key)
    async with watching(authenticator):
        await clock.settle()
        await admin.add_grant(key.user_id, "pro")
        await later(clock, db)
    assert authenticator.cached(key.key) is None
    assert authenticator.is_valid(caller)
    assert (await authenticator.authenticate(key.key)).tier == "pro"


async def test_a_token_revoked_while_it_was_being_read_is_not_remembered(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await admin.create_key("mine")
    read = db.read

    async def slow_read(sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        rows = await read(sql, parameters)
        if "c.fingerprint" in sql:
            await admin.revoke_key(key.prefix)
            await authenticator.catch_up()
        return rows

    monkeypatch.setattr(db, "read", slow_read)
    caller = await authenticator.authenticate(key.key)
    assert authenticator.cached(key.key) is None
    assert not authenticator.is_valid(caller)


async def test_two_processes_on_one_file_follow_each_other(
    settings: Settings, secrets: Secrets, db: Database, access: Access, clock: FakeClock
) -> None:
    async with open_database(db.path, clock) as second_db:
        second = await open_access(settings, secrets, second_db, clock)
        session = await sign_in(access)
        caller = await second.authenticator.authenticate(session.token)
        async with watching(second.authenticator):
            await clock.settle()
            await access.accounts.logout(await access.authenticator.authenticate(session.token))
            assert access.authenticator.cached(session.token) is None
            assert second.authenticator.cached(session.token) is caller
            await later(clock, second_db)
            assert second.authenticator.cached(session.token) is None
            assert not second.authenticator.is_valid(caller)


async def test_an_authenticator_that_starts_later_reads_no_old_changes(
    settings: Settings, secrets: Secrets, db: Database, admin: AccessAdmin, clock: FakeClock
) -> None:
    for _ in range(3):
        await admin.revoke_key((await admin.create_key("old")).prefix)
    late = (await open_access(settings, secrets, db, clock)).authenticator
    await late.catch_up()
    assert late._endings == {}


async def test_forgetting_asks_anew(authenticator: Authenticator, admin: AccessAdmin) -> None:
    key = (await admin.create_key("mine")).key
    caller = await authenticator.authenticate(key)
    authenticator.clear_cache()
    assert authenticator.cached(key) is None
    assert authenticator.is_valid(caller)
    assert await authenticator.authenticate(key) == caller
    assert len(authenticator._tokens_of) == len(authenticator._known) == 1


async def last_used(db: Database) -> list[int | None]:
    return [row[0] for row in await db.read("SELECT last_used_ms FROM credentials ORDER BY id")]


async def test_the_last_use_is_noted_soon_and_then_once_a_minute(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, clock: FakeClock
) -> None:
    key = (await admin.create_key("mine")).key
    async with watching(authenticator):
        await clock.settle()
        await authenticator.authenticate(key)
        for _ in range(9):
            await later(clock, db)
        assert await last_used(db) == [None]
        await later(clock, db)
        assert await last_used(db) == [START_MS]
        authenticator.cached(key)
        for _ in range(49):
            await later(clock, db)
        assert await last_used(db) == [START_MS]
        clock.at_ms = START_MS + MINUTE_MS
        authenticator.cached(key)
        for _ in range(10):
            await later(clock, db)
        assert await last_used(db) == [START_MS + MINUTE_MS]


async def test_the_last_use_of_a_revoked_key_is_not_lost(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, clock: FakeClock
) -> None:
    key = await admin.create_key("mine")
    await authenticator.authenticate(key.key)
    clock.at_ms += 7
    authenticator.cached(key.key)
    await admin.revoke_key(key.prefix)
    await authenticator.catch_up()
    authenticator.record_use()
    await db.write(lambda connection: connection.total_changes)
    assert await last_used(db) == [START_MS + 7]


async def test_before_the_store_closes_every_use_is_noted_however_recent(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, clock: FakeClock
) -> None:
    keys = [(await admin.create_key("mine")).key for _ in range(3)]
    for key in keys[:2]:
        await authenticator.authenticate(key)
    authenticator.record_use()
    clock.at_ms += 7
    authenticator.cached(keys[1])
    authenticator.record_use()
    authenticator.record_use(least_ms=1)
    await db.write(lambda connection: connection.total_changes)
    assert await last_used(db) == [START_MS, START_MS + 7, None]


async def test_the_last_use_never_goes_back(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, clock: FakeClock
) -> None:
    key = (await admin.create_key("mine")).key
    await authenticator.authenticate(key)
    authenticator.record_use()
    await db.write(lambda connection: connection.total_changes)
    clock.set_wall(START_MS - MINUTE_MS)
    await authenticator.authenticate(key)
    authenticator._unnoted[1] = START_MS - MINUTE_MS
    authenticator.record_use()
    await db.write(lambda connection: connection.total_changes)
    assert await last_used(db) == [START_MS]


async def test_a_key_used_by_two_tokens_of_one_user_is_dropped_one_by_one(
    authenticator: Authenticator, admin: AccessAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_CACHED", 2)
    first = await admin.create_key("first")
    keys = [first.key, *[(await admin.create_key("more", user_id=first.user_id)).key for _ in range(3)]]
    for key in keys:
        await authenticator.authenticate(key)
    assert [authenticator.cached(key) is not None for key in keys] == [False, False, True, True]
    assert len(authenticator._tokens_of[first.user_id]) == 2
    for _ in range(2):
        await authenticator.authenticate((await admin.create_key("another's")).key)
    assert first.user_id not in authenticator._tokens_of


async def test_endings_are_remembered_within_bounds(
    authenticator: Authenticator, admin: AccessAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_CACHED", 2)
    for _ in range(4):
        await admin.revoke_key((await admin.create_key("old")).prefix)
    await authenticator.catch_up()
    assert list(authenticator._endings) == [3, 4]


async def test_a_store_that_does_not_answer_means_that_nobody_is_remembered(
    authenticator: Authenticator,
    admin: AccessAdmin,
    db: Database,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    key = (await admin.create_key("mine")).key
    await authenticator.authenticate(key)

    async def fail(*_: object) -> Any:
        raise ServiceError("UNAVAILABLE", "The store is away.")

    def fail_later(_: object, answer: Answer) -> None:
        asyncio.get_running_loop().call_soon(answer, None, ServiceError("UNAVAILABLE", "The store is away."))

    async with watching(authenticator):
        await clock.settle()
        with monkeypatch.context() as broken:
            broken.setattr(db, "read", fail)
            broken.setattr(db, "submit", fail_later)
            await clock.advance(10 * SECOND_MS / 1_000)
            await clock.settle()
            assert authenticator.cached(key) is None
            with pytest.raises(ServiceError, match="away"):
                await authenticator.authenticate(key)
        assert "Every token is checked again" in caplog.text
        assert all("The store is away." in vars(each)["reason"] for each in caplog.records)
        assert "last use of credentials could not be stored" in caplog.text
        assert key not in caplog.text
        caller = await authenticator.authenticate(key)
        await later(clock, db)
        assert authenticator.cached(key) is caller


async def test_a_hundred_calls_at_once_with_a_key_that_is_not_known_yet_read_it_once(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await admin.create_key("mine")
    read, readings = db.read, []

    async def counting(sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        readings.append(sql)
        return await read(sql, parameters)

    monkeypatch.setattr(db, "read", counting)
    callers = await asyncio.gather(*(authenticator.authenticate(key.key) for _ in range(100)))
    assert len({caller.credential_id for caller in callers}) == 1
    assert len(readings) == 2  # which keys were added, and this one


async def test_who_comes_after_a_revocation_does_not_share_a_reading_that_began_before_it(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await admin.create_key("mine")
    await authenticator._index.catch_up()
    read, has_read, goes_on = db.read, asyncio.Event(), asyncio.Event()

    async def slow_read(sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        rows = await read(sql, parameters)
        if "c.fingerprint" in sql and not goes_on.is_set():
            has_read.set()
            await goes_on.wait()
        return rows

    monkeypatch.setattr(db, "read", slow_read)
    early = asyncio.create_task(authenticator.authenticate(key.key))
    await has_read.wait()
    await admin.revoke_key(key.prefix)
    await authenticator.catch_up()
    late = asyncio.create_task(authenticator.authenticate(key.key))
    await asyncio.sleep(0)
    goes_on.set()
    assert (await early).credential_id
    with pytest.raises(ServiceError, match="revoked"):
        await late


async def test_a_reading_that_fails_when_nobody_waits_for_it_any_more_bothers_nobody(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await admin.create_key("mine")
    await authenticator._index.catch_up()
    fails = asyncio.Event()

    async def failing(_: str, __: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        await fails.wait()
        raise ServiceError("UNAVAILABLE", "it is gone")

    monkeypatch.setattr(db, "read", failing)
    waiting = asyncio.create_task(authenticator.authenticate(key.key))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    fails.set()
    for _ in range(5):
        await asyncio.sleep(0)
    monkeypatch.undo()
    assert (await authenticator.authenticate(key.key)).credential_id


async def test_a_reading_that_is_cancelled_is_forgotten(
    authenticator: Authenticator, admin: AccessAdmin, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await admin.create_key("mine")
    await authenticator._index.catch_up()
    here = asyncio.all_tasks()

    async def hanging(_: str, __: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return await asyncio.Future()

    with monkeypatch.context() as patched:
        patched.setattr(db, "read", hanging)
        waiting = asyncio.create_task(authenticator.authenticate(key.key))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (reading,) = asyncio.all_tasks() - here - {waiting}
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert (await authenticator.authenticate(key.key)).credential_id


async def test_a_key_of_the_index_and_a_session_are_authenticated_without_a_task(
    authenticator: Authenticator, access: Access, admin: AccessAdmin
) -> None:
    key, session = (await admin.create_key("mine")).key, (await sign_in(access)).token
    assert authenticator.authenticate_now(key) is None  # another process made it: the index has not read it yet
    await authenticator._index.catch_up()
    for token in (key, session):
        caller = authenticator.authenticate_now(token)
        assert caller is not None
        assert authenticator.cached(token) is caller
        assert await authenticator.authenticate(token) == caller


async def test_a_refused_token_is_left_to_the_full_check_and_an_ended_key_is_read_once(
    authenticator: Authenticator, access: Access, admin: AccessAdmin, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, session = await admin.create_key("mine"), (await sign_in(access)).token
    await admin.revoke_key(key.prefix)
    await authenticator._index.catch_up()
    assert authenticator.authenticate_now("nonsense") is None
    assert authenticator.authenticate_now(key.key) is None
    monkeypatch.setattr(db, "read_now", lambda *_: [])
    assert authenticator.authenticate_now(session) is None
    monkeypatch.setattr(authenticator, "_db", NeverRead())
    assert authenticator.authenticate_now(key.key) is None
    assert "was revoked" in await refusal(authenticator, key.key)


async def test_a_store_that_cannot_be_read_at_once_is_asked_again_in_the_full_check(
    authenticator: Authenticator, access: Access, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "busy")

    session = (await sign_in(access)).token
    monkeypatch.setattr(db, "read_now", fail)
    assert authenticator.authenticate_now(session) is None
    assert (await authenticator.authenticate(session)).kind == "session"


async def test_a_credential_that_the_store_does_not_have_is_not_found(db: Database) -> None:
    assert await find_credential(db, bytes(32)) is None
