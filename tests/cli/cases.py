"""Answers that views are tested with: the recorded ones, and those with nothing, unknown or stale values in them."""

from typing import Any, NamedTuple

from service.cli.commands import read_catalogue
from tests.cli.recorded import ANSWERS, answer


class Case(NamedTuple):
    """A view, the recorded answer it is given, and what is changed in it: values by their paths, separated by dots."""

    view: str
    recorded: str
    changed: dict[str, Any] = {}  # noqa: RUF012 - never written to
    as_of: str = ""

    def chosen(self) -> dict[str, object]:
        """Parameters of the request."""
        return {"action": self.recorded.rpartition(".")[2], "as_of": self.as_of}

    def given(self) -> tuple[Any, Any]:
        """Data and meta."""
        data, meta = ({}, {}) if self.view.startswith("receipts") else answer(self.recorded)
        for path, value in self.changed.items():
            *way, last = path.split(".")
            at = data
            for name in way:
                at = at[int(name) if isinstance(at, list) else name]
            at[int(last) if isinstance(at, list) else last] = value
        return data, meta


_RECEIPT: dict[str, Any] = {
    "id": "rcp_7f3a",
    "route": "coin.risk",
    "method": "GET",
    "resource": "http://127.0.0.1:8402/api/cli/coin/risk/BTC",
    "request_hash": "11" * 32,
    "response_hash": "22" * 32,
    "price_usdc": "0.005",
    "amount": "5000",
    "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "network": "eip155:84532",
    "payer": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
    "pay_to": "0x000000000000000000000000000000000000dEaD",
    "nonce": "0x" + "33" * 32,
    "transaction": "0x" + "44" * 32,
    "settlement": "ledger",
    "claimed_at": "2025-07-25T12:00:00.000Z",
    "settled_at": "2025-07-25T12:00:01.250Z",
}
_SIGNED = {"receipt": _RECEIPT, "signer": "0x5a12e180d23973EC190c97b0dAfae64eD151e5e5", "signature": "0x" + "55" * 65}
_PAID = [
    _RECEIPT,
    {**_RECEIPT, "price_usdc": "0.1"},
    {**_RECEIPT, "id": "rcp_1", "route": "question", "price_usdc": "0.2"},
]
_CURSOR = "AAABmD3ZfAAAAAAAAAAAbhNvt9Gy4-MTRWPy3LsjOhw"


def _unknown(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names)


_NOTHING_THEN = _unknown("priceUSD", "marketCap", "volume", "openInterest", "fundingRate", "futuresVolume24h", "as_of")
_NO_TRADES = {"total": 0, "wins": 0, "losses": 0, **_unknown("winRate", "meanReturnPct", "fundingKnown")}
_NO_RUN = {"engine": "verdict-walkforward-1", "total": 0, "message": "The engine has not run yet."}
_NO_OUTCOMES = {"all_coins": [], "this_coin": [], "asked": [], "void": 3}
_BEFORE, _AFTER = {"UP": 31, "HODL": 20, "DOWN": 29}, {"UP": 27, "HODL": 20, "DOWN": 33}
_CROSSING = {"at": "2025-07-24T00:00:00.000Z", "previous": _BEFORE, "current": _AFTER, "universe": 80}
_CROSSINGS = [
    {**_CROSSING, "direction": "DOWN over UP"},
    {**_CROSSING, "direction": "UP over DOWN", "previous": _AFTER, "current": _BEFORE},
]
_FUNDING = {"interval_hours": 8.0, "belongs_to": "perpetual"}
_SHORT = {
    "symbol": "X",
    "direction": "short",
    "conviction": 0.5,
    "entryDate": "2025-07-01",
    "holdDays": 1,
    "entryPrice": 200.0,
    "currentPrice": 150.0,
}

_VIEWS = {row.offer: row.view or row.offer.replace(".", "_") for row in reversed(read_catalogue())}
"""The view of each offer; its first command is not a short form."""


def _recorded(name: str) -> Case:
    """A recorded answer: it is named after its offer, and what else there is to say."""
    return Case(_VIEWS[max((offer for offer in _VIEWS if f"{name}.".startswith(f"{offer}.")), key=len)], name)


_RECORDED = [
    path.stem
    for path in sorted(ANSWERS.glob("*.json"))
    if not path.stem.startswith(("question", "refused", "receipts"))
]
_CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "coin.risk.stale": ("coin.risk", {"_stale_fields": ["price", "trend_weekly", "btc_correlation"]}),
    "coin.risk.unknown": (
        "coin.risk",
        {
            "_stale_fields": ["price", "funding_apr", "trend_daily", "trend_weekly", "sentiment_stance"],
            **_unknown("price", "funding_apr", "trend_daily", "trend_weekly", "sentiment_stance", "btc_correlation"),
            **_unknown("trend_daily_since", "trend_weekly_since", "funding_paying_side", "funding_receiving_side"),
            **_unknown("carry_if_long", "carry_if_short", "sentiment_summary"),
            "venue_symbol": "kPEPE",
        },
    ),
    "coin.risk.zero": (
        "coin.risk",
        {
            **dict.fromkeys(("funding_apr", "carry_if_long", "carry_if_short", "btc_correlation"), 0.0),
            **_unknown("funding_paying_side", "funding_receiving_side"),
        },
    ),
    "coin.historical.unknown": (
        "coin.historical",
        {"at": _NOTHING_THEN, "now": {**_NOTHING_THEN, "market_cap_as_of": None}, "change_pct": None, "series": []},
    ),
    "coin.historical.zero": (
        "coin.historical",
        {"at.openInterest": 0.0, "now.priceUSD": None, "series.0.volume": None},
    ),
    "signal.wrong": ("signal", {"score": 3.9, "sources": {"risk": "stale", "sentiment": "rejected"}}),
    "signal.insufficient": (
        "signal",
        {"verdict": "insufficient-evidence", "raw.risk": None, "claims": [], "omitted": {"claims": 1}, "record": None},
    ),
    "market.health.young": (
        "market.health.context",
        {
            **_unknown("velocity", "regime", "regime_age_days"),
            **{name: [] for name in ("leadership", "laggards", "divergences")},
            "trends": {"UP": 0, "HODL": 0, "DOWN": 0},
        },
    ),
    "market.health.extreme": (
        "market.health",
        {"extremes": [{"state": "DOWN", "share_pct": 61.25, "count": 49}], "regime": "risk-off", "regime_age_days": 1},
    ),
    "regime.none": ("regime.active", {"positions": []}),
    "regime.short": ("regime.active", {"positions": [_SHORT, {**_SHORT, "entryPrice": None}]}),
    "regime.signals.none": ("regime.signals", {"signals": []}),
    "regime.signals.long": ("regime.signals", {"signals.0.regime": "risk-on", "signals.0.direction": "long"}),
    "regime.history.none": ("regime.history", {"trades": [], "summary": _NO_TRADES, "currentPosition": None}),
    "regime.history.decided": ("regime.history", {"currentPosition.entryPrice": None}),
    "regime.history.past": ("regime.history", {"currentPosition": None}),
    "walkforward.none": ("walkforward.signals", {"meta": _NO_RUN}),
    "walkforward.signals.none": ("walkforward.signals", {"signals": []}),
    "walkforward.positions.none": ("walkforward.positions", {"positions": []}),
    "walkforward.outcomes.none": ("walkforward.outcomes", {"outcomes": [], "summary": None}),
    "walkforward.outcomes.refused": (
        "walkforward.outcomes",
        {
            "summary.strategies.0.sharpe": None,
            "summary.strategies.1.published": False,
            "summary.strategies.1.refused": "a decision knew the next day",
        },
    ),
    "signal.quality.validated": (
        "signal.quality",
        {"reliability_tier": "VALIDATED", "validations.sharpe": 0.4768, "validations.deflatedSharpe": 0.9},
    ),
    "signal.quality.none": ("signal.quality", {"validations.sampleSize": 0}),
    "coins.stale": (
        "coins",
        {
            "coins.0._stale_fields": ["price"],
            "coins.1._stale_fields": ["funding_apr"],
            "coins.1.funding_apr": None,
            "coins.1.verdict": None,
        },
    ),
    "coins.none": ("coins", {"coins": [], "meta": {"total": 0, "next_cursor": None}}),
    "resolve.none": ("resolve", {"query": "qq", "tried": ["symbol-exact"], "matches": []}),
    "resolve.note": ("resolve", {"note": "GAS is also a commodity."}),
    "category.info.unknown": (
        "category.info",
        {
            "trends": {"UP": 0, "HODL": 0, "DOWN": 0},
            "coins.0": {"symbol": "X", "name": "X", **_unknown("price", "change_24h", "market_cap", "trend_daily")},
            **_unknown("description", "market_cap", "change_24h", "volume_24h"),
        },
    ),
    "category.sentiment.unknown": (
        "category.sentiment",
        {
            **_unknown("score", "slope_24h"),
            "mentions": 0,
            "coins": [],
            "provenance": {"newest_at": None, "sources": []},
        },
    ),
    "sentiment.none": ("sentiment.slopes", {"count": 0, "categories": []}),
    "sentiment.unknown": (
        "sentiment.market",
        {"data.0.score": None, "data.0.slope_24h": None, "data.0.newest_at": None},
    ),
    "market.crossing.some": ("market.crossing", {"crossings": _CROSSINGS}),
    "funding.alerts.none": ("funding.alerts", {"events": [], "meta": {"total": 0, "next_cursor": None}}),
    "market.prices.stale": (
        "market.prices",
        {
            "_stale_fields": ["prices.bitcoin", "baselines.ethereum.b4h"],
            "baselines.ethereum.b4h": None,
            "missing": ["nosuch"],
        },
    ),
    "market.global.stale": ("market.global", {"_stale_fields": ["totalMarketCap", "marketCapPercentage"]}),
    "rwa.symbol.stale": ("rwa.symbol", {"_stale_fields": ["price", "trend_weekly"]}),
    "rwa.symbol.shorts-pay": ("rwa.symbol", {"funding": {**_FUNDING, "rate": -0.0001, "apr": -10.95}}),
    "rwa.symbol.unknown": ("rwa.symbol", {"funding": {**_FUNDING, "rate": None, "apr": None}}),
    "transcripts.highlights.escaped": (
        "transcripts.highlights",
        {
            "highlights.0.quote": "Bulls &amp; &lt;b&gt;",
            "highlights.0.speaker": None,
            "highlights.0.start_seconds": 125,
        },
    ),
    "transcripts.highlights.none": (
        "transcripts.highlights",
        {"highlights": [], "meta": {"total": 0, "by_source": {}, "next_cursor": None}},
    ),
    "wallets.watchlist.still": (
        "wallets.watchlist",
        {"watchlist.0.label": None, "watchlist.0.kind": None, "watchlist.0.tokens": [], "meta.chainId": None},
    ),
    "wallets.watchlist.none": ("wallets.watchlist", {"watchlist": []}),
    "wallets.movements.unknown": (
        "wallets.movements",
        {
            "movements.0.token": None,
            "movements.0.label": None,
            "movements.0.amount": "1234567",
            "movements.0.amount_usd": None,
        },
    ),
    "wallets.movements.none": ("wallets.movements", {"movements": []}),
    "manifest.free": ("manifest", {"networks": []}),
    "billing.tier.wallet": (
        "billing.tier",
        {
            "expiresAt": "2025-08-01T00:00:00.000Z",
            "source": "wallet",
            "identity": {"kind": "session", "userId": 3, "walletAddress": _RECEIPT["payer"]},
        },
    ),
}
"""Recorded answers, and what is changed in them."""

CASES: dict[str, Case] = {
    **{name: _recorded(name) for name in _RECORDED},
    **{name: _recorded(recorded)._replace(changed=changed) for name, (recorded, changed) in _CHANGED.items()},
    "coins.by.market-cap": Case("coins_market_cap", "coins"),
    "top.verdicts": Case("coins_score", "coins"),
    "signal.past": Case(
        "signal", "signal", {"raw.risk": None, "claims": None, "record": None}, as_of="2025-07-01T12:00:00Z"
    ),
    "scorecard": Case("scorecard", "signal.quality.verdict"),
    "scorecard.none": Case(
        "scorecard", "signal.quality.verdict", {"record.live": _NO_OUTCOMES, "record.backtested": None}
    ),
    "receipts.list": Case("receipts_list", "", {"receipts": _PAID, "next_cursor": _CURSOR}),
    "receipts.none": Case("receipts_list", "", {"receipts": [], "next_cursor": None}),
    "receipts.get": Case("receipts_get", "", _SIGNED),
}
