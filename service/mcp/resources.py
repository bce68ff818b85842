"""MCP resources (capabilities, plan, manifest) and prompts."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from mcp import types
from mcp.shared.exceptions import MCPError

from service.client.answer import reading
from service.mcp.tool_results import clean
from service.mcp.tools import TOOLS

_CAPABILITIES: Final = "verdict://capabilities"


def _resource(path: str, title: str, description: str) -> types.Resource:
    uri = f"verdict://{path}"
    return types.Resource(uri=uri, name=path, title=title, description=description, mime_type="application/json")


_RESOURCES: Final = (
    _resource("capabilities", "Capabilities", "What each tool costs and how fresh it is; the free plan; limits."),
    _resource("billing/tier", "Plan", "The caller's tier, where it comes from, and when it ends."),
    _resource("manifest", "Manifest", "Every route of the service with its parameters and price."),
)
RESOURCES: Final = {
    each.uri: (each, route) for each, route in zip(_RESOURCES, ("manifest", "billing.tier", "manifest"), strict=True)
}
"""Each with the route that it is made from; none of them costs anything."""


def shown(uri: str, document: Any, *, pays: bool, most_bytes: int) -> str:
    """The text of a resource.

    Args:
        uri: A key of `RESOURCES`.
        document: What its route answered.
        pays: Whether this tool server pays.
        most_bytes: Of a tool's answer.

    Raises:
        UnreadableAnswerError: If the document is not what the route answers.
    """
    with reading():
        if uri == _CAPABILITIES:
            document = _capabilities(document["data"], pays=pays, most_bytes=most_bytes)
        return json.dumps(clean(document), ensure_ascii=False, separators=(",", ":"))


def _capabilities(manifest: Mapping[str, Any], *, pays: bool, most_bytes: int) -> dict[str, Any]:
    """What can be asked here, at what price, how fresh; from the service's own manifest, so that prices are its."""
    routes = {route["id"]: route for route in manifest["routes"]}
    return {
        "service": manifest["service"],
        "version": manifest["version"],
        "tools": [
            {"name": tool.name, "title": tool.title}
            | {name: routes[tool.offers[0]][name] for name in ("price_usdc", "refresh_seconds")}
            for tool in TOOLS
        ],
        "free": manifest["free"],
        "tiers": manifest["tiers"],
        "settlement": manifest["settlement"],
        "limits": {"answer_bytes": most_bytes, "pays_by_itself": pays},
        "not_here": "Live streams and everything about keys: use the command line or the API.",
    }


_SYMBOL: Final = re.compile(r"[A-Za-z0-9]{1,20}")
_HONESTY: Final = (
    "Use only figures that the tools return, say of when they are, and say what notes and _stale_fields say. Where a "
    "tool has no answer, say so; never fill a gap from memory. This is information, no advice."
)


def _prompt(name: str, title: str, description: str, text: str) -> tuple[types.Prompt, str]:
    """A prompt, which takes a symbol if its text has a place for one."""
    symbol = types.PromptArgument(name="symbol", description="Ticker, e.g. BTC", required=True)
    arguments = [symbol] if "{symbol}" in text else None
    return types.Prompt(name=name, title=title, description=description, arguments=arguments), text


_PROMPTS: Final = (
    _prompt(
        "daily_brief",
        "Daily brief",
        "The market today in a few lines: breadth, regime, funding extremes. Three calls.",
        "Write a brief of the crypto market today, ten lines at most. Call market_state with view=breadth, then with "
        "view=regime, then funding_alerts. Lead with what changed; end with what would change the picture.",
    ),
    _prompt(
        "risk_check",
        "Risk check",
        "What speaks for and against holding a coin now. Two calls.",
        "Check the risk of holding {symbol} now. Call coin_risk, then coin_verdict. Say what funding costs or pays "
        "each side, whether daily and weekly trend agree, how close it moves with BTC, and which value flips the "
        "verdict.",
    ),
    _prompt(
        "explain_verdict",
        "Explain a verdict",
        "How the rules came to a coin's verdict, for somebody who has not seen them. One call.",
        "Explain the verdict on {symbol} to somebody who does not know the rules. Call coin_verdict. Show that the "
        "contributions add up to the score, give the sentence behind each, name the nearest value that flips one, and "
        "say how such verdicts have turned out, or that too few have.",
    ),
)
PROMPTS: Final = {prompt.name: (prompt, text) for prompt, text in _PROMPTS}
"""Each with its text."""


def get_prompt(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    """One prompt, filled in.

    Raises:
        MCPError: If there is none of that name, or its symbol is missing or none.
    """
    if name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {name!r}")
    prompt, text = PROMPTS[name]
    symbol = arguments.get("symbol", "")
    if prompt.arguments and not _SYMBOL.fullmatch(symbol):
        raise MCPError(types.INVALID_PARAMS, f"{name} takes a symbol: a ticker such as BTC")
    content = types.TextContent(text=f"{text.format(symbol=symbol.upper())} {_HONESTY}")
    message = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(description=prompt.description, messages=[message])
