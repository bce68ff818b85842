"""MCP resources (capabilities, plan, manifest) and prompts."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from mcp import types
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from service.client.answer import reading
from service.mcp.tool_results import clean
from service.mcp.tools import TOOLS

_JSON: Final = "application/json"
CAPABILITIES: Final = "verdict://capabilities"
TIER: Final = "verdict://billing/tier"
MANIFEST: Final = "verdict://manifest"

ROUTES: Final[Mapping[str, str]] = {CAPABILITIES: "manifest", TIER: "billing.tier", MANIFEST: "manifest"}
"""Which route a resource is made from; none of them costs anything."""

_LISTED: Final = (
    (CAPABILITIES, "capabilities", "Capabilities", "What each tool costs and how fresh it is; the free plan; limits."),
    (TIER, "billing/tier", "Plan", "The caller's tier, where it comes from, and when it ends."),
    (MANIFEST, "manifest", "Manifest", "Every route of the service with its parameters and price."),
)


def list_resources() -> types.ListResourcesResult:
    """All resources."""
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=name, title=title, description=description, mime_type=_JSON)
            for uri, name, title, description in _LISTED
        ]
    )


def read_resource(uri: str, document: Any, *, pays: bool, most_bytes: int) -> types.ReadResourceResult:
    """One resource.

    Args:
        uri: A key of `ROUTES`.
        document: What that route answered.
        pays: Whether this tool server pays.
        most_bytes: Of a tool's answer.

    Raises:
        UnreadableAnswerError: If the document is not what the route answers.
    """
    with reading():
        shown = capabilities(document["data"], pays=pays, most_bytes=most_bytes) if uri == CAPABILITIES else document
    text = json.dumps(clean(shown), ensure_ascii=False, separators=(",", ":"))
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


def capabilities(manifest: Mapping[str, Any], *, pays: bool, most_bytes: int) -> dict[str, Any]:
    """What can be asked here, at what price, how fresh; from the service's own manifest, so that prices are its."""
    routes = {route["id"]: route for route in manifest["routes"]}
    return {
        "service": manifest["service"],
        "version": manifest["version"],
        "tools": [
            {
                "name": tool.name,
                "title": tool.title,
                "price_usdc": routes[tool.offers[0]]["price_usdc"],
                "refresh_seconds": routes[tool.offers[0]]["refresh_seconds"],
            }
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


class Prompt(Struct, frozen=True, kw_only=True):
    """One prompt; its text has a place for a symbol if it takes one."""

    name: str
    title: str
    description: str
    text: str
    takes_symbol: bool = False


PROMPTS: Final = (
    Prompt(
        name="daily_brief",
        title="Daily brief",
        description="The market today in a few lines: breadth, regime, funding extremes. Three calls.",
        text="Write a brief of the crypto market today, ten lines at most. Call market_state with view=breadth, then "
        "with view=regime, then funding_alerts. Lead with what changed; end with what would change the picture.",
    ),
    Prompt(
        name="risk_check",
        title="Risk check",
        description="What speaks for and against holding a coin now. Two calls.",
        text="Check the risk of holding {symbol} now. Call coin_risk, then coin_verdict. Say what funding costs or "
        "pays each side, whether daily and weekly trend agree, how close it moves with BTC, and which value flips the "
        "verdict.",
        takes_symbol=True,
    ),
    Prompt(
        name="explain_verdict",
        title="Explain a verdict",
        description="How the rules came to a coin's verdict, for somebody who has not seen them. One call.",
        text="Explain the verdict on {symbol} to somebody who does not know the rules. Call coin_verdict. Show that "
        "the contributions add up to the score, give the sentence behind each, name the nearest value that flips one, "
        "and say how such verdicts have turned out, or that too few have.",
        takes_symbol=True,
    ),
)

_ASKED: Final = types.PromptArgument(name="symbol", description="Ticker, e.g. BTC", required=True)


def list_prompts() -> types.ListPromptsResult:
    """All prompts."""
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[_ASKED] if prompt.takes_symbol else None,
            )
            for prompt in PROMPTS
        ]
    )


def get_prompt(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    """One prompt, filled in.

    Raises:
        MCPError: If there is none of that name, or its symbol is missing or none.
    """
    prompt = next((prompt for prompt in PROMPTS if prompt.name == name), None)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {name!r}")
    symbol = arguments.get("symbol", "")
    if prompt.takes_symbol and not _SYMBOL.fullmatch(symbol):
        raise MCPError(types.INVALID_PARAMS, f"{name} takes a symbol: a ticker such as BTC")
    text = f"{prompt.text.format(symbol=symbol.upper())} {_HONESTY}"
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])
