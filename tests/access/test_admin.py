import msgspec
import pytest

from service.access.admin import AccessAdmin
from service.access.factory import Access
from service.access.meter import open_meter
from service.errors import ServiceError
from service.storage.database import Database
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import START_MS, FakeClock

WALLET = wallet().address


async def tier_of(access: Access, key: str) -> tuple[str, str, int | None]:
    await access.authenticator.catch_up()
    caller = access.authenticator.cached(key) or await access.authenticator.authenticate(key)
    return caller.tier, caller.source, caller.entitlement_ends_ms


async def sign_in(access: Access, number: int = 1) -> int:
    session = await access.accounts.login(login(wallet(number), access.accounts.nonce().nonce, START_MS), NETWORK)
    return (await access.authenticator.authenticate(session.token)).user_id


async def test_a_key_makes_a_new_user_unless_one_is_named(admin: AccessAdmin) -> None:
    first, second = await admin.create_key("a"), await admin.create_key("b")
    third = await admin.create_key("c", user_id=first.user_id)
    assert first.user_id == third.user_id != second.user_id
    assert msgspec.to_builtins(first) == {
        "key": first.key,
        "prefix": first.key[:19],
        "userId": first.user_id,
        "tier": "free",
        "expiresAt": None,
    }


async def test_a_tier_is_granted_for_as_long_as_the_key_lasts(access: Access, admin: AccessAdmin) -> None:
    made = await admin.create_key("a", tier="pro", expires_ms=START_MS + 1_000)
    assert (made.tier, made.expires_at) == ("pro", "2025-07-25T12:00:01.000Z")
    assert await tier_of(access, made.key) == ("pro", "grant", START_MS + 1_000)


async def test_the_tier_that_is_told_is_the_one_that_applies(admin: AccessAdmin) -> None:
    made = await admin.create_key("a", tier="pro")
    assert (await admin.create_key("b", user_id=made.user_id)).tier == "pro"


async def test_a_user_who_does_not_exist_is_not_found_and_nothing_is_made(admin: AccessAdmin, db: Database) -> None:
    with pytest.raises(ServiceError, match="no user 7"):
        await admin.create_key("a", user_id=7, tier="pro")
    with pytest.raises(ServiceError, match="no user 7"):
        await admin.create_key("a", user_id=7)
    with pytest.raises(ServiceError, match="no user 7"):
        await admin.add_grant(7, "pro")
    assert await db.read("SELECT (SELECT count(*) FROM credentials), (SELECT count(*) FROM grants)") == [(0, 0)]


async def test_a_user_may_be_made_alone(admin: AccessAdmin) -> None:
    user_id = await admin.create_user()
    assert (await admin.create_key("a", user_id=user_id)).user_id == user_id


async def test_the_owner_of_a_wallet_the_operator_named_signs_in_as_that_user(
    access: Access, admin: AccessAdmin
) -> None:
    made = await admin.create_key("a", wallet=WALLET.lower())
    again = await admin.create_key("b", wallet=WALLET)
    assert await sign_in(access) == made.user_id == again.user_id
    assert (await access.authenticator.authenticate(made.key)).wallet == WALLET


async def test_a_wallet_is_added_to_a_user_but_never_taken_from_another(access: Access, admin: AccessAdmin) -> None:
    owner = await sign_in(access)
    other = await admin.create_key("a")
    with pytest.raises(ServiceError, match=f"belongs to user {owner}"):
        await admin.create_key("b", user_id=other.user_id, wallet=WALLET)
    await admin.create_key("c", user_id=owner, wallet=WALLET)
    await admin.create_key("d", user_id=other.user_id, wallet=wallet(2).address)
    assert await sign_in(access, 2) == other.user_id


@pytest.mark.parametrize("text", ["", "0x1", "vitalik.eth", WALLET[:-1] + WALLET[-1].swapcase(), WALLET + "\n"])
async def test_what_is_no_wallet_is_refused(admin: AccessAdmin, text: str) -> None:
    for attempt in (admin.create_key("a", wallet=text), admin.add_grant(text, "pro")):
        with pytest.raises(ServiceError, match="not a wallet") as caught:
            await attempt
        assert caught.value.code == "BAD_REQUEST"


async def test_keys_of_everybody_or_of_one_are_listed_newest_first(admin: AccessAdmin) -> None:
    made = [await admin.create_key(name) for name in ("a", "b", "c")]
    await admin.revoke_key(made[2].prefix)
    assert [key.name for key in await admin.list_keys()] == ["c", "b", "a"]
    assert [key.name for key in await admin.list_keys(made[1].user_id)] == ["b"]


async def test_the_operator_revokes_anybodys_key(access: Access, admin: AccessAdmin) -> None:
    made = await admin.create_key("a")
    await access.authenticator.authenticate(made.key)
    await admin.revoke_key(made.prefix)
    await access.authenticator.catch_up()
    assert access.authenticator.cached(made.key) is None
    with pytest.raises(ServiceError, match="no key verdict_sk_00000000"):
        await admin.revoke_key("verdict_sk_00000000")


async def test_sessions_are_listed_and_ended(access: Access, admin: AccessAdmin) -> None:
    user_id = await sign_in(access)
    key = await admin.create_key("a", user_id=user_id)
    (session,) = await admin.list_sessions()
    assert (session.user_id, session.wallet, session.prefix) == (user_id, WALLET, None)
    await admin.end_session(session.id)
    assert [row.revoked_ms for row in await admin.list_sessions(user_id)] == [START_MS]
    (own,) = await admin.list_keys()
    with pytest.raises(ServiceError, match=f"no session {own.id}"):
        await admin.end_session(own.id)
    assert (await access.authenticator.authenticate(key.key)).user_id == user_id


async def test_a_grant_holds_until_it_is_revoked(access: Access, admin: AccessAdmin) -> None:
    made = await admin.create_key("a")
    granted = await admin.add_grant(made.user_id, "access")
    assert await tier_of(access, made.key) == ("access", "grant", None)
    await admin.revoke_grant(granted.id)
    await admin.revoke_grant(granted.id)
    assert await tier_of(access, made.key) == ("free", "default", None)
    (row,) = await admin.list_grants()
    assert (row.user_id, row.wallet, row.tier, row.revoked_ms) == (made.user_id, None, "access", START_MS)
    with pytest.raises(ServiceError, match="no grant 9"):
        await admin.revoke_grant(9)


async def test_a_wallet_grant_is_nobodys_until_the_wallet_is_proven(access: Access, admin: AccessAdmin) -> None:
    granted = await admin.add_grant(WALLET, "pro")
    stranger = await admin.create_key("a")
    assert await tier_of(access, stranger.key) == ("free", "default", None)
    owner = await admin.create_key("b", user_id=await sign_in(access))
    assert await tier_of(access, owner.key) == ("pro", "wallet", None)
    assert await tier_of(access, stranger.key) == ("free", "default", None)
    await admin.revoke_grant(granted.id)
    assert await tier_of(access, owner.key) == ("free", "default", None)


async def test_proving_a_wallet_lifts_the_credentials_in_use(access: Access, admin: AccessAdmin) -> None:
    await admin.add_grant(WALLET, "pro")
    made = await admin.create_key("a")
    assert await tier_of(access, made.key) == ("free", "default", None)
    await admin.create_key("b", user_id=made.user_id, wallet=WALLET)
    assert await tier_of(access, made.key) == ("pro", "wallet", None)


@pytest.mark.slow
async def test_beyond_a_thousand_ended_keys_are_left_out_of_the_list_first(admin: AccessAdmin, db: Database) -> None:
    made = await admin.create_key("living")
    await db.write(
        lambda connection: (
            connection.executemany(
                "INSERT INTO credentials (kind, user_id, fingerprint, prefix, name, created_ms, revoked_ms) "
                "VALUES ('api_key', ?, ?, ?, 'ended', 0, 0)",
                [(made.user_id, b"%d" % number, f"p{number}") for number in range(1_100)],
            ).rowcount
        )
    )
    rows = await admin.list_keys(made.user_id)
    assert len(rows) == 1_000
    assert rows[-1].name == "living"


@pytest.mark.promise("users.quota-shared")
async def test_more_keys_and_sessions_of_one_user_give_no_more_questions(
    access: Access, admin: AccessAdmin, db: Database, clock: FakeClock
) -> None:
    user_id = await sign_in(access)
    tokens = [(await admin.create_key("more", user_id=user_id)).key for _ in range(3)]
    callers = [await access.authenticator.authenticate(token) for token in tokens]
    async with open_meter(db, clock) as meter:
        decisions = [await meter.charge(callers[number % 3], "coin.risk") for number in range(12)]
    assert [decision.event_id is not None for decision in decisions] == [True] * 10 + [False] * 2
