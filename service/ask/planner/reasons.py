"""Why something moved, what the data say for a side, how past verdicts did, and definitions."""

from collections.abc import Sequence
from statistics import median
from typing import Any, Final, Literal

from service.ask.describe import label_of, time_words
from service.ask.measure_table import Unit
from service.ask.planner.bars import TO_MS, Interval, instant_of, interval_of, span_of
from service.ask.planner.conditions import holds, measures_in, ordered
from service.ask.planner.data_reader import MARKET, DataReader
from service.ask.planner.query_context import QueryContext
from service.ask.planner.result import Column, Figure, Figures, Refused, Result, Row, Scalar, date, found, percent
from service.ask.planner.units import column_of, values_of
from service.ask.planner.values import BENCHMARK
from service.ask.query import Explain, Measure, Now, Record, Screen, Test, Why, Window
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


async def why(asked: QueryContext, _: Why) -> Result:
    """What moved beside a coin: its return against the market and its category, funding, volume, talk, verdict."""
    reading, time = asked.reading, asked.query.time
    judged = [one for one in asked.query.measures if one.name in _JUDGED]
    stated = [*dict.fromkeys([*measures_in(asked.query.where), *judged])] or list(asked.query.measures)
    if asked.ids == [MARKET] and stated == [Measure("market_regime")]:
        return await _market(asked)
    symbol = asked.coin()
    if stated == [Measure("regime")] and (turned := await _turned(asked, symbol)) is not None:
        return turned
    names = {measure.name for measure in stated}
    if names & _JUDGED and names <= _JUDGED | _RULED:
        return await _judged(asked, symbol, names)
    moved = next((one for one in stated if one.name == "change"), Measure("change"))
    span = span_of(moved, time)
    change = Measure("change", span)
    own, others = await _moves(asked, change, symbol)
    premises = {one: (await asked.values(one, [symbol]))[symbol] for one in stated if one.name != "change"}
    rows = [_cell(column_of(one), state) for one, state in premises.items()]
    moves = {"return": own, **others}
    rows += [Row(name, (value,), (Unit.PERCENT,)) for name, value in moves.items() if value is not None]
    rows += [one for one in await _beside(asked, symbol) if one.subject not in {row.subject for row in rows}]
    said, quotes = await _talk(reading, symbol, interval_of(span, instant_of(time, reading.now_ms)))
    figures: Figures = {"premise": "", "stated": "", "payer": "", "payee": ""}
    states = [_stated(asked, one, state) for one, state in premises.items() if isinstance(state, str)]
    numbers = [(one, value) for one, value in premises.items() if isinstance(value, int | float)]
    if states:
        figures["premise"] = f"{asked.name(symbol)}'s {' and '.join(states)}. "
    for one, value in numbers[:1]:
        figures["premise"] = f"{asked.name(symbol)}'s {label_of(one)} is "
        figures["stated"] = Figure(value, column_of(one).unit)
    if stated:
        figures |= (await asked.remarks(stated))[0]
    if said is not None:
        figures["said"] = said
    return found(
        "why",
        {
            "subject": asked.name(symbol),
            "value": Figure(abs(own), Unit.SHARE),
            "other": next(iter(others)),
            "base": percent(next(iter(others.values()))),
            "moved": "rose" if own > 0 else "fell" if own < 0 else "did not move",
            "when": asked.when or f" {time_words(span)}",
            "quotes": quotes,
            **figures,
        },
        columns=[Column("value", Unit.TEXT)],
        rows=rows,
        notes=[*(["said"] if said else []), *(["quotes"] if quotes else []), "coincidence"],
    )


async def _moves(asked: QueryContext, change: Measure, symbol: str) -> tuple[float, dict[str, Scalar]]:
    """The change of a coin, and what it is held against: the medians of all coins and of its category, or Bitcoin."""
    reading, over = asked.reading, change.over
    if isinstance(over, Window) and over.unit == "h" and over.count not in {1, 24}:
        moves = await values_of(reading, change, asked.query.time, [symbol, BENCHMARK])
        others = {"BTC": moves.get(BENCHMARK)}
    else:
        among = sorted(reading.coins())
        moves = await values_of(reading, change, asked.query.time, among)
        categories = getattr(reading.rows()[symbol], "categories", None) or []
        others = {"the median of all coins": _median(moves, among)}
        others |= {f"the median of {name}": _median(moves, reading.data.members(name)) for name in categories[:1]}
    own = moves[symbol]
    if not isinstance(own, int | float):
        raise Refused("unknown-value", subject=asked.name(symbol), label="change")
    return own, others


def _median(moves: dict[str, Scalar], symbols: Sequence[str]) -> float | None:
    known = [move for symbol in symbols if isinstance(move := moves.get(symbol), int | float)]
    return median(known) if known else None


def _cell(column: Column, value: Scalar) -> Row:
    return Row(column.label, (value,), (column.unit,))


def _stated(asked: QueryContext, measure: Measure, state: str) -> str:
    """The state of a measure, and the one that the question assumes instead: "why is its mood distribution?"."""
    test, said = asked.query.where, f"{label_of(measure)} is {state}"
    if not isinstance(test, Test) or test.measure != measure or not isinstance(test.value, str):
        return said
    return said if holds(measure, test.op, state, test.value) else f"{said}, not {test.value}"


async def _beside(asked: QueryContext, symbol: str) -> list[Row]:
    """Funding, volume against usual, trend and verdict at the time of the query."""
    reading, time = asked.reading, asked.query.time
    moment = time if instant_of(time, reading.now_ms) < reading.now_ms else Now()
    rows = [
        _cell(column_of(measure), (await values_of(reading, measure, moment, [symbol]))[symbol])
        for measure in (Measure("funding"), Measure("trend", frame="daily"), Measure("verdict"))
    ]
    end_ms = instant_of(time, reading.now_ms) // DAY_MS * DAY_MS
    bars = (await reading.daily()).bars(symbol, end_ms - _USUAL_DAYS * DAY_MS, end_ms)
    volume = bars[-1].volume_usd if bars else None
    if isinstance(moment, Now):
        volume = reading.column("volume_24h_usd", [symbol])[symbol]
    usual = median([bar.volume_usd for bar in bars]) if bars else None
    if volume is not None and usual:
        rows.insert(1, _cell(Column("volume against the usual", Unit.SHARE), volume / usual * 100))
    return rows


async def _talk(reading: DataReader, symbol: str, span: Interval) -> tuple[str | None, str]:
    """What the news say of a coin, of the present alone, and which shows named it within a span."""
    said = None
    if span.end_ms >= reading.now_ms:
        said = (await reading.tool("coin.risk", symbol=symbol))["sentiment_summary"]
    args = {"action": "highlights", "coin": symbol, "since": iso(span.start_ms), "limit": MOST_ROWS}
    heard = (await reading.tool("transcripts", **args))["highlights"]
    named = [one for one in heard if parse_iso(one["publishedAt"]) <= span.end_ms]
    shows = dict.fromkeys(f"{one['source']} ({one['stance']}, {one['publishedAt'][:10]})" for one in named)
    return said, ", ".join([*shows][:_QUOTES])


async def _market(asked: QueryContext) -> Result:
    """The market's regime, since when, and the breadth of trends beside it."""
    _check_now(asked, "regime")
    market = (await asked.reading.tool("regime", action="active"))["market"]
    counts, notes = await asked.remarks([Measure("breadth")])
    since = date(parse_iso(market["since"]))
    return found("why_market", {"regime": market["regime"], "since": since, **counts}, notes=[*notes, "coincidence"])


def _check_now(asked: QueryContext, state: str) -> None:
    if not isinstance(asked.query.time, Now):
        raise Refused("not-past", label=f"reasons of a {state}")


async def _turned(asked: QueryContext, symbol: str) -> Result | None:
    """Why a coin's regime turned last, in the words of its signal; null where none is stored."""
    _check_now(asked, "regime")
    signals = (await asked.reading.tool("regime", action="signals", symbol=symbol))["signals"]
    if not signals:
        return None
    newest = signals[0]
    return found(
        "why_regime",
        {
            "subject": asked.name(symbol),
            "regime": newest["regime"],
            "day": date(parse_iso(newest["firedAt"])),
            "says": " ".join(newest["reasons"]),
        },
    )


async def _judged(asked: QueryContext, symbol: str, names: set[str]) -> Result:
    """What a verdict rests on: what each rule looked at and contributes; what its confidence rests on where asked."""
    _check_now(asked, "verdict")
    signal = await asked.reading.tool("signal", symbol=symbol)
    if signal["score"] is None:
        raise Refused("unknown-value", subject=asked.name(symbol), label="verdict")
    rows = [
        Row(
            rule["id"].replace("-", " "),
            (rule["value"], rule["contribution"], rule["flips_at"]),
            (_unit(rule["value"]), Unit.RATIO, _unit(rule["flips_at"])),
        )
        for rule in signal["rules"]
    ]
    said: Figures = {"said": signal["evidence"][-1]} if "confidence" in names else {}
    return found(
        "why_verdict",
        {
            "subject": asked.name(symbol),
            "verdict": signal["verdict"],
            "score": Figure(signal["score"], Unit.RATIO),
            "confidence": signal["confidence"],
            **said,
        },
        columns=[Column("value", Unit.TEXT), Column("contributes", Unit.RATIO), Column("changes at", Unit.TEXT)],
        rows=rows,
        notes=[*said],
    )


def _unit(value: Scalar) -> Unit:
    return Unit.TEXT if isinstance(value, str) else Unit.RATIO


async def screen(asked: QueryContext, operation: Screen) -> Result:
    """Coins whose verdict favours a side, the strongest score first, with the record of such verdicts."""
    reading, side = asked.reading, operation.side
    matching, unknown = await asked.split()
    coins = [id_ for id_ in matching if id_ in reading.coins()]
    verdicts = await values_of(reading, Measure("verdict"), Now(), coins)
    scores = await values_of(reading, Measure("score"), Now(), coins)
    wanted = {id_: scores[id_] for id_ in coins if verdicts[id_] in _SIDES[side]}
    order = ordered(wanted, Measure("score"), most=side == "long")
    measures = [Measure("verdict"), Measure("score"), Measure("trend", frame="daily"), Measure("carry", side=side)]
    columns, rows = await asked.table(measures, order)
    figures: Figures = {"side": side, "count": len(rows), "of": len(coins)}
    if rows:
        signal = await reading.tool("signal", symbol=order[0])
        record = next(str(one["says"]) for one in _outcomes(signal, "all_coins") if one["days"] == _HORIZON)
        figures |= {"subject": rows[0].subject, "verdict": str(rows[0].values[0]), "record": record}
    return found(
        "screen" if rows else "nobody",
        figures,
        columns=columns,
        rows=rows,
        shown=10,
        unknown=asked.names([*unknown, *(id_ for id_ in coins if verdicts[id_] is None)]),
        notes=["record", "no_advice"] if rows else ["no_advice"],
    )


def _outcomes(signal: Any, of: Literal["all_coins", "this_coin"]) -> list[Any]:
    outcomes: list[Any] = (signal["record"]["backtested"] or signal["record"]["live"])[of]
    return outcomes


async def record(asked: QueryContext, operation: Record) -> Result:
    """How past verdicts, regime trades or walk-forward strategies did."""
    coins = [] if asked.query.subject.scope == "all" else [id_ for id_ in asked.ids if id_ in asked.reading.coins()]
    time = asked.query.time
    if not isinstance(time, Now) and (operation.of != "verdicts" or not isinstance(time, Window)):
        raise Refused("no-past-list")
    if operation.of == "walkforward":
        return await _walkforward(asked.reading)
    if len(coins) > 1:
        raise Refused("one-coin")
    if operation.of == "regime":
        return await _trades(asked, coins[0] if coins else BENCHMARK)
    symbol = coins[0] if coins else _with_verdict(asked.reading, operation.state)
    signal = await asked.reading.tool("signal", symbol=symbol)
    if operation.state not in {None, signal["verdict"]}:
        raise Refused("other-verdict", subject=asked.name(symbol), verdict=signal["verdict"])
    outcomes = _outcomes(signal, "this_coin" if coins else "all_coins")
    horizon = time.count * TO_MS[time.unit] // DAY_MS if isinstance(time, Window) else _HORIZON
    says = next((one["says"] for one in outcomes if one["days"] == horizon), None)
    if says is None:
        raise Refused("no-horizon")
    names = [f"{one['days']} {'day' if one['days'] == 1 else 'days'}" for one in outcomes]
    return found(
        "record",
        {
            "verdict": signal["verdict"],
            "says": says,
            "kind": "backtested" if signal["record"]["backtested"] else "live",
            "of": f" of {asked.name(symbol)}" if coins else "",
        },
        columns=[
            Column("came true", Unit.FRACTION),
            Column("base rate", Unit.FRACTION),
            Column("mean move", Unit.PERCENT),
            Column("days counted", Unit.COUNT),
        ],
        rows=_rows(names, outcomes, ("hit_rate", "base_rate", "mean_move_pct", "days_seen")),
    )


def _rows(names: Sequence[str], payload: Sequence[Any], keys: Sequence[str]) -> list[Row]:
    return [Row(name, tuple(one[key] for key in keys)) for name, one in zip(names, payload, strict=True)]


def _with_verdict(reading: DataReader, verdict: str | None) -> str:
    """A coin that has a verdict now: its answer holds the record of such verdicts. Without a verdict Bitcoin."""
    if verdict is None:
        return BENCHMARK
    verdicts = reading.column("verdict", sorted(reading.coins()))
    symbol = next((symbol for symbol, state in verdicts.items() if state == verdict), None)
    if symbol is None:
        raise Refused("no-record", verdict=verdict)
    return symbol


async def _trades(asked: QueryContext, symbol: str) -> Result:
    history = await asked.reading.tool("regime", action="history", symbol=symbol)
    summary = history["summary"]
    returns = [trade["returnPct"] for trade in history["trades"]] if summary["total"] else []
    figures: Figures = {"best": percent(max(returns)), "worst": percent(min(returns))} if returns else {}
    return found(
        "regime_record" if returns else "no_trades",
        {
            "subject": asked.name(symbol),
            "count": summary["total"],
            "wins": summary["wins"],
            "losses": summary["losses"],
            "rate": Figure(summary["winRate"], Unit.FRACTION),
            "value": percent(summary["meanReturnPct"]),
            **figures,
        },
    )


async def _walkforward(reading: DataReader) -> Result:
    summary = (await reading.tool("walkforward", action="outcomes", limit=1))["summary"]
    if summary is None:
        raise Refused("no-run")
    published, hold = [one for one in summary["strategies"] if one["published"]], summary["buyAndHold"]
    names = [one["strategy"].replace("-", " ") for one in published]
    rows = _rows(names, published, ("returnPct", "total", "winRate", "maxDrawdownPct", "sharpe"))
    rows.append(Row("buy and hold", (hold["returnPct"], None, None, hold["maxDrawdownPct"], hold["sharpe"])))
    return found(
        "walkforward",
        {
            "value": percent(summary["returnPct"]),
            "count": summary["total"],
            "base": percent(hold["returnPct"]),
            "first": date(parse_iso(f"{summary['firstDay']}T00:00:00Z")),
            "last": date(parse_iso(f"{summary['lastDay']}T00:00:00Z")),
        },
        columns=[
            Column("return", Unit.PERCENT),
            Column("trades", Unit.COUNT),
            Column("won", Unit.FRACTION),
            Column("worst drawdown", Unit.PERCENT),
            Column("Sharpe", Unit.RATIO),
        ],
        rows=rows,
        shown=10,
    )


async def explain(asked: QueryContext, operation: Explain) -> Result:
    """A definition of the glossary."""
    definition = await asked.reading.tool("glossary", term=operation.term)
    return found("explain", {"term": definition["title"], "text": definition["text"]})
