"""The views of answers on coins and markets that need no function of their own. To add one, write a row of `VIEWS`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from service import formats
from service.cli.formatting import UNKNOWN, change, moment, money, percent, signed, trend, usd
from service.cli.layout import listed
from service.cli.show import account, datasets
from service.cli.show.columns import STYLES, Data, Field, View, counts, joined, otherwise, state, strong, utc
from service.cli.terminal import Cell, Part

_ROOMY: Final = 110
"""Cells from which further columns stand beside the others."""

_RUNS: Final = 8
"""Runs of a coin's trend that are shown."""


def _states(names: Sequence[str]) -> list[Part]:
    """How many there are of each, the most frequent first."""
    return listed(Cell(f"{count} {name}", STYLES.get(name)) for name, count in Counter(names).most_common())


def _score(value: float | None) -> Cell:
    return change(value, unit="")


def _scale(data: Data) -> str:
    is_empty = 0 in (data.get("count"), data.get("total_count"))
    return "" if is_empty else "Scores from -1 (bad) to +1 (good)."


def _coin(coin: Data) -> Cell:
    return strong(f"{coin['symbol']}{'*' * _is_stale(coin)}")


def _is_stale(coin: Data) -> bool:
    """Whether a value that is shown could not be refreshed; unknown values are shown as such."""
    return any(coin.get(name) is not None for name in coin["_stale_fields"])


def _stale_coins(data: Data) -> str:
    stale = any(map(_is_stale, data["coins"]))
    return "* Not all values of this coin could be refreshed." if stale else ""


def _since(unit: str) -> Callable[[Data], list[Part]]:
    return lambda run: [trend(run and run["trend"]), f"since {run['since']}, {run[unit]} {unit}" if run else ""]


def _coin_value(coin: Data) -> str:
    return money(coin["marketCap"]) + (f" (number {coin['rank']})" if coin["rank"] else "")


_LOOKUP: Final = View(
    heading=lambda data: [strong(data["coin"]["name"] or data["coin"]["symbol"]), Cell(data["coin"]["symbol"], "dim")],
    facts=(
        Field("Note", "note", lambda text: Cell(text, "warn")),
        Field("Price", "coin.price", lambda value: strong(usd(value))),
        Field("Change, 24 h", "coin.change_24h_pct", change),
        Field("Market value", "coin", _coin_value),
        Field("Trend, daily", "currentTrend", _since("days")),
        Field("Trend, weekly", "currentTrendWeekly", _since("weeks")),
        Field("Bands", "latestBands", lambda both: f"{usd(both['lower'])} to {usd(both['upper'])}" if both else "-"),
        Field("In the bands", "band_position.percent", percent),
        Field("CoinGecko", "coin.id"),
    ),
    entries=lambda data: data["trends"][-_RUNS:][::-1],
    columns=(
        Field("TREND", "trend", trend),
        Field("FROM", "start"),
        Field("TO", "end"),
        Field("DAYS", "streak", side="r"),
    ),
    empty="",
    source="trends from closed bars",
)


def _breadth(counts: Mapping[str, int]) -> list[Part]:
    total = sum(counts.values())
    if not total:
        return ["no coin's trend is known"]
    return listed(
        Cell(f"{trend(state).text} {count} ({formats.share(count / total)})", trend(state).style)
        for state, count in counts.items()
    )


_CATEGORY: Final = View(
    heading=lambda data: [strong(data["name"]), strong(money(data["market_cap"])), change(data["change_24h"])],
    facts=(
        Field("About", "description"),
        Field("Trends", "trends", _breadth),
        Field("Volume, 24 h", "volume_24h", money),
        Field("Ahead", "leaders", joined),
        Field("Behind", "laggards", joined),
    ),
    entries="coins",
    columns=(
        Field("COIN", "symbol", strong),
        Field("NAME", "name", side="l"),
        Field("PRICE", "price", usd, "r"),
        Field("24 H", "change_24h", change, "r"),
        Field("MARKET CAP", "market_cap", money, "r"),
        Field("TREND", "trend_daily", trend),
        Field("FOR", "streak_days", lambda days: UNKNOWN if days is None else f"{days} d", "r"),
    ),
)
_CATEGORY_MOOD: Final = View(
    heading=lambda data: [strong(data["name"]), state(data["stance"]), _score(data["score"])],
    facts=(
        Field("Summary", "summary"),
        Field("Change", "slope_24h", lambda value: [_score(value), "in 24 h"]),
        Field("Mentions", "mentions", lambda count: f"{count:,} in 7 days"),
        Field("Newest", "provenance.newest_at", moment),
        Field("Sources", "provenance.sources", joined),
        Field("Coins", "coins", lambda coins: _states([one["stance"] for one in coins])),
    ),
    entries=lambda data: sorted(data["coins"], key=lambda one: (one["score"] is None, -(one["score"] or 0.0))),
    columns=(
        Field("COIN", "symbol", strong),
        Field("STANCE", "stance", state),
        Field("SCORE", "score", _score, "r"),
    ),
    note=_scale,
)


def _items(data: Data) -> list[Any]:
    """What a route of sentiment tells of: one item, bare or as `data`, or a list of them, without their summaries."""
    found = next((data[name] for name in ("data", "categories", "entities") if name in data), data)
    items = found if isinstance(found, list) else [found]
    return items if len(items) == 1 else [{name: item[name] for name in item if name != "summary"} for item in items]


def _fine_score(value: float | None) -> Cell:
    return change(value, 4, "")


_ITEMS: Final = View(
    facts=(
        Field("Hour", "snapshot_hour", moment),
        Field("Entries", "count"),
        Field("Entries", "total_count"),
    ),
    entries=_items,
    columns=(
        Field("ABOUT", "entity_id", strong, "l"),
        Field("ABOUT", "name", strong, "l"),
        Field("ABOUT", "symbol", strong),
        Field("STANCE", "stance", state),
        Field("SCORE", "score", _fine_score, "r"),
        Field("IN 24 H", "slope_24h", _fine_score, "r"),
        Field("MENTIONS 7 D", "mentions", side="r"),
        Field("NEWEST, UTC", "newest_at", utc),
        Field("SUMMARY", "summary"),
    ),
    note=_scale,
)
_NARRATIVES: Final = (
    Field("NAME", "name", strong),
    Field("STANCE", "stance", state),
    Field("SCORE", "score", _score, "r"),
    Field("FRESH", "freshness_score", lambda value: formats.number(value, 3), "r"),
    Field("MENTIONS", "mentions", side="r"),
    Field("FIRST", "first_seen", formats.day),
    Field("LAST", "last_seen", formats.day),
    Field("COINS", "coins"),
)


def _before_after(name: str) -> Callable[[Data], str]:
    return lambda found: f"{found['previous'][name]} → {found['current'][name]}"


def _net(found: Data) -> str:
    before, after = (found[name]["UP"] - found[name]["DOWN"] for name in ("previous", "current"))
    return f"{before:+} → {after:+}"


def _crossed(side: str) -> Cell:
    is_up = side == "UP over DOWN"
    return Cell(f"{'▲' if is_up else '▼'} {side}", "good" if is_up else "bad")


_ALERTS: Final = View(
    heading=lambda data: [strong("Funding alerts"), Cell(f"{len(data['events'])} of {data['meta']['total']:,}")],
    facts=(
        Field(
            "Still on",
            "events",
            lambda events: _states([one["triggerZone"] for one in events if one["clearedAt"] is None]) or "none",
        ),
    ),
    entries="events",
    columns=(
        Field("FIRED, UTC", "firedAt", formats.short_moment),
        Field("COIN", "asset", strong),
        Field("ZONE", "triggerZone", state),
        Field("A YEAR, %", "fundingAtTrigger", lambda value: signed(value, unit=""), "r"),
        Field("RANK", "percentile", lambda value: formats.number(value, 1), "r"),
        Field("PRICE", "price", usd, "r"),
        Field("CLEARED", "clearedAt", lambda at: Cell("still on", "warn") if at is None else formats.short_moment(at)),
    ),
    empty="None: no funding rate entered a zone.",
    note="A YEAR: funding when it fired. RANK: its percentile in the coin's last 30 days.",
)


def _quoted(data: Data) -> list[dict[str, Any]]:
    """A row a coin: its price now or else its id, its prices in the past, and whether one of them is stale."""
    prices, pasts, stale = data.get("prices", {}), data.get("baselines", {}), set(data["_stale_fields"])
    entries = []
    for key in prices or pasts:
        past = pasts.get(key, {})
        shown = {f"prices.{key}", *(f"baselines.{key}.{name}" for name, value in past.items() if value is not None)}
        is_stale = not stale.isdisjoint(shown)
        entries.append({**prices.get(key, {"id": key}), **past, "mark": "stale" if is_stale else ""})
    return entries


_PRICES: Final = View(
    entries=_quoted,
    columns=(
        Field("COIN", "symbol", strong),
        Field("COINGECKO ID", "id", strong),
        Field("PRICE", "price", lambda value: strong(usd(value)), "r"),
        Field("SOURCE", "source", side="r"),
        Field("4h AGO", "b4h", usd, "r"),
        Field("24h AGO", "b24h", usd, "r"),
        Field("7d AGO", "b7d", usd, "r"),
        Field("", "mark", lambda mark: Cell(mark, "warn")),
    ),
    note=lambda data: f"Without a price: {joined(data['missing'])}." if "missing" in data else "",
)


def _asset_funding(funding: Data) -> list[Part]:
    rate = funding["rate"]
    if rate is None:
        return [UNKNOWN]
    payer = "longs pay shorts" if rate > 0 else "shorts pay longs" if rate < 0 else "nobody pays"
    each = f"({payer} {abs(rate) * 100:.4g} % every {funding['interval_hours']:g} h)"
    return [strong(f"{signed(funding['apr'])} a year"), f"{each}; of the perpetual, the asset itself pays none"]


_ASSET: Final = View(
    heading=lambda data: [strong(data["name"]), Cell(f"{data['assetType']}, {data['id']}", "dim")],
    facts=(
        Field("Price", "price", lambda value: strong(usd(value))),
        Field("Change, 24 h", "change_24h", change),
        Field("Trend, daily", "trend_daily", trend),
        Field("Trend, weekly", "trend_weekly", trend),
        Field("Funding", "funding", _asset_funding),
        Field("Open interest", "open_interest_usd", money),
        Field("Volume, 24 h", "volume_24h_usd", money),
    ),
    source=lambda data: f"a perpetual on {data['venue']}",
)
_COIN: Final = (
    Field("COIN", "", _coin),
    Field("PRICE", "price", usd, "r"),
    Field("24 H", "change_24h", _score, "r"),
)
_MEASURES: Final = (
    Field("VOLUME", "volume_24h_usd", money, "r"),
    Field("FUNDING", "funding_apr", signed, "r"),
    Field("TREND", "trend_daily", trend),
    Field("VERDICT", "verdict"),
)
_WEEK: Final = Field("7 D", "change_7d", _score, "r")
_FURTHER: Final = (
    _WEEK,
    Field("SCORE", "score", _score, "r"),
    Field("30 D", "change_30d", _score, "r"),
    Field("CAP", "market_cap", money, "r"),
)
"""Columns for wide screens; one of them, or of `_SELDOM`, stands beside the others where coins are ordered by it."""

_SELDOM: Final = (
    Field("1 H", "change_1h", _score, "r"),
    Field("OPEN INT", "open_interest_usd", money, "r"),
    Field("DAYS", "streak_days", side="r"),
    Field("TO BTC", "btc_correlation", _score, "r"),
)


def _coins(shown: Field = _WEEK) -> View:
    return View(
        heading=lambda data: [
            strong(f"{len(data['coins'])} of {data['meta']['total']} coins"),
            Cell("prices in USD, changes in %"),
            *([Cell("scores from -4 to +4")] if shown.path == "score" else []),
        ],
        entries="coins",
        columns=(*_COIN, shown, *_MEASURES, *(one._replace(wide=_ROOMY) for one in _FURTHER if one != shown)),
        empty="",
        note=_stale_coins,
    )


_COUNTS: Final = Field("Narratives", "total_count")


VIEWS: Final[Mapping[str, View]] = {
    **account.VIEWS,
    **datasets.VIEWS,
    "coins": _coins(),
    **{f"coins_{one.path}": _coins(one) for one in (*_FURTHER, *_SELDOM)},
    "coin_lookup": _LOOKUP,
    "resolve": View(
        entries="matches",
        columns=(
            Field("SYMBOL", "symbol", strong),
            Field("NAME", "name", side="l"),
            Field("TYPE", "assetType"),
            Field("RANK", "rank", otherwise(UNKNOWN), "r"),
            Field("VIA", "via"),
            Field("SCORE", "score", formats.number, "r"),
            Field("ID", "id"),
        ),
        empty=lambda data: f"No match for {data['query']}. Tried: {joined(data['tried'])}.",
        note=lambda data: data.get("note", ""),
    ),
    "category_info": _CATEGORY,
    "category_sentiment": _CATEGORY_MOOD,
    "coin_sentiment": _ITEMS,
    "sentiment": _ITEMS,
    # Leaves space for the names: other commands take them as they are.
    "sentiment_categories": _ITEMS._replace(columns=[one for one in _ITEMS.columns if one.path != "newest_at"]),
    "sentiment_health": View(
        entries="checks",
        columns=(
            Field("SOURCE", "name", strong),
            Field("STATE", "ok", lambda is_ok: state("ok" if is_ok else "failing")),
            Field("NEWEST, UTC", "as_of", utc),
            Field("DETAIL", "detail", side="s"),
        ),
    ),
    "sentiment_narratives": View(
        facts=(
            _COUNTS,
            Field("Freshness", "freshness_score", lambda value: f"{formats.number(value, 3)} (0 to 1, 1 is new)"),
            Field("Attention", "attention_state", counts),
        ),
        entries="sources",
        columns=_NARRATIVES,
        note=_scale,
    ),
    "narratives": View(
        facts=(
            _COUNTS,
            Field("Items", "", lambda data: f"{counts(data['surfaces'])} in {data['periods_back']} days"),
        ),
        entries="narratives",
        columns=_NARRATIVES,
        note=_scale,
    ),
    "market_crossing": View(
        heading=lambda _: [strong("Breadth crossings"), Cell("of the last 90 closed days")],
        entries="crossings",
        columns=(
            Field("CLOSE OF", "at", formats.day),
            Field("CROSSED", "direction", _crossed),
            Field("UP", "", _before_after("UP"), "r"),
            Field("DOWN", "", _before_after("DOWN"), "r"),
            Field("UP LESS DOWN", "", _net, "r"),
            Field("COINS", "universe", side="r"),
        ),
        empty=lambda data: data.get("message") or "None.",
    ),
    "funding_alerts": _ALERTS,
    "market_prices": _PRICES,
    "market_global": View(
        facts=(
            Field("Market value", "totalMarketCap.market_cap_usd", lambda value: strong(money(value))),
            Field("Change, 24 h", "totalMarketCap.change_24h_pct", change),
            Field("Volume, 24 h", "totalMarketVolume.volume_24h_usd", money),
        ),
        entries=lambda data: [{"coin": coin, "share": of} for coin, of in data["marketCapPercentage"].items()],
        columns=(Field("COIN", "coin", lambda ticker: strong(ticker.upper())), Field("SHARE", "share", percent, "r")),
        source=lambda data: data["scope"],
    ),
    "rwa_symbol": _ASSET,
    "rwa_assets": View(
        heading=lambda data: [strong(f"{len(data['assets'])} of {data['count']} real-world assets")],
        facts=(Field("Types", "assets", lambda assets: _states([one["assetType"] for one in assets])),),
        entries="assets",
        columns=(
            Field("SYMBOL", "symbol", strong),
            Field("NAME", "name", side="l"),
            Field("TYPE", "assetType"),
            Field("ID", "id"),
        ),
        source="the most traded first",
    ),
}
