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
    Call("coin_risk", {"symbol": "FARTCOIN", "view": "trend"}, "coin.lookup"),
    Call("coin_risk", {"symbol": "fartcoin", "view": "id"}, "coin.lookup"),
    Call("coin_risk", {"symbol": "Fartcoin", "view": "name"}, "coin.lookup"),
    Call(
        "coin_risk",
        {"symbol": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "view": "contract", "chain": "ethereum"},
        "coin.by-contract",
    ),
    Call("coin_risk", {"symbol": "GAS", "view": "resolve"}, "resolve"),
    Call("coins", {"sort": "change_24h", "limit": 10}, "coins"),
    Call("coin_verdict", {"symbol": "BTC"}, "signal.brief"),
    Call("coin_history", {"symbol": "BTC", "count": 90, "unit": "d"}, "coin.historical.days"),
    Call("market_state", {"view": "breadth"}, "market.health.context"),
    Call("market_state", {"view": "crossings"}, "market.crossing"),
    Call("market_state", {"view": "regime"}, "regime.active"),
    Call("market_state", {"view": "signals"}, "regime.signals"),
    Call("market_state", {"view": "history", "symbol": "BTC"}, "regime.history"),
    Call("market_state", {"view": "prices", "symbol": "BTC,ETH"}, "market.prices"),
    Call("market_state", {"view": "baselines", "symbol": "BTC,ETH"}, "market.baselines"),
    Call("market_state", {"view": "global"}, "market.global"),
    Call("market_state", {"view": "sentiment"}, "sentiment.summary"),
    Call("market_state", {"view": "sentiment", "symbol": "BTC"}, "coin.sentiment"),
    Call("market_state", {"view": "narratives"}, "narratives"),
    Call("category", {"name": "Layer 1 (L1)", "view": "trend"}, "category.info"),
    Call("category", {"name": "Layer 1 (L1)", "view": "sentiment"}, "category.sentiment"),
    Call("funding_alerts", {}, "funding.alerts"),
    Call("real_world_assets", {}, "rwa.assets"),
    Call("real_world_assets", {"symbol": "AAPL"}, "rwa.symbol"),
    Call("real_world_assets", {"symbol": "xyz:AAPL"}, "rwa.asset"),
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
