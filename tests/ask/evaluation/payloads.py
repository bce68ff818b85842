"""What the routes answer, asked of them directly, and what follows from it by arithmetic of its own."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from fixtures.coins import CATEGORIES, COINS
from fixtures.made import END_MS
from service.clock import parse_iso

Data = Callable[[str], Any]
"""The payload of a data route, by its path and query below `/api/cli/`."""

_NAMED: Final = {
    "coin.risk": "coin/risk/{symbol}",
    "coin.historical": "coin/historical/{symbol}",
    "signal": "signal/{symbol}",
    "category.info": "category/info/{name}",
    "category.sentiment": "category/sentiment/{name}",
    "rwa.symbol": "rwa/symbol/{symbol}",
    "rwa.assets": "rwa/assets",
    "market.health": "market/health",
    "market.crossing": "market/crossing",
    "funding.alerts": "funding/alerts",
    "regime": "regime",
    "walkforward": "walkforward",
    "transcripts": "transcripts",
    "wallets": "wallets",
    "billing.tier": "billing/tier",
    "manifest": "manifest",
}
"""Tool → its route."""

TOOLS: Final = (*_NAMED, "scan", "wallets.recent", "compute.carry", "compute.value", "billing.quota", "glossary")
"""Everything that may be called; facts are not demanded of the last two, which no route gives."""

YEAR_DAYS: Final = 365
DAY_MS: Final = 86_400_000


class Payloads:
    """What every tool gives, asked of a running service once each."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._told: dict[str, Any] = {}
        self._rows: list[dict[str, Any]] | None = None

    def of(self, tool: str, args: Mapping[str, Any]) -> Any:
        """What a tool gives."""
        if tool == "scan":
            return self._scan(args)
        if tool == "wallets.recent":
            return self._recent(args)
        if tool == "compute.carry":
            return carry_of(self._route("coin.risk", {"symbol": args["symbol"]}), args)
        if tool == "compute.value":
            return value_of(self._route("coin.risk", {"symbol": args["symbol"]}), args)
        return self._route(tool, args)

    def _route(self, tool: str, args: Mapping[str, Any]) -> Any:
        template = _NAMED[tool]
        in_path = set(re.findall(r"{(\w+)}", template))
        path = template.format(**{name: quote(str(args[name]), safe="") for name in in_path})
        query = urlencode({name: value for name, value in args.items() if name not in in_path and value is not None})
        target = f"{path}?{query}" if query else path
        if target not in self._told:
            self._told[target] = self._data(target)
        return self._told[target]

    def _recent(self, args: Mapping[str, Any]) -> Any:
        """All movements of every token, page by page; a transfer between two watched wallets is its sender's."""
        watched = self._route("wallets", {})["watchlist"]
        own = {wallet["address"] for wallet in watched}
        since_ms = END_MS - args.get("days", 1) * DAY_MS
        rows = [row for contract in sorted(_contracts(watched)) for row in self._moved(contract)]
        rows = [row for row in rows if row["amount_usd"] is not None and parse_iso(row["ts"]) >= since_ms]
        rows = [row for row in rows if row["direction"] == "out" or row["counterparty"] not in own]
        rows.sort(key=lambda row: (row["amount_usd"], row["block"]), reverse=True)
        return {"movements": rows[: args.get("limit", 10)], "total": len(rows), "wallets": len(watched)}

    def _moved(self, contract: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        args = {"action": "movements", "contract": contract, "limit": 200}
        while True:
            page = self._route("wallets", args)
            rows += page["movements"]
            if page["meta"]["next_cursor"] is None:
                return rows
            args = {**args, "cursor": page["meta"]["next_cursor"]}

    def _scan(self, args: Mapping[str, Any]) -> Any:
        rows = self._all_rows()
        if args.get("category"):
            members = {row["symbol"] for row in self._route("category.info", {"name": args["category"]})["coins"]}
            rows = [row for row in rows if row["symbol"] in members]
        state = args.get("trend")
        field, by = f"trend_{args.get('timeframe') or 'daily'}", args.get("by", "change_24h")
        rows = [row for row in rows if row["symbol"] not in (args.get("exclude") or ())]
        rows = [row for row in rows if state in (None, row[field]) and row[by] is not None]
        rows.sort(key=lambda row: row[by], reverse=args.get("order", "most") == "most")
        return {"coins": rows[: args.get("limit") or 50]}

    def _all_rows(self) -> list[dict[str, Any]]:
        if self._rows is None:
            infos = [self._route("category.info", {"name": name}) for name in CATEGORIES.values()]
            changes = {row["symbol"]: row["change_24h"] for info in infos for row in info["coins"]}
            self._rows = [self._row(coin.name.upper(), changes) for coin in COINS]
        return self._rows

    def _row(self, symbol: str, changes: Mapping[str, float | None]) -> dict[str, Any]:
        risk = self._route("coin.risk", {"symbol": symbol})
        now = self._route("coin.historical", {"symbol": symbol, "count": 1, "unit": "d"})["now"]
        known = ("symbol", "price", "funding_apr", "trend_daily", "trend_weekly", "btc_correlation")
        return {
            **{name: risk[name] for name in known},
            "change_24h": changes.get(symbol),
            "volume_usd": now["futuresVolume24h"],
            "open_interest_usd": now["openInterest"],
        }


def _contracts(watched: Sequence[Mapping[str, Any]]) -> set[str]:
    return {token["contract"] for wallet in watched for token in wallet["tokens"]}


def carry_of(risk: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, float]:
    """What each side of a position receives (paid: negative) if funding stays as it is."""
    paid = args["notional_usd"] * risk["funding_apr"] / 100 * args["days"] / YEAR_DAYS
    return {"long_usd": -paid, "short_usd": paid}


def value_of(risk: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, float]:
    """What an amount of a coin is worth, or how many of it an amount of USD buys."""
    if args["unit"] == "USD":
        return {"usd": args["amount"], "quantity": args["amount"] / risk["price"]}
    return {"usd": args["amount"] * risk["price"], "quantity": args["amount"]}


def at(payload: Any, pointer: str) -> list[Any]:
    """Values at a pointer: one, several where it holds `*`, none where there is nothing."""
    values = [payload]
    for part in pointer.split("/")[1:]:
        values = [found for value in values for found in _step(value, part)]
    return [value for value in values if value is not None]


def _step(value: Any, part: str) -> list[Any]:
    if isinstance(value, list):
        if part == "*":
            return value
        if part.startswith("["):
            key, _, wanted = part[1:-1].partition("=")
            return [each for each in value if each.get(key) == wanted]
        return value[int(part) : int(part) + 1]
    return [value[part]] if isinstance(value, dict) and part in value else []
