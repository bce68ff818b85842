"""One-line text summaries of answers, for hosts that show a model only the text.

Templates are format strings: `{price:usd}` writes a number in a format of `service.formats` (a hyphen for null),
`{verdict:or no verdict}` has words for a value that is null or empty, and `{clearedAt:if  (over)}` has some for one
that is neither.
"""

import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from service import formats

_FEW: Final = 8
_FORMATS: Final[Mapping[str, Callable[[Any], str]]] = {
    "usd": formats.usd,
    "money": formats.money,
    "signed": formats.change,
    "percent": formats.percent,
    "share": formats.share,
    "day": formats.day,
    "label": formats.label,
}

Data = Mapping[str, Any]


class _Templates(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        kind, _, words = format_spec.partition(" ")
        if kind in _FORMATS:
            return "-" if value is None else _FORMATS[kind](value)
        if kind == "if":
            return words if value else ""
        return str(value or words) if kind == "or" else str(value)


_TEMPLATES: Final = _Templates()


def summarize(offer: str, data: Data) -> str:
    """Say what a payload says.

    Args:
        offer: Id of the route that it is of.
        data: The payload, as it came.
    """
    return _SUMMARIES[offer](data)


def _say(template: str, data: Data, **more: Any) -> str:
    return _TEMPLATES.vformat(template, (), {**data, **more})


def _few(texts: Iterable[str]) -> str:
    every = list(texts)
    return ", ".join(every[:_FEW]) + (f" and {len(every) - _FEW} more" if len(every) > _FEW else "") or "none"


def _text(template: str) -> Callable[[Data], str]:
    return lambda data: _say(template, data)


def _rows(name: str, template: str, row: str) -> Callable[[Data], str]:
    """Says `size` and the first `rows` of a list, or of an object's values."""

    def say(data: Data) -> str:
        found = data[name]
        each = found.values() if isinstance(found, dict) else found
        return _say(template, data, size=len(found), rows=_few(_say(row, one) for one in each))

    return say


def _signal(data: Data) -> str:
    sentences = data["evidence"]
    counting = [sentences[rule["evidence"]] for rule in data["rules"] if rule["contribution"]]
    claim = "{target:label} after {days} days: {probability:share} (base rate {base_rate:share})."
    claims = [_say(claim, each) for each in data["claims"] or ()]
    unclaimed = "No probability is claimed for such a verdict; get_signal_quality has the record of verdicts."
    price = "" if data["price"] is None else _say(" at {price:usd}", data)
    start = f"{data['symbol']}{price}: {data['verdict']}."
    return " ".join([start, *counting, *sentences[-2:], *(claims or [unclaimed])])


def _crossing(data: Data) -> str:
    crossings = data["crossings"]
    text = "{size} crossings in 90 days, the last on {at:day}: {direction}."
    return _say(text, crossings[0], size=len(crossings)) if crossings else "No crossing."


def _regime(data: Data) -> str:
    if "market" in data:
        text = "The market is {market[regime]} since {market[since]:day}. {size} positions: {rows}."
        return _rows("positions", text, "{symbol} {direction}")(data)
    if "signals" in data:
        return _rows("signals", "{size} turns, the newest first: {rows}.", "{symbol} {regime} ({firedAt:day})")(data)
    held = data["currentPosition"]
    return _say(
        "{symbol}: {summary[total]} closed trades, {summary[winRate]:share} won, {summary[meanReturnPct]:signed} on "
        "average after costs; now {now}.",
        data,
        now=_say("{direction} since {entryDate:day}", held) if held else "no position",
    )


def _category(data: Data) -> str:
    return _say(
        "{name}: {change_24h:signed} in 24 h; {states}. Ahead: {ahead}. Behind: {behind}.",
        data,
        states=", ".join(f"{count} {state}" for state, count in data["trends"].items()),
        ahead=_few(data["leaders"]),
        behind=_few(data["laggards"]),
    )


def _item(data: Data) -> str:
    return _say("{entity_id}: {summary}", data.get("data", data))


def _walkforward(data: Data) -> str:
    name = next(name for name in ("signals", "positions", "outcomes") if name in data)
    found = (
        "{size} {name}: {rows}."
        if data.get("summary") is None
        else "{summary[total]} outcomes, {summary[winRate]:share} won, {summary[meanReturnPct]:signed} on average; "
        "deflated Sharpe {summary[deflatedSharpe]:share}, maximum drawdown {summary[maxDrawdownPct]:percent}. "
        "The newest: {rows}."
    )
    return _rows(name, found, "{symbol} {direction}")({**data, "name": name})


def _quality(data: Data) -> str:
    if data["signal_type"] == "verdict":
        return str(data["message"])
    return _say(
        "{asset}, {signal_type}: {reliability_tier}. {validations[sampleSize]} trades, {validations[winRate]:share} "
        "won, {validations[meanReturnPct]:signed} on average; deflated Sharpe {confidence:share}.",
        data,
    )


def _transcripts(data: Data) -> str:
    rows = [{**row, "about": _few(row["coins"])} for row in data["highlights"]]
    text = "{source} ({publishedAt:day}) on {about}"
    return _rows("highlights", "{size} quotes: {rows}.", text)({"highlights": rows})


def _wallets(data: Data) -> str:
    if "watchlist" in data:
        return _rows("watchlist", "{size} wallets are watched: {rows}.", "{label:or {address}}")(data)
    row = "{amount} {token:or tokens} {direction} ({label:or {address}})"
    return _rows("movements", "{size} movements: {rows}.", row)(data)


def _baselines(data: Data) -> str:
    def past(prices: Data) -> str:
        return ", ".join(f"{_say('{price:usd}', {}, price=price)} {name[1:]} ago" for name, price in prices.items())

    return f"Past prices: {_few(f'{key} {past(prices)}' for key, prices in data['baselines'].items())}."


def _global(data: Data) -> str:
    parts = data["marketCapPercentage"].items()
    shares = _few(_say("{name} {part:percent}", {}, name=ticker.upper(), part=part) for ticker, part in parts)
    return _say("{totalMarketCap[market_cap_usd]:money} in {scope}: {shares}.", data, shares=shares)


def _lookup(data: Data) -> str:
    now = data["currentTrend"]
    trend = f"{now['trend']} since {now['since']}" if now else "trend unknown"
    return _say("{name:or {symbol}} ({symbol}) at {price:usd}: {trend}.", data["coin"], trend=trend)


_ASSET: Final = _text(
    "{name} ({id}) at {price:usd}, {change_24h:signed} in 24 h; daily trend {trend_daily:or unknown}, weekly "
    "{trend_weekly:or unknown}; the perpetual's funding {funding[apr]:signed} a year."
)
_SUMMARIES: Final[Mapping[str, Callable[[Data], str]]] = {
    "coin.risk": _text(
        "{symbol} at {price:usd}; daily trend {trend_daily:or unknown}, weekly {trend_weekly:or unknown}; funding "
        "{funding_apr:signed} a year{funding_paying_side:if  ({funding_paying_side} pay)}. "
        "{sentiment_summary:or Its sentiment is not known.}"
    ),
    "coins": _rows(
        "coins",
        "{size} of {meta[total]} coins: {rows}.",
        "{symbol} {price:usd} ({change_24h:signed} in 24 h, {verdict:or no verdict})",
    ),
    "signal": _signal,
    "coin.historical": _text(
        "{symbol} went from {at[priceUSD]:usd} to {now[priceUSD]:usd} in {count} {unit}: {change_pct:signed}."
    ),
    "market.health": _text("{interpretation}"),
    "market.crossing": _crossing,
    "regime": _regime,
    "category.info": _category,
    "category.sentiment": _text("{name}: {summary}"),
    "coin.sentiment": _item,
    "sentiment": _item,
    "narratives": _rows("narratives", "{total_count} narratives: {rows}.", "{name} ({mentions} items)"),
    "funding.alerts": _rows(
        "events",
        "{size} alerts: {rows}.",
        "{asset} {triggerZone} at {fundingAtTrigger:signed} a year{clearedAt:if  (over)}",
    ),
    "market.prices": _rows("prices", "{size} prices: {rows}.", "{symbol} {price:usd}"),
    "market.baselines": _baselines,
    "market.global": _global,
    "resolve": _rows("matches", "{count} matches: {rows}.", "{symbol} ({name}, {assetType})"),
    **dict.fromkeys(("coin.lookup", "coin.by-id", "coin.by-name", "coin.by-contract"), _lookup),
    "rwa.symbol": _ASSET,
    "rwa.asset": _ASSET,
    "rwa.assets": lambda data: f"{data['count']} assets: {', '.join(row['symbol'] for row in data['assets'])}.",
    "walkforward": _walkforward,
    "signal.quality": _quality,
    "transcripts": _transcripts,
    "wallets": _wallets,
    "question": _text("{text}"),
}
