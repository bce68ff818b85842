"""Why something moved, what the data say for a side, how past verdicts did, and definitions."""

from collections.abc import Sequence
from statistics import median
from typing import Any, Final, Literal

from service.ask.describe import label_of
from service.ask.measure_table import Unit
from service.ask.planner.asked import Asked, remarks
from service.ask.planner.bars import BENCHMARK
from service.ask.planner.conditions import measures_in, ordered
from service.ask.planner.reading import MARKET, Reading
from service.ask.planner.result import Column, Figure, Found, Refused, Row, Scalar, count, date, text
from service.ask.planner.spans import TO_MS, Interval, instant_of, interval_of, span_of
from service.ask.planner.values import unit_of, values_of
from service.ask.query import Explain, Measure, Now, Record, Screen, Why, Window
from service.clock import DAY_MS, iso, parse_iso
from service.wire.tools import MOST_ROWS

_USUAL_DAYS: Final = 30
_QUOTES: Final = 3
_HORIZON: Final = 7
"""Days after which the record of verdicts is told."""

_SIDES: Final = {"long": ("strong-bull", "bull"), "short": ("strong-bear", "bear")}

_JUDGED: Final = frozenset({"verdict", "score", "confidence"})
"""Measures that the rules of verdicts explain."""

_RULED: Final = frozenset({"trend", "regime", "sentiment", "funding"})
"""Measures that a verdict is asked about beside: "why neutral although its trend is up?"; its rules tell them."""


async def why(asked: Asked, _: Why) -> Found:
    """What moved beside a coin: its return against the market and its category, funding, volume, talk, verdict."""
    reading, time = asked.reading, asked.query.time
    judged = [one for one in asked.query.measures if one.name in _JUDGED]
    stated = [*dict.fromkeys([*measures_in(asked.query.where), *judged])] or list(asked.query.measures)
    if asked.ids == [MARKET] and stated == [Measure("market_regime")]:
        return await _market(asked)
    if len(asked.ids) != 1 or asked.ids[0] not in reading.coins():
        raise Refused("one-coin")
    symbol = asked.ids[0]
    if stated == [Measure("regime")] and (turned := await _turned(asked, symbol)) is not None:
        return turned
    names = {measure.name for measure in stated}
    if names & _JUDGED and names <= _JUDGED | _RULED:
        return await _judged(asked, symbol, names)
    change = Measure("change", span_of(Measure("change"), time, 1))
    hours = isinstance(change.over, Window) and change.over.unit == "h" and change.over.count not in {1, 24}
    among = [symbol, BENCHMARK] if hours else sorted(reading.coins())
    moves = await values_of(reading, change, time, among)
    own = moves[symbol]
    if not isinstance(own, int | float):
        raise Refused("unknown-value", subject=text(asked.name(symbol)), label=text("change"))
    others = {"BTC": moves.get(BENCHMARK)}
    if not hours:
        categories = getattr(reading.rows()[symbol], "categories", None) or []
        others = {"the median of all coins": _median(moves, among)}
        others |= {f"the median of {name}": _median(moves, reading.data.members(name)) for name in categories[:1]}
    premises = {one: (await asked.values(one, [symbol]))[symbol] for one in stated if one.name != "change"}
    rows = [_cell(label_of(one), state, unit_of(one)) for one, state in premises.items()]
    rows.append(_cell("return", own, Unit.PERCENT))
    rows += [_cell(name, value, Unit.PERCENT) for name, value in others.items() if value is not None]
    rows += [one for one in await _beside(asked, symbol) if one.subject not in {row.subject for row in rows}]
    said, quotes = await _talk(reading, symbol, interval_of(span_of(change, time, 1), instant_of(time, reading.now_ms)))
    figures = {
        "subject": text(asked.name(symbol)),
        "value": Figure(abs(own), Unit.SHARE),
        "other": text(next(iter(others))),
        "base": Figure(next(iter(others.values())), Unit.PERCENT),
        "moved": text("rose" if own > 0 else "fell" if own < 0 else "did not move"),
        "quotes": text(quotes),
        "when": asked.when,
        "premise": text(""),
        "stated": text(""),
    }
    states = [f"{label_of(one)} is {state}" for one, state in premises.items() if isinstance(state, str)]
    if states:
        figures["premise"] = text(f"{asked.name(symbol)}'s {' and '.join(states)}. ")
    numeric = [(one, value) for one, value in premises.items() if isinstance(value, int | float)]
    for one, value in numeric[:1]:
        figures |= {
            "premise": text(f"{asked.name(symbol)}'s {label_of(one)} is "),
            "stated": Figure(value, unit_of(one)),
        }
    if said is not None:
        figures["said"] = text(said)
    payer = (await remarks(asked, stated))[0] if stated else {}
    figures |= {"payer": text(""), "payee": text(""), **payer}
    notes = [*(["said"] if said else []), *(["quotes"] if quotes else []), "coincidence"]
    return Found(kind="why", figures=figures, columns=[Column("value", Unit.TEXT)], rows=rows, notes=notes)


async def _market(asked: Asked) -> Found:
    """The market's regime, since when, and the breadth of trends beside it."""
    if not isinstance(asked.query.time, Now):
        raise Refused("not-past", label=text("reasons of a regime"))
    market = (await asked.reading.tool("regime", action="active"))["market"]
    figures = {"regime": text(market["regime"]), "since": date(parse_iso(market["since"]))}
    counts, notes = await remarks(asked, [Measure("breadth")])
    return Found(kind="why_market", figures=figures | counts, notes=[*notes, "coincidence"])


async def _turned(asked: Asked, symbol: str) -> Found | None:
    """Why a coin's regime turned last, in the words of its signal; null where none is stored."""
    if not isinstance(asked.query.time, Now):
        raise Refused("not-past", label=text("reasons of a regime"))
    signals = (await asked.reading.tool("regime", action="signals", symbol=symbol))["signals"]
    if not signals:
        return None
    newest = signals[0]
    figures = {
        "subject": text(asked.name(symbol)),
        "regime": text(newest["regime"]),
        "day": date(parse_iso(newest["firedAt"])),
        "says": text(" ".join(newest["reasons"])),
    }
    return Found(kind="why_regime", figures=figures)


async def _judged(asked: Asked, symbol: str, names: set[str]) -> Found:
    """What a verdict rests on: what each rule looked at and contributes; what its confidence rests on where asked."""
    if not isinstance(asked.query.time, Now):
        raise Refused("not-past", label=text("reasons of a verdict"))
    signal = await asked.reading.tool("signal", symbol=symbol)
    if signal["score"] is None:
        raise Refused("unknown-value", subject=text(asked.name(symbol)), label=text("verdict"))
    columns = [Column("value", Unit.TEXT), Column("contributes", Unit.RATIO), Column("changes at", Unit.TEXT)]
    rows = [
        Row(
            rule["id"].replace("-", " "),
            (rule["value"], rule["contribution"], rule["flips_at"]),
            (_unit(rule["value"]), Unit.RATIO, _unit(rule["flips_at"])),
        )
        for rule in signal["rules"]
    ]
    figures = {
        "subject": text(asked.name(symbol)),
        "verdict": text(signal["verdict"]),
        "score": Figure(signal["score"], Unit.RATIO),
        "confidence": text(signal["confidence"]),
    }
    if "confidence" in names:
        figures["said"] = text(signal["evidence"][-1])
    return Found(kind="why_verdict", figures=figures, columns=columns, rows=rows, notes=["said"] * ("said" in figures))


def _unit(value: Scalar) -> Unit:
    return Unit.TEXT if isinstance(value, str) else Unit.RATIO


def _median(moves: dict[str, Scalar], symbols: Sequence[str]) -> float | None:
    known = [move for symbol in symbols if isinstance(move := moves.get(symbol), int | float)]
    return median(known) if known else None


def _cell(name: str, value: Scalar, unit: Unit) -> Row:
    return Row(name, (value,), (unit,))


async def _beside(asked: Asked, symbol: str) -> list[Row]:
    """Funding, volume against usual, trend and verdict at the time of the query."""
    reading, time = asked.reading, asked.query.time
    moment = time if instant_of(time, reading.now_ms) < reading.now_ms else Now()
    rows = []
    for measure, unit in (
        (Measure("funding"), Unit.PERCENT_A_YEAR),
        (Measure("trend", frame="daily"), Unit.STATE),
        (Measure("verdict"), Unit.STATE),
    ):
        value = (await values_of(reading, measure, moment, [symbol]))[symbol]
        rows.append(_cell(label_of(measure), value, unit))
    end_ms = instant_of(time, reading.now_ms) // DAY_MS * DAY_MS
    bars = (await reading.daily()).bars(symbol, end_ms - _USUAL_DAYS * DAY_MS, end_ms)
    volume = bars[-1].volume_usd if bars else None
    if isinstance(moment, Now):
        volume = reading.column("volume_24h_usd", [symbol])[symbol]
    usual = median([bar.volume_usd for bar in bars]) if bars else None
    if volume is not None and usual:
        rows.insert(1, _cell("volume against the usual", volume / usual * 100, Unit.SHARE))
    return rows


async def _talk(reading: Reading, symbol: str, span: Interval) -> tuple[str | None, str]:
    """What the news say of a coin, of the present alone, and which shows named it within a span."""
    said = None
    if span.end_ms >= reading.now_ms:
        said = (await reading.tool("coin.risk", symbol=symbol))["sentiment_summary"]
    args = {"action": "highlights", "coin": symbol, "since": iso(span.start_ms), "limit": MOST_ROWS}
    heard = (await reading.tool("transcripts", **args))["highlights"]
    named = [one for one in heard if parse_iso(one["publishedAt"]) <= span.end_ms]
    shows = dict.fromkeys(f"{one['source']} ({one['stance']}, {one['publishedAt'][:10]})" for one in named)
    return said, ", ".join([*shows][:_QUOTES])


async def screen(asked: Asked, operation: Screen) -> Found:
    """Coins whose verdict favours a side, the strongest score first, with the record of such verdicts."""
    reading = asked.reading
    found, unknown = await asked.split()
    coins = [id_ for id_ in found if id_ in reading.coins()]
    verdicts = await values_of(reading, Measure("verdict"), Now(), coins)
    scores = await values_of(reading, Measure("score"), Now(), coins)
    wanted = {id_: scores[id_] for id_ in coins if verdicts[id_] in _SIDES[operation.side]}
    order = ordered(wanted, Measure("score"), most=operation.side == "long")
    measures = [
        Measure("verdict"),
        Measure("score"),
        Measure("trend", frame="daily"),
        Measure("carry", side=operation.side),
    ]
    columns, rows = await asked.table(measures, order)
    unknown += [id_ for id_ in coins if verdicts[id_] is None]
    figures = {"side": text(operation.side), "count": count(len(rows)), "of": count(len(coins))}
    notes = ["no_advice"]
    if rows:
        figures |= {"winner": text(rows[0].subject), "verdict": text(str(rows[0].values[0]))}
        figures["record"] = text(await _said(reading, order[0]))
        notes.insert(0, "record")
    names = [asked.name(id_) for id_ in unknown]
    return Found(
        kind="screen" if rows else "nobody", figures=figures, columns=columns, rows=rows, unknown=names, notes=notes
    )


async def _said(reading: Reading, symbol: str) -> str:
    """How verdicts like that of a coin did after a week, in the words of the record."""
    outcomes = _outcomes(await reading.tool("signal", symbol=symbol), "all_coins")
    return next(str(one["says"]) for one in outcomes if one["days"] == _HORIZON)


def _outcomes(signal: Any, of: Literal["all_coins", "this_coin"]) -> list[Any]:
    record = signal["record"]
    found: list[Any] = (record["backtested"] or record["live"])[of]
    return found


async def record(asked: Asked, operation: Record) -> Found:
    """How past verdicts, regime trades or walk-forward strategies did."""
    coins = [] if asked.query.subject.scope == "all" else [id_ for id_ in asked.ids if id_ in asked.reading.coins()]
    time = asked.query.time
    if not isinstance(time, Now) and (operation.of != "verdicts" or not isinstance(time, Window)):
        raise Refused("no-past-list")
    horizon = time.count * TO_MS[time.unit] // DAY_MS if isinstance(time, Window) else _HORIZON
    if operation.of == "walkforward":
        return await _walkforward(asked.reading)
    if len(coins) > 1:
        raise Refused("one-coin")
    if operation.of == "regime":
        return await _trades(asked, coins[0] if coins else BENCHMARK)
    symbol = coins[0] if coins else _with_verdict(asked.reading, operation.state)
    signal = await asked.reading.tool("signal", symbol=symbol)
    if operation.state not in {None, signal["verdict"]}:
        raise Refused("other-verdict", subject=text(asked.name(symbol)), verdict=text(signal["verdict"]))
    outcomes = _outcomes(signal, "this_coin" if coins else "all_coins")
    columns = [
        Column("came true", Unit.FRACTION),
        Column("base rate", Unit.FRACTION),
        Column("mean move", Unit.PERCENT),
        Column("days counted", Unit.COUNT),
    ]
    keys = ("hit_rate", "base_rate", "mean_move_pct", "days_seen")
    rows = [
        Row(f"{one['days']} {'day' if one['days'] == 1 else 'days'}", tuple(one[key] for key in keys))
        for one in outcomes
    ]
    source = "backtested" if signal["record"]["backtested"] else "live"
    says = next((one["says"] for one in outcomes if one["days"] == horizon), None)
    if says is None:
        raise Refused("no-horizon")
    figures = {"verdict": text(signal["verdict"]), "says": text(says), "kind": text(source)}
    figures["of"] = text(f" of {asked.name(symbol)}" if coins else "")
    return Found(kind="record", figures=figures, columns=columns, rows=rows)


def _with_verdict(reading: Reading, verdict: str | None) -> str:
    """A coin that has a verdict now: its answer holds the record of such verdicts. Without a verdict Bitcoin."""
    if verdict is None:
        return BENCHMARK
    verdicts = reading.column("verdict", sorted(reading.coins()))
    found = [symbol for symbol, state in verdicts.items() if state == verdict]
    if not found:
        raise Refused("no-record", verdict=text(verdict))
    return found[0]


async def _trades(asked: Asked, symbol: str) -> Found:
    history = await asked.reading.tool("regime", action="history", symbol=symbol)
    summary = history["summary"]
    figures = {
        "subject": text(asked.name(symbol)),
        "count": count(summary["total"]),
        "wins": count(summary["wins"]),
        "losses": count(summary["losses"]),
        "rate": Figure(summary["winRate"], Unit.FRACTION),
        "value": Figure(summary["meanReturnPct"], Unit.PERCENT),
    }
    if not summary["total"]:
        return Found(kind="no_trades", figures=figures)
    returns = [trade["returnPct"] for trade in history["trades"]]
    figures |= {"best": Figure(max(returns), Unit.PERCENT), "worst": Figure(min(returns), Unit.PERCENT)}
    return Found(kind="regime_record", figures=figures)


async def _walkforward(reading: Reading) -> Found:
    found = (await reading.tool("walkforward", action="outcomes", limit=1))["summary"]
    if found is None:
        raise Refused("no-run")
    columns = [
        Column("return", Unit.PERCENT),
        Column("trades", Unit.COUNT),
        Column("won", Unit.FRACTION),
        Column("worst drawdown", Unit.PERCENT),
        Column("Sharpe", Unit.RATIO),
    ]
    keys = ("returnPct", "total", "winRate", "maxDrawdownPct", "sharpe")
    rows = [
        Row(one["strategy"].replace("-", " "), tuple(one[key] for key in keys))
        for one in found["strategies"]
        if one["published"]
    ]
    hold = found["buyAndHold"]
    rows.append(Row("buy and hold", (hold["returnPct"], None, None, hold["maxDrawdownPct"], hold["sharpe"])))
    figures = {
        "value": Figure(found["returnPct"], Unit.PERCENT),
        "count": count(found["total"]),
        "base": Figure(hold["returnPct"], Unit.PERCENT),
        "first": date(parse_iso(f"{found['firstDay']}T00:00:00Z")),
        "last": date(parse_iso(f"{found['lastDay']}T00:00:00Z")),
    }
    return Found(kind="walkforward", figures=figures, columns=columns, rows=rows)


async def explain(asked: Asked, operation: Explain) -> Found:
    """A definition of the glossary."""
    found = await asked.reading.tool("glossary", term=operation.term)
    return Found(kind="explain", figures={"term": text(found["title"]), "text": text(found["text"])})
