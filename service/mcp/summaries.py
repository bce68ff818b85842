"""One-line text summaries of answers, for hosts that show a model only the text."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from service import formats

_FEW: Final = 8

Data = Mapping[str, Any]


def _known(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "-" if value is None else write(value)


usd, money, signed = _known(formats.usd), _known(formats.money), _known(formats.change)
percent, share, day = _known(formats.percent), _known(formats.share), _known(formats.day)


def summarize(offer: str, data: Data) -> str:
    """Say what a payload says.

    Args:
        offer: Id of the route that it is of.
        data: The payload, as it came.
    """
    return _TELLERS[offer](data)


def _risk(data: Data) -> str:
    side = data["funding_paying_side"]
    return (
        f"{data['symbol']} at {usd(data['price'])}; daily trend {data['trend_daily'] or 'unknown'}, weekly "
        f"{data['trend_weekly'] or 'unknown'}; funding {signed(data['funding_apr'])} a year"
        f"{f' ({side} pay)' if side else ''}. {data['sentiment_summary'] or 'Its sentiment is not known.'}"
    )


def _coins(data: Data) -> str:
    rows = _few(
        f"{row['symbol']} {usd(row['price'])} ({signed(row['change_24h'])} in 24 h, {row['verdict'] or 'no verdict'})"
        for row in data["coins"]
    )
    return f"{len(data['coins'])} of {data['meta']['total']} coins: {rows}."


def _signal(data: Data) -> str:
    sentences = data["evidence"]
    counting = [sentences[rule["evidence"]] for rule in data["rules"] if rule["contribution"]]
    claims = [_claim(claim) for claim in data["claims"] or ()]
    unclaimed = "No probability is claimed for such a verdict; get_signal_quality has the record of verdicts."
    price = "" if data["price"] is None else f" at {usd(data['price'])}"
    start = f"{data['symbol']}{price}: {data['verdict']}."
    return " ".join([start, *counting, *sentences[-2:], *(claims or [unclaimed])])


def _claim(claim: Data) -> str:
    probability, base_rate = share(claim["probability"]), share(claim["base_rate"])
    return f"{formats.label(claim['target'])} after {claim['days']} days: {probability} (base rate {base_rate})."


def _historical(data: Data) -> str:
    return (
        f"{data['symbol']} went from {usd(data['at']['priceUSD'])} to {usd(data['now']['priceUSD'])} in "
        f"{data['count']} {data['unit']}: {signed(data['change_pct'])}."
    )


def _health(data: Data) -> str:
    return str(data["interpretation"])


def _crossing(data: Data) -> str:
    if not data["crossings"]:
        return "No crossing."
    last = data["crossings"][0]
    return f"{len(data['crossings'])} crossings in 90 days, the last on {day(last['at'])}: {last['direction']}."


def _regime(data: Data) -> str:
    if "market" in data:
        market, held = data["market"], data["positions"]
        names = _few(f"{row['symbol']} {row['direction']}" for row in held)
        return f"The market is {market['regime']} since {day(market['since'])}. {len(held)} positions: {names}."
    if "signals" in data:
        names = _few(f"{row['symbol']} {row['regime']} ({day(row['firedAt'])})" for row in data["signals"])
        return f"{len(data['signals'])} turns, the newest first: {names}."
    summary, held = data["summary"], data["currentPosition"]
    now = f"{held['direction']} since {day(held['entryDate'])}" if held else "no position"
    return (
        f"{data['symbol']}: {summary['total']} closed trades, {share(summary['winRate'])} won, "
        f"{signed(summary['meanReturnPct'])} on average after costs; now {now}."
    )


def _category(data: Data) -> str:
    trends = ", ".join(f"{count} {state}" for state, count in data["trends"].items())
    return (
        f"{data['name']}: {signed(data['change_24h'])} in 24 h; {trends}. Ahead: {_few(data['leaders'])}. "
        f"Behind: {_few(data['laggards'])}."
    )


def _sentiment(data: Data) -> str:
    return f"{data['name']}: {data['summary']}"


def _item(data: Data) -> str:
    item = data.get("data", data)
    return f"{item['entity_id']}: {item['summary']}"


def _narratives(data: Data) -> str:
    rows = _few(f"{row['name']} ({row['mentions']} items)" for row in data["narratives"])
    return f"{data['total_count']} narratives: {rows}."


def _alerts(data: Data) -> str:
    rows = _few(
        f"{row['asset']} {row['triggerZone']} at {signed(row['fundingAtTrigger'])} a year"
        f"{' (over)' if row['clearedAt'] else ''}"
        for row in data["events"]
    )
    return f"{len(data['events'])} alerts: {rows}."


def _asset(data: Data) -> str:
    return (
        f"{data['name']} ({data['id']}) at {usd(data['price'])}, {signed(data['change_24h'])} in 24 h; daily trend "
        f"{data['trend_daily'] or 'unknown'}, weekly {data['trend_weekly'] or 'unknown'}; the perpetual's funding "
        f"{signed(data['funding']['apr'])} a year."
    )


def _assets(data: Data) -> str:
    return f"{data['count']} assets: {', '.join(row['symbol'] for row in data['assets'])}."


def _walkforward(data: Data) -> str:
    name = next(name for name in ("signals", "positions", "outcomes") if name in data)
    rows = _few(f"{row['symbol']} {row['direction']}" for row in data[name])
    summary = data.get("summary")
    if summary is None:
        return f"{len(data[name])} {name}: {rows}."
    return (
        f"{summary['total']} outcomes, {share(summary['winRate'])} won, {signed(summary['meanReturnPct'])} on average; "
        f"deflated Sharpe {share(summary['deflatedSharpe'])}, maximum drawdown {percent(summary['maxDrawdownPct'])}. "
        f"The newest: {rows}."
    )


def _quality(data: Data) -> str:
    if data["signal_type"] == "verdict":
        return str(data["message"])
    found = data["validations"]
    return (
        f"{data['asset']}, {data['signal_type']}: {data['reliability_tier']}. {found['sampleSize']} trades, "
        f"{share(found['winRate'])} won, {signed(found['meanReturnPct'])} on average; deflated Sharpe "
        f"{share(data['confidence'])}."
    )


def _transcripts(data: Data) -> str:
    said = _few(f"{row['source']} ({day(row['publishedAt'])}) on {_few(row['coins'])}" for row in data["highlights"])
    return f"{len(data['highlights'])} quotes: {said}."


def _wallets(data: Data) -> str:
    if "watchlist" in data:
        names = _few(row["label"] or row["address"] for row in data["watchlist"])
        return f"{len(data['watchlist'])} wallets are watched: {names}."
    rows = _few(
        f"{row['amount']} {row['token'] or 'tokens'} {row['direction']} ({row['label'] or row['address']})"
        for row in data["movements"]
    )
    return f"{len(data['movements'])} movements: {rows}."


def _answer_text(data: Data) -> str:
    return str(data["text"])


def _prices(data: Data) -> str:
    rows = _few(f"{row['symbol']} {usd(row['price'])}" for row in data["prices"].values())
    return f"{len(data['prices'])} prices: {rows}."


def _baselines(data: Data) -> str:
    rows = _few(
        f"{key} {', '.join(f'{usd(price)} {name[1:]} ago' for name, price in past.items())}"
        for key, past in data["baselines"].items()
    )
    return f"Past prices: {rows}."


def _global(data: Data) -> str:
    shares = _few(f"{ticker.upper()} {percent(part)}" for ticker, part in data["marketCapPercentage"].items())
    return f"{money(data['totalMarketCap']['market_cap_usd'])} in {data['scope']}: {shares}."


def _lookup(data: Data) -> str:
    coin, now = data["coin"], data["currentTrend"]
    trend = f"{now['trend']} since {now['since']}" if now else "trend unknown"
    return f"{coin['name'] or coin['symbol']} ({coin['symbol']}) at {usd(coin['price'])}: {trend}."


def _resolved(data: Data) -> str:
    rows = _few(f"{row['symbol']} ({row['name']}, {row['assetType']})" for row in data["matches"])
    return f"{data['count']} matches: {rows}."


def _few(texts: Any) -> str:
    every = list(texts)
    return ", ".join(every[:_FEW]) + (f" and {len(every) - _FEW} more" if len(every) > _FEW else "") or "none"


_TELLERS: Final[Mapping[str, Callable[[Data], str]]] = {
    "coin.risk": _risk,
    "coins": _coins,
    "signal": _signal,
    "coin.historical": _historical,
    "market.health": _health,
    "market.crossing": _crossing,
    "regime": _regime,
    "category.info": _category,
    "category.sentiment": _sentiment,
    "coin.sentiment": _item,
    "sentiment": _item,
    "narratives": _narratives,
    "funding.alerts": _alerts,
    "market.prices": _prices,
    "market.baselines": _baselines,
    "market.global": _global,
    "resolve": _resolved,
    "coin.lookup": _lookup,
    "coin.by-id": _lookup,
    "coin.by-name": _lookup,
    "coin.by-contract": _lookup,
    "rwa.symbol": _asset,
    "rwa.asset": _asset,
    "rwa.assets": _assets,
    "walkforward": _walkforward,
    "signal.quality": _quality,
    "transcripts": _transcripts,
    "wallets": _wallets,
    "question": _answer_text,
}
