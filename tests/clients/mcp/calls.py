"""A call of every tool in every way it can be asked, and the answer of the service that it is made from."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One call, and the name of the frozen answer."""

    tool: str
    arguments: Mapping[str, Any]
    answer: str


CALLS = (
    Call("coin_risk", {"symbol": "BTC"}, "coin.risk"),
    Call("coins", {"sort": "change_24h", "limit": 10}, "coins"),
    Call("coin_verdict", {"symbol": "BTC"}, "signal.btc"),
    Call("coin_history", {"symbol": "BTC", "count": 90, "unit": "d"}, "coin.historical.days"),
    Call("market_state", {"view": "breadth"}, "market.health.context"),
    Call("market_state", {"view": "crossings"}, "market.crossing"),
    Call("market_state", {"view": "regime"}, "regime.active"),
    Call("market_state", {"view": "signals"}, "regime.signals"),
    Call("market_state", {"view": "history", "symbol": "BTC"}, "regime.history"),
    Call("category", {"name": "Layer 1 (L1)", "view": "trend"}, "category.info"),
    Call("category", {"name": "Layer 1 (L1)", "view": "sentiment"}, "category.sentiment"),
    Call("funding_alerts", {}, "funding.alerts"),
    Call("real_world_assets", {}, "rwa.assets"),
    Call("real_world_assets", {"symbol": "AAPL"}, "rwa.symbol"),
    Call("walkforward", {"action": "signals"}, "walkforward.signals"),
    Call("walkforward", {"action": "positions"}, "walkforward.positions"),
    Call("walkforward", {"action": "outcomes"}, "walkforward.outcomes"),
    Call("get_signal_quality", {"asset": "BTC", "signal_type": "trend-following"}, "signal.quality"),
    Call("get_signal_quality", {"asset": "BTC", "signal_type": "verdict"}, "signal.quality.verdict"),
    Call("transcripts", {"coin": "SOL"}, "transcripts.highlights"),
    Call("wallets", {}, "wallets.watchlist"),
    Call("wallets", {"contract": "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"}, "wallets.movements"),
    Call("ask", {"question": "How is ETH doing?"}, "question"),
)
IDS = [f"{call.tool}-{call.answer}" for call in CALLS]
