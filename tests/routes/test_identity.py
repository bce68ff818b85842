"""Sign-in and keys over HTTP: their requests and answers."""

import msgspec
import pytest

from service.clock import iso
from service.errors import ServiceError
from service.wire.access import CreatedKey, Ended, KeyList, NewKey, NewNonce, RotateKey, Session
from service.wire.queries import OfPrefix
from tests.access.signing import login, wallet
from tests.routes.conftest import Table


def fields(answer: object) -> list[str]:
    return list(msgspec.to_builtins(answer))


@pytest.mark.promise("signin.nonce")
async def test_a_nonce_and_when_it_expires(table: Table) -> None:
    nonce = await table.data(NewNonce, "auth.nonce")
    assert fields(nonce) == ["nonce", "expiresAt"]
    assert nonce.expires_at == iso(table.clock.now_ms() + 300_000)


@pytest.mark.promise("signin.login", "signin.nonce-once")
async def test_a_signed_message_is_exchanged_for_a_session(table: Table) -> None:
    nonce = await table.data(NewNonce, "auth.nonce")
    signed = login(wallet(), nonce.nonce, table.clock.now_ms())
    session = await table.data(Session, "auth.login", body=signed)
    assert fields(session) == ["token", "walletAddress", "expiresAt"]
    caller = await table.access.authenticator.authenticate(session.token)
    assert (caller.kind, caller.wallet) == ("session", session.wallet_address)
    with pytest.raises(ServiceError) as caught:
        await table.call("auth.login", body=signed)
    assert caught.value.code == "AUTH_INVALID"


@pytest.mark.promise("signin.logout", "sessions.revocable")
async def test_logging_out_ends_the_session_at_once(table: Table) -> None:
    nonce = await table.data(NewNonce, "auth.nonce")
    session = await table.data(Session, "auth.login", body=login(wallet(), nonce.nonce, table.clock.now_ms()))
    caller = await table.access.authenticator.authenticate(session.token)
    assert await table.data(Ended, "auth.logout", caller) == Ended(ok=True)
    assert table.access.authenticator.cached(session.token) is None
    with pytest.raises(ServiceError) as caught:
        await table.access.authenticator.authenticate(session.token)
    assert caught.value.code == "AUTH_INVALID"


@pytest.mark.promise("keys.create", "keys.list", "keys.shown-once")
async def test_a_key_is_shown_once_and_listed_without_its_secret(table: Table) -> None:
    caller = await table.sign_in()
    created = await table.data(CreatedKey, "keys.create", caller, body=NewKey("laptop"))
    assert fields(created) == ["key", "prefix", "name", "createdAt", "expiresAt"]
    listed = await table.data(KeyList, "keys.list", caller)
    assert fields(listed) == ["keys"]
    (row,) = listed.keys
    assert fields(row) == ["prefix", "name", "created_at", "expires_at", "revoked_at", "last_used_at"]
    assert (row.prefix, row.name, row.revoked_at) == (created.prefix, "laptop", None)
    assert created.key.encode() not in msgspec.json.encode(listed)


@pytest.mark.promise("keys.revoke", "revocation.immediate")
async def test_a_revoked_key_is_refused_at_once(table: Table) -> None:
    caller = await table.sign_in()
    created = await table.data(CreatedKey, "keys.create", caller, body=NewKey("laptop"))
    await table.access.authenticator.authenticate(created.key)
    await table.data(Ended, "keys.revoke", caller, OfPrefix(created.prefix))
    assert table.access.authenticator.cached(created.key) is None
    with pytest.raises(ServiceError, match="revoked"):
        await table.access.authenticator.authenticate(created.key)


@pytest.mark.promise("keys.rotate")
async def test_a_rotated_key_works_until_its_grace_is_over(table: Table) -> None:
    caller = await table.sign_in()
    old = await table.data(CreatedKey, "keys.create", caller, body=NewKey("laptop"))
    new = await table.data(CreatedKey, "keys.rotate", caller, body=RotateKey(old.prefix, grace_seconds=60))
    assert (new.name, new.key != old.key) == ("laptop", True)
    await table.access.authenticator.authenticate(old.key)
    await table.clock.advance(60)
    await table.access.authenticator.authenticate(new.key)
    with pytest.raises(ServiceError, match="rotated"):
        await table.access.authenticator.authenticate(old.key)


@pytest.mark.parametrize("offer_id", ["keys.revoke", "keys.rotate"])
async def test_another_users_key_is_not_found(table: Table, offer_id: str) -> None:
    mine, other = await table.sign_in(1), await table.sign_in(2)
    created = await table.data(CreatedKey, "keys.create", other, body=NewKey("theirs"))
    with pytest.raises(ServiceError) as caught:
        await table.call(offer_id, mine, OfPrefix(created.prefix), RotateKey(created.prefix))
    assert caught.value.code == "NOT_FOUND"
    assert (await table.data(KeyList, "keys.list", mine)).keys == []
