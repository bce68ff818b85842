"""The tools for agents: their lists, and calls of each, by the official client."""

import json
from collections.abc import Awaitable, Mapping
from typing import Any, Final

from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from tests.golden.answers import Answer, normalised
from tests.golden.start import Running, tool_server

_ETHER: Final = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
_TIER: Final = "verdict://billing/tier"
_QUESTIONS: Final = 10
_LINK: Final = "0x514910771AF9CA656af840dff83E8264EcF986CA"

_CALLS: Final[Mapping[str, tuple[Mapping[str, Any], ...]]] = {
    "coin_risk": (
        {"symbol": "BTC"},
        {"symbol": "btc"},
        {"symbol": "PENGU", "view": "risk"},
        {"symbol": "FARTCOIN", "view": "trend"},
        {"symbol": "monero", "view": "id"},
        {"symbol": "Monero", "view": "name"},
        {"symbol": _LINK, "view": "contract", "chain": "ethereum"},
        {"symbol": _LINK, "view": "contract"},
        {"symbol": "etherium", "view": "resolve"},
        {"symbol": "zzzzqqqq", "view": "resolve"},
        {"symbol": "NOSUCH"},
        {"symbol": ""},
        {"symbol": 7},
        {"symbol": "BTC", "view": "price"},
        {"symbol": "BTC", "colour": "red"},
        {},
    ),
    "coins": (
        {},
        {"sort": "change_7d", "order": "asc", "limit": 5},
        {"sort": "score", "category": "Meme", "trend": "DOWN", "limit": 5},
        {"limit": 200},
        {"limit": 201},
        {"limit": 0},
        {"limit": "ten"},
        {"category": "Nothing"},
    ),
    "coin_verdict": (
        {"symbol": "BTC"},
        {"symbol": "PENGU"},
        {"symbol": "DOGE", "as_of": "2025-07-01"},
        {"symbol": "BTC", "as_of": "yesterday"},
        {"symbol": "NOSUCH"},
    ),
    "coin_history": (
        {"symbol": "BTC"},
        {"symbol": "ETH", "count": 7, "unit": "d"},
        {"symbol": "BTC", "count": 1000},
        {"symbol": "BTC", "count": 1001},
        {"symbol": "BTC", "count": 1.5},
        {"symbol": "BTC", "unit": "w"},
    ),
    "market_state": (
        {"view": "breadth"},
        {"view": "crossings"},
        {"view": "regime"},
        {"view": "signals"},
        {"view": "history", "symbol": "BTC"},
        {"view": "history"},
        {"view": "prices", "symbol": "BTC,ETH"},
        {"view": "prices"},
        {"view": "baselines", "symbol": "BTC,ETH"},
        {"view": "global"},
        {"view": "sentiment"},
        {"view": "sentiment", "symbol": "BTC"},
        {"view": "narratives"},
        {"view": "weather"},
        {},
    ),
    "category": (
        {"name": "Layer 1 (L1)", "view": "trend"},
        {"name": "Layer 1 (L1)", "view": "sentiment"},
        {"name": "Mem", "view": "trend"},
        {"name": "Meme"},
    ),
    "funding_alerts": ({}, {"symbol": "BTC"}, {"limit": 3}, {"symbol": "NOSUCH"}),
    "real_world_assets": ({}, {"symbol": "AAPL"}, {"symbol": "xyz:AAPL"}, {"symbol": "NOSUCH"}),
    "walkforward": (
        {"action": "signals"},
        {"action": "positions", "symbol": "ETH"},
        {"action": "outcomes", "limit": 3},
        {"action": "run"},
        {},
    ),
    "get_signal_quality": (
        {"asset": "BTC"},
        {"asset": "BTC", "signal_type": "trend-following"},
        {"asset": "BTC", "signal_type": "verdict"},
        {"asset": "NOSUCH"},
    ),
    "transcripts": (
        {"coin": "SOL", "limit": 2},
        {"macro": "inflation", "limit": 2},
        {"sector": "Meme", "limit": 2},
        {"limit": 1},
        {"coin": "NOSUCH"},
    ),
    "wallets": ({}, {"contract": _ETHER}, {"contract": _ETHER, "limit": 2}, {"contract": "0x00"}),
    "ask": (
        {"question": "How is ETH doing?"},
        {"question": "top 3 gainers this week"},
        {"question": "what is the weather"},
        {"question": ""},
        {"question": ["BTC"]},
    ),
    "nothing": ({},),
    "": ({},),
}


async def answers_of_tools(running: Running) -> list[Answer]:
    """Read every list and call every tool with a key; call one without, with a wrong one and with one that is spent."""
    pro, spent = await running.key("tools", "pro"), await running.key("spent tools", "free")
    mistyped = pro[:-1] + ("a" if pro[-1] != "a" else "b")
    with tool_server(running, pro) as server:
        async with Client(server) as client:
            answers = [*await _lists(client)]
            for tool, calls in _CALLS.items():
                answers += [await _call(client, tool, arguments) for arguments in calls]
    for who, token in (("nobody", None), ("mistyped", mistyped), ("spent", spent)):
        with tool_server(running, token) as server:
            async with Client(server) as client:
                for _ in range(_QUESTIONS if who == "spent" else 0):
                    await client.call_tool("market_state", {"view": "crossings"})
                answers += [await _call(client, "coin_risk", {"symbol": "BTC"}, who)]
                answers += [Answer(f"resources/read {_TIER} · {who}", await _response_of(client.read_resource(_TIER)))]
    return answers


async def _lists(client: Client) -> list[Answer]:
    assert client.server_info
    server = {"server": _dumped(client.server_info), "instructions": client.instructions}
    answers = [Answer("server", _shown(server))]
    tools, resources = await client.list_tools(), await client.list_resources()
    answers += [
        Answer(f"{kind}/list · {each.name}", _shown(_dumped(each)))
        for kind, listed in (("tools", tools.tools), ("resources", resources.resources))
        for each in listed
    ]
    for uri in (*(each.uri for each in resources.resources), "verdict://nothing"):
        answers.append(Answer(f"resources/read {uri}", await _response_of(client.read_resource(uri))))
    return answers


async def _call(client: Client, tool: str, arguments: Mapping[str, Any], who: str = "") -> Answer:
    title = " · ".join(filter(None, (f"tools/call {tool}", json.dumps(arguments), who)))
    return Answer(title, await _response_of(client.call_tool(tool, dict(arguments))))


async def _response_of(asked: Awaitable[BaseModel]) -> str:
    try:
        return _shown(_dumped(await asked))
    except MCPError as error:
        return _shown({"code": error.code, "message": error.message, "data": error.data}, "error")


def _dumped(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _shown(fields: Mapping[str, Any], head: str = "result") -> str:
    """A line of JSON for each field."""
    lines = [json.dumps({name: value}, ensure_ascii=False, separators=(",", ":")) for name, value in fields.items()]
    return normalised("\n".join([head, "", *lines]))
