"""What questions look up, over a service that knows everything: the very payloads of the data routes."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.access.caller import Caller
from service.ask.data_services import AskDependencies, Toolbox, open_toolbox, path_of
from service.errors import ServiceError
from service.wire.envelope import Answer
from tests.service.indoors import Indoors, Kept
from tests.service.questioning import questioned

WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"

OFFERED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("coin.risk", {"symbol": "BTC"}),
    ("coin.risk", {"symbol": "PEPE"}),
    ("signal", {"symbol": "SOL"}),
    ("regime", {"action": "active"}),
    ("regime", {"action": "history", "symbol": "BTC"}),
    ("regime", {"action": "signals"}),
    ("regime", {"action": "confidence", "symbol": "ETH"}),
    ("market.health", {"context": 1}),
    ("market.crossing", {}),
    ("funding.alerts", {"symbol": "DOGE", "since": "2025-07-01T00:00:00Z", "limit": 5}),
    ("category.info", {"name": "Layer 1 (L1)"}),
    ("category.sentiment", {"name": "Meme"}),
    ("rwa.symbol", {"symbol": "xyz:AAPL"}),
    ("rwa.assets", {"type": "metal", "top": 3}),
    ("walkforward", {"action": "outcomes", "limit": 5}),
    ("signal.quality", {"asset": "BTC", "signal_type": "trend-following"}),
    ("signal.quality", {"asset": "BTC", "signal_type": "verdict"}),
    ("transcripts", {"action": "highlights", "coin": "SOL", "since": "2025-07-01T00:00:00.000Z", "limit": 3}),
    ("transcripts", {"action": "highlights", "sector": "Meme", "limit": 5}),
    ("transcripts", {"action": "sources"}),
    ("wallets", {"action": "watchlist"}),
    ("wallets", {"action": "movements", "contract": WETH, "limit": 5}),
    ("manifest", {}),
)
"""Tools that have a route, and what they are asked."""


class Bench:
    """A service, and the tools of its questions."""

    def __init__(self, house: Indoors, rooms: AskDependencies, key: str) -> None:
        self.house = house
        self.rooms = rooms
        self.tools: Toolbox = open_toolbox(rooms)
        self.key = key

    async def run(self, tool: str, args: Mapping[str, Any], caller: Caller | None = None) -> Answer:
        return await self.tools.run(tool, args, caller)

    async def payload(self, tool: str, args: Mapping[str, Any], **named: Any) -> Any:
        answer = await self.run(tool, args, **named)
        assert isinstance(answer.data, msgspec.Raw)
        return msgspec.json.decode(answer.data)


@pytest.fixture
async def bench(kept: Kept, tmp_path: Path) -> AsyncIterator[Bench]:
    async with questioned(kept, tmp_path / "data") as (house, rooms, _):
        yield Bench(house, rooms, kept.key)


async def test_a_tool_finds_what_its_route_answers_byte_for_byte(bench: Bench) -> None:
    for tool, args in OFFERED:
        found = await bench.run(tool, args)
        path = path_of(tool, args)
        assert path is not None
        reply = await bench.house.ask(path, key=bench.key)
        assert reply.status == 200, path
        assert isinstance(found.data, msgspec.Raw)
        assert b'{"schemaVersion":1,"data":' + bytes(found.data) + b',"meta":{' in reply.body, path


async def test_a_refusal_is_the_desks_own(bench: Bench) -> None:
    for tool, args, code in (
        ("coin.risk", {"symbol": "NOPE"}, "UNKNOWN_SYMBOL"),
        ("category.info", {"name": "Nope"}, "UNKNOWN_CATEGORY"),
        ("rwa.assets", {"top": 0}, "BAD_REQUEST"),
        ("funding.alerts", {"since": "2025-02-30T00:00:00Z"}, "BAD_REQUEST"),
        ("glossary", {"term": "nope"}, "NOT_FOUND"),
        ("transcripts", {"coin": "NOPE"}, "UNKNOWN_SYMBOL"),
        ("wallets", {"address": f"0x{'0' * 40}"}, "NOT_FOUND"),
        ("wallets.recent", {"days": 0}, "BAD_REQUEST"),
        ("billing.tier", {}, "AUTH_REQUIRED"),
        ("billing.quota", {}, "AUTH_REQUIRED"),
    ):
        with pytest.raises(ServiceError) as refused:
            await bench.run(tool, args)
        assert refused.value.code == code, tool


async def test_what_nobody_follows_is_found_empty_and_costs_nothing(bench: Bench) -> None:
    for tool, args in (
        ("wallets.recent", {"days": 7, "limit": 3}),
        ("wallets", {"action": "movements", "contract": WETH}),
        ("transcripts", {"action": "highlights", "coin": "BTC"}),
    ):
        assert not (await bench.run(tool, args)).counted, tool
    told = await bench.payload("wallets.recent", {"days": 7, "limit": 3})
    assert (told["days"], told["wallets"], told["chainId"], told["total"], told["movements"]) == (7, 0, None, 0, [])


async def test_an_account_is_its_callers_own(bench: Bench) -> None:
    key = await bench.house.make_key("access")
    reply = await bench.house.ask("/api/cli/billing/tier", key=key)
    caller = Caller(reply.json["data"]["identity"]["userId"], "api_key", 1, "access", "grant")
    assert (await bench.payload("billing.tier", {}, caller=caller))["tier"] == "access"
    before = await bench.payload("billing.quota", {}, caller=caller)
    await bench.house.ask("/api/cli/coin/risk/BTC", key=key)
    after = await bench.payload("billing.quota", {}, caller=caller)
    assert (before["used"], before["remaining"], before["limit"], before["period"]) == (0, 50, 50, "day")
    assert (after["used"], after["remaining"]) == (1, 49)
    assert after["resets_at"].endswith("T00:00:00.000Z")


async def test_who_has_no_limit_is_told_none(bench: Bench) -> None:
    told = await bench.payload("billing.quota", {}, caller=Caller(7, "api_key", 1, "pro", "grant"))
    assert (told["limit"], told["remaining"], told["resets_at"]) == (None, None, None)
