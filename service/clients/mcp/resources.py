"""Resources: what the tools can and cost, which plan the caller has, and the service's manifest as it is."""

import json
from collections.abc import Mapping
from typing import Any, Final

from mcp import types

from service.clients.mcp.clean import clean
from service.clients.mcp.tools import TOOLS
from service.clients.sdk.answer import reading

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


def listed() -> types.ListResourcesResult:
    """All resources."""
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=name, title=title, description=description, mime_type=_JSON)
            for uri, name, title, description in _LISTED
        ]
    )


def written(uri: str, document: Any, *, pays: bool, most_bytes: int) -> types.ReadResourceResult:
    """One resource.

    Args:
        uri: A key of `ROUTES`.
        document: What that route answered.
        pays: Whether this tool server pays.
        most_bytes: Of a tool's answer.

    Raises:
        UnreadableError: If the document is not what the route answers.
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
