from collections.abc import AsyncIterator
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from service.access.caller import Caller
from service.access.room import Access, open_access
from service.access.secrets import open_secrets
from service.market.desk import MarketDesk
from service.market.observed import Chart, Quote, Snapshot, State
from service.routes.call import Call, Endpoint
from service.routes.table import bind
from service.settings import Settings
from service.storage.database import open_database
from service.wire.envelope import Answer
from service.wire.offers import NoParameters
from tests.access.signing import login, wallet
from tests.fakes.clock import FakeClock

T = TypeVar("T", bound=msgspec.Struct)

PEPE = Quote("kPEPE", "KPEPE", 1e6, 0.0123, 1_753_444_790_000, 0.0000125, 1_753_444_795_000)


class Table:
    """The bound routes, called as the service calls them."""

    def __init__(self, bound: dict[str, Endpoint], access: Access, clock: FakeClock) -> None:
        self.bound = bound
        self.access = access
        self.clock = clock

    async def call(
        self, offer_id: str, caller: Caller | None = None, parameters: object = None, body: object = None
    ) -> Answer:
        result = self.bound[offer_id](Call(parameters or NoParameters(), body, caller))
        answer: Any = await result if isawaitable(result) else result
        assert isinstance(answer, Answer)
        return answer

    async def data(
        self, kind: type[T], offer_id: str, caller: Caller | None = None, parameters: object = None, body: object = None
    ) -> T:
        answer = await self.call(offer_id, caller, parameters, body)
        assert isinstance(answer.data, kind)
        return answer.data

    async def sign_in(self, number: int = 1) -> Caller:
        """A caller with a session of a wallet."""
        nonce = self.access.desk.nonce().nonce
        session = await self.access.desk.login(login(wallet(number), nonce, self.clock.now_ms()))
        return await self.access.doorkeeper.admit(session.token)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def table(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Table]:
    settings = Settings(data_dir=tmp_path, public_url="https://api.example.org")
    market = MarketDesk(clock)
    market.show(Snapshot(State("test", 1, quotes_ms=clock.now_ms()), [(PEPE, Chart())]))
    async with open_database(tmp_path / "verdict.db", clock) as db:
        access = await open_access(settings, open_secrets(tmp_path), db, clock)
        yield Table(bind(settings, clock.now_ms(), access.desk, market), access, clock)
