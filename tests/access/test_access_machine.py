"""Whatever is issued, rotated, revoked and granted in whatever order: whoever is admitted is whom a model admits.

Two processes on one store admit the tokens of three wallets' users and of users without a wallet. Keys and sessions
begin and end, grants come and go, days pass, processes start anew. After each step, every token is shown to both.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec import Struct

from service.access.admin import AccessAdmin
from service.access.caller import Caller
from service.access.factory import Access, open_access, open_admin
from service.access.grants import GrantedTier
from service.access.secrets import Secrets, open_secrets
from service.clock import DAY_MS, HOUR_MS, SECOND_MS, iso
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import open_database
from service.wire.access import NewKey, RotateKey, Tier
from tests.access.signing import NETWORK, login, wallet
from tests.fakes.clock import FakeClock
from tests.soak.machine import Machine, run_machine

T = TypeVar("T")

PROCESSES = st.integers(0, 1)
WALLETS = st.integers(1, 3)
ANY = st.integers(0, 19)
LASTS = st.sampled_from([None, HOUR_MS, 3 * DAY_MS])
TIERS: st.SearchStrategy[GrantedTier] = st.sampled_from(["access", "pro"])
SESSION_LEEWAY_MS = 30 * SECOND_MS
SESSION_MS = 30 * DAY_MS
RANK: dict[Tier, int] = {"free": 0, "access": 1, "pro": 2}


class Token(Struct):
    """A key or a session as the model has it."""

    text: str
    prefix: str
    user_id: int
    ends_ms: int | None
    rotated: bool = False
    revoked: bool = False


class Grant(Struct):
    id: int
    user_id: int
    tier: GrantedTier
    ends_ms: int | None
    revoked: bool = False


class Accesses(Machine):
    folder: Path
    secrets: Secrets

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.settings = Settings(data_dir=Path(tempfile.mkdtemp(dir=self.folder)), public_url="https://api.example.org")
        self.path = self.settings.data_dir / "verdict.db"
        self.clock = FakeClock()
        self.rooms: dict[int, tuple[Access, AccessAdmin, Any]] = {}
        self.tokens: list[Token] = []
        self.grants: list[Grant] = []
        self.users: dict[int, int] = {}
        self.open: list[tuple[int, Caller, Token]] = []

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    @initialize()
    def start(self) -> None:
        shutil.copy(self.folder / "empty.db", self.path)

    def room(self, number: int) -> tuple[Access, AccessAdmin]:
        if number not in self.rooms:
            opened = open_database(self.path, self.clock)
            database = self.run(opened.__aenter__())
            access = self.run(open_access(self.settings, self.secrets, database, self.clock))
            admin = open_admin(self.settings, self.secrets, database, self.clock)
            self.rooms[number] = (access, admin, opened)
        return self.rooms[number][:2]

    # The model.

    def stands(self, token: Token) -> bool:
        return not token.revoked and (token.ends_ms is None or self.clock.now_ms() < token.ends_ms)

    def tier(self, user_id: int) -> Tier:
        now_ms = self.clock.now_ms()
        standing: list[Tier] = [
            grant.tier
            for grant in self.grants
            if grant.user_id == user_id and not grant.revoked and (grant.ends_ms is None or now_ms < grant.ends_ms)
        ]
        return max([*standing, "free"], key=lambda tier: RANK[tier])

    def until(self, lasts_ms: int | None) -> int | None:
        return None if lasts_ms is None else self.clock.now_ms() + lasts_ms

    def those(self, *, keys: bool, standing: bool = True) -> list[Token]:
        return [token for token in self.tokens if bool(token.prefix) is keys and self.stands(token) >= standing]

    def caller(self, number: int, token: Token) -> Caller:
        return self.run(self.room(number)[0].authenticator.authenticate(token.text))

    # What happens.

    @rule(number=PROCESSES, tier=st.none() | TIERS, lasts_ms=LASTS)
    def issue(self, number: int, tier: GrantedTier | None, lasts_ms: int | None) -> None:
        """The operator makes a key, perhaps with a tier that lasts as long."""
        made = self.run(self.room(number)[1].create_key("test", tier=tier or "free", expires_ms=self.until(lasts_ms)))
        assert made.tier == (tier or "free")
        self.tokens.append(Token(made.key, made.prefix, made.user_id, self.until(lasts_ms)))
        if tier:
            newest = self.run(self.room(number)[1].list_grants())[0]
            self.grants.append(Grant(newest.id, made.user_id, tier, self.until(lasts_ms)))

    @rule(number=PROCESSES, who=WALLETS)
    def sign_in(self, number: int, who: int) -> None:
        desk = self.room(number)[0].accounts
        session = self.run(desk.login(login(wallet(who), desk.nonce().nonce, self.clock.now_ms()), NETWORK))
        ends_ms = (self.clock.now_ms() + SESSION_MS) // SECOND_MS * SECOND_MS + SESSION_LEEWAY_MS
        user_id = self.run(self.room(number)[0].authenticator.authenticate(session.token)).user_id
        assert self.users.setdefault(who, user_id) == user_id, "a wallet is one user for ever"
        self.tokens.append(Token(session.token, "", user_id, ends_ms))

    @precondition(lambda self: self.those(keys=False))
    @rule(which=ANY, number=PROCESSES, lasts_ms=LASTS)
    def make_key(self, which: int, number: int, lasts_ms: int | None) -> None:
        session = chosen(self.those(keys=False), which)
        until_ms = self.until(lasts_ms)
        wanted = NewKey("mine", None if until_ms is None else iso(until_ms))
        made = self.run(self.room(number)[0].accounts.create_key(self.caller(number, session), wanted))
        self.tokens.append(Token(made.key, made.prefix, session.user_id, until_ms))

    @precondition(lambda self: self.those(keys=False))
    @rule(which=ANY, number=PROCESSES)
    def log_out(self, which: int, number: int) -> None:
        session = chosen(self.those(keys=False), which)
        self.run(self.room(number)[0].accounts.logout(self.caller(number, session)))
        session.revoked = True

    @precondition(lambda self: self.those(keys=True, standing=False))
    @rule(which=ANY, number=PROCESSES, grace_s=st.sampled_from([0, 60, 7_200]))
    def rotate(self, which: int, number: int, grace_s: int) -> None:
        """Its owner replaces a key; the old one goes on for the grace, and never longer than it was to."""
        old = chosen(self.those(keys=True, standing=False), which)
        desk, caller = self.room(number)[0].accounts, Caller(old.user_id, "api_key", 0)
        rotating = desk.rotate_key(caller, RotateKey(old.prefix, grace_s))
        if not self.stands(old) or old.rotated:
            with pytest.raises(ServiceError):
                self.run(rotating)
            return
        made = self.run(rotating)
        self.tokens.append(Token(made.key, made.prefix, old.user_id, old.ends_ms))
        grace_ends_ms = self.clock.now_ms() + grace_s * SECOND_MS
        old.ends_ms = grace_ends_ms if old.ends_ms is None else min(old.ends_ms, grace_ends_ms)
        old.rotated, old.revoked = True, grace_s == 0

    @precondition(lambda self: self.those(keys=True, standing=False))
    @rule(which=ANY, number=PROCESSES, by_operator=st.booleans())
    def revoke(self, which: int, number: int, by_operator: bool) -> None:
        key = chosen(self.those(keys=True, standing=False), which)
        access, admin = self.room(number)
        caller = Caller(key.user_id, "api_key", 0)
        self.run(admin.revoke_key(key.prefix) if by_operator else access.accounts.revoke_key(caller, key.prefix))
        key.revoked = True

    @precondition(lambda self: len({token.user_id for token in self.those(keys=True, standing=False)}) > 1)
    @rule(which=ANY, number=PROCESSES, rotate=st.booleans())
    def meddle(self, which: int, number: int, rotate: bool) -> None:
        """Somebody else tries a key that is not theirs."""
        key = chosen(self.those(keys=True, standing=False), which)
        stranger = next(token.user_id for token in self.tokens if token.user_id != key.user_id)
        desk, caller = self.room(number)[0].accounts, Caller(stranger, "api_key", 0)
        tried: Coroutine[Any, Any, object] = desk.revoke_key(caller, key.prefix)
        if rotate:
            tried.close()
            tried = desk.rotate_key(caller, RotateKey(key.prefix))
        with pytest.raises(ServiceError, match="no key"):
            self.run(tried)

    @precondition(lambda self: self.tokens)
    @rule(which=ANY, number=PROCESSES, tier=TIERS, lasts_ms=LASTS)
    def give(self, which: int, number: int, tier: GrantedTier, lasts_ms: int | None) -> None:
        """A tier for a user, or for the wallet it has proven."""
        user_id = chosen(self.tokens, which).user_id
        proven = next((who for who, owner in self.users.items() if owner == user_id), None)
        holder = user_id if proven is None or which % 2 else wallet(proven).address
        row = self.run(self.room(number)[1].add_grant(holder, tier, self.until(lasts_ms)))
        self.grants.append(Grant(row.id, user_id, tier, self.until(lasts_ms)))

    @precondition(lambda self: self.grants)
    @rule(which=ANY, number=PROCESSES)
    def take_back(self, which: int, number: int) -> None:
        grant = self.grants[which % len(self.grants)]
        self.run(self.room(number)[1].revoke_grant(grant.id))
        grant.revoked = True

    @precondition(lambda self: any(map(self.stands, self.tokens)))
    @rule(which=ANY, number=PROCESSES)
    def open_stream(self, which: int, number: int) -> None:
        token = chosen([token for token in self.tokens if self.stands(token)], which)
        self.open.append((number, self.caller(number, token), token))

    @rule(seconds=st.sampled_from([1, 59, 61, 3_601, 90_000, 3 * 86_400 + 1, 30 * 86_400]))
    def wait(self, seconds: int) -> None:
        self.run(self.clock.advance(seconds))

    @precondition(lambda self: self.rooms)
    @rule(number=PROCESSES)
    def end(self, number: int) -> None:
        if number in self.rooms:
            self.run(self.rooms.pop(number)[2].__aexit__(None, None, None))
            self.open = [each for each in self.open if each[0] != number]

    # What has to be so after each step, and the second in which processes hear of each other.

    @invariant()
    def each_token_is_admitted_as_the_model_says_by_both(self) -> None:
        for access, _, _ in self.rooms.values():
            self.run(access.authenticator.catch_up())
            for token in self.tokens:
                assert self.run(admitted(access, token)) == (self.tier(token.user_id) if self.stands(token) else None)
        for number, caller, token in self.open:
            valid = self.rooms[number][0].authenticator.is_valid(caller)
            assert valid <= self.stands(token), "a stream goes on with a credential that has ended"
            assert valid >= self.stands(token)

    def teardown(self) -> None:
        for number in list(self.rooms):
            self.end(number)
        self.runner.close()
        shutil.rmtree(self.settings.data_dir)


async def admitted(access: Access, token: Token) -> Tier | None:
    """The tier a token is admitted with, as a gate finds it."""
    caller = access.authenticator.cached(token.text)
    try:
        caller = caller or await access.authenticator.authenticate(token.text)
    except ServiceError as error:
        assert error.code == "AUTH_INVALID", error  # noqa: PT017 - which error it is decides nothing else
        return None
    assert caller.user_id == token.user_id
    return caller.tier


def chosen(among: list[Token], which: int) -> Token:
    return among[which % len(among)]


def hold(folder: Path, seed: int, histories: int) -> int:
    async def make() -> None:
        async with open_database(folder / "empty.db", FakeClock()):
            pass

    asyncio.run(make())
    Accesses.folder, Accesses.secrets = folder, open_secrets(folder)
    return run_machine(Accesses, seed, histories)


@pytest.mark.slow
@pytest.mark.promise("keys.rotate", "revocation.several", "revocation.streams")
def test_whoever_is_admitted_is_whom_the_model_admits(tmp_path: Path, seed: int) -> None:
    assert hold(tmp_path, seed, 5) > 0


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_five_hundred_histories_of_credentials_admit_nobody_else(
    tmp_path: Path, seed: int, patience: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("histories", 5 * patience)
    record_property("steps", hold(tmp_path, seed, 5 * patience))
