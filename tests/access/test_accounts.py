import asyncio
from collections.abc import Callable

import msgspec
import pytest

from service.access import api_keys
from service.access.accounts import AccountService
from service.access.admin import AccessAdmin
from service.access.api_keys import ApiKeyFormat
from service.access.authenticator import Authenticator
from service.access.caller import Caller
from service.access.factory import Access
from service.clock import SECOND_MS, iso
from service.errors import ServiceError
from service.storage.database import Database
from service.wire.access import CreatedKey, Ended, Login, NewKey, RotateKey, Session
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import START_MS, FakeClock

pytestmark = pytest.mark.slow

NOW = "2025-07-25T12:00:00.000Z"


@pytest.fixture
def desk(access: Access) -> AccountService:
    return access.accounts


@pytest.fixture
def authenticator(access: Access) -> Authenticator:
    return access.authenticator


def signed(desk: AccountService, number: int = 1, at_ms: int = START_MS) -> Login:
    return login(wallet(number), desk.nonce().nonce, at_ms)


async def caller_of(access: Access, number: int = 1) -> Caller:
    session = await access.accounts.login(signed(access.accounts, number), NETWORK)
    return await access.authenticator.authenticate(session.token)


async def works(authenticator: Authenticator, token: str) -> bool:
    if authenticator.cached(token):
        return True
    try:
        await authenticator.authenticate(token)
    except ServiceError:
        return False
    return True


async def test_a_nonce_lasts_five_minutes_and_asking_stores_nothing(desk: AccountService, db: Database) -> None:
    asked = desk.nonce()
    assert asked.expires_at == "2025-07-25T12:05:00.000Z"
    assert await db.read("SELECT * FROM spent_nonces") == []


@pytest.mark.promise("signin.login", "sessions.30-days")
async def test_a_login_gives_a_session_of_thirty_days(desk: AccountService, authenticator: Authenticator) -> None:
    session = await desk.login(signed(desk), NETWORK)
    assert session == Session(session.token, wallet().address, "2025-08-24T12:00:00.000Z")
    assert (await authenticator.authenticate(session.token)).wallet == wallet().address


async def test_a_wallet_stays_the_same_user_and_another_is_another(access: Access) -> None:
    first, again, other = await caller_of(access), await caller_of(access), await caller_of(access, 2)
    assert first.user_id == again.user_id != other.user_id
    assert first.credential_id != again.credential_id


@pytest.mark.promise("signin.nonce-once")
async def test_a_nonce_used_twice_is_refused(desk: AccountService) -> None:
    asked = signed(desk)
    await desk.login(asked, NETWORK)
    with pytest.raises(ServiceError, match="used already") as caught:
        await desk.login(asked, NETWORK)
    assert caught.value.code == "AUTH_INVALID"


async def test_of_twenty_logins_at_once_with_one_nonce_one_succeeds(desk: AccountService, db: Database) -> None:
    asked = signed(desk)
    async with asyncio.timeout(20):
        outcomes = await asyncio.gather(*(desk.login(asked, NETWORK) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(outcome, Session) for outcome in outcomes) == 1
    assert await db.read("SELECT count(*) FROM credentials") == [(1,)]


async def test_a_refused_login_makes_no_user(desk: AccountService, db: Database) -> None:
    asked = signed(desk)
    with pytest.raises(ServiceError):
        await desk.login(Login(asked.message, "0x" + "00" * 65), NETWORK)
    assert await db.read("SELECT count(*) FROM users") == [(0,)]
    await desk.login(asked, NETWORK)


@pytest.mark.promise("signin.logout", "sessions.revocable")
async def test_logging_out_ends_this_session_at_once_and_no_other(access: Access) -> None:
    tokens = [(await access.accounts.login(signed(access.accounts), NETWORK)).token for _ in range(2)]
    caller, other = [await access.authenticator.authenticate(token) for token in tokens]
    assert await access.accounts.logout(caller) == Ended()
    assert not access.authenticator.is_valid(caller)
    assert access.authenticator.is_valid(other)
    assert [await works(access.authenticator, token) for token in tokens] == [False, True]
    with pytest.raises(ServiceError, match=f"session was revoked at {NOW}. Run `verdict login`"):
        await access.authenticator.authenticate(tokens[0])


async def test_a_key_has_no_session_to_log_out_of(access: Access, admin: AccessAdmin) -> None:
    caller = await access.authenticator.authenticate((await admin.create_key("mine")).key)
    with pytest.raises(ServiceError) as caught:
        await access.accounts.logout(caller)
    assert caught.value.code == "NOT_FOUND"


@pytest.mark.promise("keys.stored", "keys.shown-once")
async def test_a_key_is_shown_once_and_stored_nowhere(access: Access, db: Database) -> None:
    made = await access.accounts.create_key(await caller_of(access), NewKey("robot"))
    assert made == CreatedKey(made.key, made.key[:19], "robot", NOW, None)
    assert (await access.authenticator.authenticate(made.key)).kind == "api_key"
    await db.write(lambda connection: connection.execute("PRAGMA user_version").fetchone())
    files = list(db.path.parent.glob("verdict.db*"))
    assert len(files) >= 2
    assert not any(
        made.key.encode() in file.read_bytes() or made.key[19:].encode() in file.read_bytes() for file in files
    )


async def test_a_key_carries_the_wallet_of_the_session_that_made_it(access: Access) -> None:
    made = await access.accounts.create_key(await caller_of(access), NewKey("robot"))
    assert (await access.authenticator.authenticate(made.key)).wallet == wallet().address


async def test_a_key_may_expire(access: Access, clock: FakeClock) -> None:
    caller = await caller_of(access)
    made = await access.accounts.create_key(caller, NewKey("robot", "2025-07-25T14:00:01+02:00"))
    assert made.expires_at == "2025-07-25T12:00:01.000Z"
    assert await works(access.authenticator, made.key)
    clock.at_ms += SECOND_MS
    assert not await works(access.authenticator, made.key)


@pytest.mark.parametrize("expires_at", [NOW, "2024-01-01T00:00:00Z", "2030-01-01", "2030-01-01T00:00:00", "soon", ""])
async def test_an_expiry_that_has_passed_or_cannot_be_read_is_refused(desk: AccountService, expires_at: str) -> None:
    with pytest.raises(ServiceError) as caught:
        await desk.create_key(Caller(user_id=1, kind="session", credential_id=1), NewKey("robot", expires_at))
    assert (caught.value.code, caught.value.details) == ("BAD_REQUEST", {"parameter": "expiresAt"})


async def test_a_hundred_working_keys_are_enough(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 2)
    caller = await caller_of(access)
    first = await access.accounts.create_key(caller, NewKey("1"))
    second = await access.accounts.create_key(caller, NewKey("2"))
    with pytest.raises(ServiceError, match="Revoke one first"):
        await access.accounts.create_key(caller, NewKey("3"))
    await access.accounts.rotate_key(caller, RotateKey(second.prefix, 60))
    await access.accounts.revoke_key(caller, first.prefix)
    await access.accounts.create_key(caller, NewKey("3"))


async def test_a_key_that_has_expired_takes_nobodys_place(
    access: Access, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 1)
    caller = await caller_of(access)
    await access.accounts.create_key(caller, NewKey("1", "2030-01-01T00:00:00Z"))
    ends_ms = 1_893_456_000_000
    clock.set_wall(ends_ms - 1)
    with pytest.raises(ServiceError, match="Revoke one first"):
        await access.accounts.create_key(caller, NewKey("2"))
    clock.set_wall(ends_ms)
    await access.accounts.create_key(caller, NewKey("2"))


async def test_a_display_prefix_that_is_taken_is_drawn_again(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = await caller_of(access)
    first = await access.accounts.create_key(caller, NewKey("1"))
    drawn, draw = [first.key, first.key], ApiKeyFormat.draw
    fake: Callable[[ApiKeyFormat], str] = lambda form: drawn.pop() if drawn else draw(form)  # noqa: E731
    monkeypatch.setattr(ApiKeyFormat, "draw", fake)
    second = await access.accounts.create_key(caller, NewKey("2"))
    assert drawn == []
    assert second.prefix != first.prefix
    assert await works(access.authenticator, first.key)
    assert await works(access.authenticator, second.key)


@pytest.mark.promise("keys.list")
async def test_keys_are_listed_newest_first_with_what_became_of_them(access: Access, clock: FakeClock) -> None:
    caller = await caller_of(access)
    made = [await access.accounts.create_key(caller, NewKey(name)) for name in ("old", "lost", "kept")]
    await access.authenticator.authenticate(made[2].key)
    access.authenticator.record_use()
    await access.accounts.revoke_key(caller, made[1].prefix)
    replaced = await access.accounts.rotate_key(caller, RotateKey(made[0].prefix, 60))
    rows = msgspec.to_builtins(await access.accounts.list_keys(caller))["keys"]
    ends = {"created_at": NOW, "revoked_at": None, "last_used_at": None, "expires_at": None}
    assert rows == [
        ends | {"prefix": replaced.prefix, "name": "old"},
        ends | {"prefix": made[2].prefix, "name": "kept", "last_used_at": NOW},
        ends | {"prefix": made[1].prefix, "name": "lost", "revoked_at": NOW},
        ends | {"prefix": made[0].prefix, "name": "old", "expires_at": iso(START_MS + 60_000)},
    ]


@pytest.mark.promise("revocation.immediate", "keys.revoke")
async def test_revoking_ends_a_key_at_once_and_again_changes_nothing(access: Access, clock: FakeClock) -> None:
    caller = await caller_of(access)
    made = await access.accounts.create_key(caller, NewKey("robot"))
    user = await access.authenticator.authenticate(made.key)
    assert await access.accounts.revoke_key(caller, made.prefix) == Ended()
    assert access.authenticator.cached(made.key) is None
    assert not access.authenticator.is_valid(user)
    clock.at_ms += 5_000
    assert await access.accounts.revoke_key(caller, made.prefix) == Ended()
    with pytest.raises(ServiceError, match=f"The API key was revoked at {NOW}"):
        await access.authenticator.authenticate(made.key)


@pytest.mark.promise("keys.rotate")
async def test_a_rotated_key_works_until_its_grace_is_over(access: Access, clock: FakeClock) -> None:
    caller = await caller_of(access)
    old = await access.accounts.create_key(caller, NewKey("robot"))
    user = await access.authenticator.authenticate(old.key)
    new = await access.accounts.rotate_key(caller, RotateKey(old.prefix, 60))
    assert (new.name, new.expires_at) == ("robot", None)
    clock.at_ms += 59_999
    assert [await works(access.authenticator, key) for key in (old.key, new.key)] == [True, True]
    assert access.authenticator.is_valid(user)
    clock.at_ms += 1
    assert [await works(access.authenticator, key) for key in (old.key, new.key)] == [False, True]
    assert not access.authenticator.is_valid(user)
    with pytest.raises(ServiceError, match=r"rotated and stopped working at 2025-07-25T12:01:00\.000Z"):
        await access.authenticator.authenticate(old.key)


async def test_without_a_grace_a_rotated_key_is_dead_at_once_whatever_the_clock(
    access: Access, clock: FakeClock
) -> None:
    caller = await caller_of(access)
    old = await access.accounts.create_key(caller, NewKey("robot"))
    user = await access.authenticator.authenticate(old.key)
    await access.accounts.rotate_key(caller, RotateKey(old.prefix))
    clock.set_wall(START_MS - 1)
    assert not await works(access.authenticator, old.key)
    assert not access.authenticator.is_valid(user)
    with pytest.raises(ServiceError, match=f"rotated and stopped working at {NOW}. Use the key that replaced it"):
        await access.authenticator.authenticate(old.key)


async def test_rotating_does_not_lengthen_a_keys_life(access: Access) -> None:
    caller = await caller_of(access)
    end = iso(START_MS + 30_000)
    old = await access.accounts.create_key(caller, NewKey("robot", end))
    new = await access.accounts.rotate_key(caller, RotateKey(old.prefix, 60))
    assert new.expires_at == end
    rows = (await access.accounts.list_keys(caller)).keys
    assert [row.expires_at for row in rows] == [end, end]


async def test_a_key_in_its_grace_can_still_be_revoked(access: Access) -> None:
    caller = await caller_of(access)
    old = await access.accounts.create_key(caller, NewKey("robot"))
    await access.accounts.rotate_key(caller, RotateKey(old.prefix, 60))
    await access.accounts.revoke_key(caller, old.prefix)
    assert not await works(access.authenticator, old.key)


@pytest.mark.parametrize("how", ["revoked", "rotated", "expired"])
async def test_a_key_that_has_ended_cannot_be_rotated(access: Access, clock: FakeClock, how: str) -> None:
    caller = await caller_of(access)
    old = await access.accounts.create_key(caller, NewKey("robot", iso(START_MS + 5_000)))
    if how == "revoked":
        await access.accounts.revoke_key(caller, old.prefix)
    elif how == "rotated":
        await access.accounts.rotate_key(caller, RotateKey(old.prefix, 60))
    else:
        clock.at_ms += 5_000
    with pytest.raises(ServiceError, match="cannot be rotated") as caught:
        await access.accounts.rotate_key(caller, RotateKey(old.prefix, 60))
    assert (caught.value.code, caught.value.details) == ("BAD_REQUEST", {"parameter": "prefix"})


async def test_of_two_rotations_at_once_one_succeeds(access: Access) -> None:
    caller = await caller_of(access)
    old = await access.accounts.create_key(caller, NewKey("robot"))
    async with asyncio.timeout(20):
        outcomes = await asyncio.gather(
            *(access.accounts.rotate_key(caller, RotateKey(old.prefix, 60)) for _ in range(10)), return_exceptions=True
        )
    assert sum(isinstance(outcome, CreatedKey) for outcome in outcomes) == 1


async def test_somebody_elses_key_is_as_good_as_none(access: Access) -> None:
    owner, stranger = await caller_of(access), await caller_of(access, 2)
    made = await access.accounts.create_key(owner, NewKey("robot"))
    assert (await access.accounts.list_keys(stranger)).keys == []
    nobody = "verdict_sk_00000000"
    for attempt in (access.accounts.revoke_key, lambda who, prefix: access.accounts.rotate_key(who, RotateKey(prefix))):
        messages = []
        for prefix in (made.prefix, nobody):
            with pytest.raises(ServiceError) as caught:
                await attempt(stranger, prefix)
            assert caught.value.status == 404
            messages.append(caught.value.message.replace(prefix, "…"))
        assert messages[0] == messages[1]
    assert await works(access.authenticator, made.key)


@pytest.mark.promise("tier.applied", "tier.identity", "tier.expires-null", "tiers.source", "tiers.kind")
async def test_the_entitlement_is_what_the_gate_applies(access: Access, admin: AccessAdmin) -> None:
    caller = await caller_of(access)
    await admin.add_grant(wallet().address, "pro", START_MS + 1_000)
    await access.authenticator.catch_up()
    key = await access.accounts.create_key(caller, NewKey("robot"))
    assert msgspec.to_builtins(access.accounts.entitlement(caller)) == {
        "tier": "free",
        "source": "default",
        "expiresAt": None,
        "identity": {"kind": "session", "userId": caller.user_id, "walletAddress": wallet().address},
    }
    assert msgspec.to_builtins(access.accounts.entitlement(await access.authenticator.authenticate(key.key))) == {
        "tier": "pro",
        "source": "wallet",
        "expiresAt": "2025-07-25T12:00:01.000Z",
        "identity": {"kind": "api_key", "userId": caller.user_id, "walletAddress": wallet().address},
    }
