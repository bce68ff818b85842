"""Accounts with free questions: a few a network and UTC day, exactly, on each process of a store."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from service.access.admin import AccessAdmin
from service.access.anonymous import AnonymousHasher
from service.access.factory import Access, open_access
from service.access.meter import Meter, open_meter
from service.access.quota import ChargeDecision, QuotaStatus
from service.access.secrets import Secrets
from service.clock import DAY_MS
from service.settings import Settings
from service.storage.database import Database
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database

OTHER = b"o" * 32
OFFER = "coin.risk"
NO_QUESTIONS = QuotaStatus(tier="free", used=0, limit=0, remaining=0, period="lifetime", reset_ms=None)


@pytest.fixture
async def second(settings: Settings, secrets: Secrets, db: Database, clock: FakeClock) -> AsyncIterator[Access]:
    """Another process on the same store."""
    async with open_database(db.path, clock) as opened:
        yield await open_access(settings, secrets, opened, clock)


@pytest.fixture
async def meter(db: Database, clock: FakeClock) -> AsyncIterator[Meter]:
    async with open_meter(db, clock) as opened:
        yield opened


async def sign_in(access: Access, number: int, clock: FakeClock, network: bytes = NETWORK) -> bool:
    """Sign in with a wallet; whether its account has free questions."""
    desk = access.accounts
    session = await desk.login(login(wallet(number), desk.nonce().nonce, clock.now_ms()), network)
    caller = await access.authenticator.authenticate(session.token)
    assert caller.free == (session.notice is None)
    assert caller.plan == ("free" if caller.free else "none")
    return caller.free


@pytest.mark.slow
@pytest.mark.promise("signin.free-accounts")
async def test_of_200_new_wallets_over_two_processes_exactly_5_have_free_questions(
    access: Access, second: Access, clock: FakeClock, db: Database
) -> None:
    both = (access, second)
    free = 0
    for first in range(1, 201, 40):
        free += sum(await asyncio.gather(*(sign_in(both[n % 2], n, clock) for n in range(first, first + 40))))
    assert free == 5
    assert await db.read("SELECT count(*), sum(free) FROM users") == [(200, 5)]
    assert await sign_in(access, 300, clock, OTHER)


@pytest.mark.promise("signin.free-accounts")
async def test_an_account_without_free_questions_is_refused_by_the_meter_and_has_a_limit_of_0(
    access: Access, meter: Meter, clock: FakeClock
) -> None:
    for number in range(1, 6):
        assert await sign_in(access, number, clock)
    session = await access.accounts.login(login(wallet(6), access.accounts.nonce().nonce, clock.now_ms()), NETWORK)
    assert session.notice is not None
    assert "This account has no free questions" in session.notice
    caller = await access.authenticator.authenticate(session.token)
    assert (caller.tier, access.accounts.entitlement(caller).tier) == ("free", "free")
    for days in (0, 1, 30):
        clock.at_ms += days * DAY_MS
        assert await meter.charge(caller, OFFER) == ChargeDecision(None, NO_QUESTIONS)
    assert await meter.quota_status(caller) == NO_QUESTIONS


async def test_a_known_wallet_signs_in_as_often_as_it_likes_and_keeps_its_questions(
    access: Access, clock: FakeClock
) -> None:
    for number in [1, 1, 1, 2, 3, 4, 5, 1]:
        assert await sign_in(access, number, clock)
    assert not await sign_in(access, 6, clock)
    assert await sign_in(access, 1, clock)


@pytest.mark.promise("signin.free-accounts")
async def test_an_account_gets_free_questions_when_it_signs_in_from_a_network_with_room(
    access: Access, clock: FakeClock, settings: Settings, secrets: Secrets
) -> None:
    form = AnonymousHasher(secrets.anonymous_key, clock)
    today = form.account_network("203.0.113.7")
    assert [await sign_in(access, number, clock, today) for number in range(1, 8)] == [True] * 5 + [False] * 2
    assert not await sign_in(access, 6, clock, today)
    assert await sign_in(access, 7, clock, form.account_network("198.51.100.7"))
    clock.at_ms += DAY_MS
    tomorrow = form.account_network("203.0.113.7")
    assert tomorrow != today
    assert await sign_in(access, 6, clock, tomorrow)
    assert [await sign_in(access, number, clock, tomorrow) for number in range(11, 16)] == [True] * 4 + [False]


async def test_a_session_from_before_has_the_questions_too_once_its_account_has_them(
    access: Access, clock: FakeClock
) -> None:
    for number in range(1, 6):
        await sign_in(access, number, clock)
    session = await access.accounts.login(login(wallet(6), access.accounts.nonce().nonce, clock.now_ms()), NETWORK)
    assert not (await access.authenticator.authenticate(session.token)).free
    assert await sign_in(access, 6, clock, OTHER)
    assert access.authenticator.cached(session.token) is None
    assert (await access.authenticator.authenticate(session.token)).free


@pytest.mark.promise("signin.free-accounts")
async def test_accounts_that_the_operator_makes_are_not_limited(
    access: Access, admin: AccessAdmin, clock: FakeClock
) -> None:
    for number in range(1, 6):
        await sign_in(access, number, clock)
    for number in range(10, 20):
        made = await admin.create_key("test", wallet=wallet(number).address)
        assert (await access.authenticator.authenticate(made.key)).plan == "free"
        assert await sign_in(access, number, clock)
    assert not await sign_in(access, 6, clock)
    key = await admin.create_key("test", wallet=wallet(6).address)
    assert (await access.authenticator.authenticate(key.key)).free


async def test_a_granted_tier_counts_as_it_is_whether_or_not_there_are_free_questions(
    access: Access, admin: AccessAdmin, meter: Meter, clock: FakeClock
) -> None:
    for number in range(1, 6):
        await sign_in(access, number, clock)
    await admin.add_grant(wallet(6).address, "access")
    session = await access.accounts.login(login(wallet(6), access.accounts.nonce().nonce, clock.now_ms()), NETWORK)
    caller = await access.authenticator.authenticate(session.token)
    assert (caller.free, caller.plan) == (False, "access")
    assert (await meter.charge(caller, OFFER)).quota_status.remaining == 49


async def test_counts_of_networks_are_deleted_two_days_later(access: Access, clock: FakeClock, db: Database) -> None:
    await sign_in(access, 1, clock)
    assert await db.read("SELECT accounts FROM free_accounts") == [(1,)]
    clock.at_ms += 2 * DAY_MS
    await sign_in(access, 2, clock, OTHER)
    assert len(await db.read("SELECT network FROM free_accounts")) == 2
    clock.at_ms += DAY_MS
    await sign_in(access, 3, clock, b"p" * 32)
    assert await db.read("SELECT count(*) FROM free_accounts WHERE network = ?", (NETWORK,)) == [(0,)]


def test_the_network_of_an_account_is_the_24_or_the_56_and_another_one_each_day(clock: FakeClock) -> None:
    form = AnonymousHasher(b"k" * 32, clock)
    first = form.account_network("203.0.113.7")
    assert form.account_network("203.0.113.250") == form.account_network("::ffff:203.0.113.9") == first
    assert form.account_network("203.0.114.7") != first
    sixth = form.account_network("2001:db8:0:1100::1")
    assert form.account_network("2001:db8:0:11ff::1") == sixth
    assert form.account_network("2001:db8:0:1200::1") != sixth
    assert AnonymousHasher(b"k" * 32, clock, (32, 128)).account_network("203.0.113.8") != first
    assert form.identify("device", "203.0.113.7").network != first
    clock.at_ms += DAY_MS
    assert form.account_network("203.0.113.7") != first
