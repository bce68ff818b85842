"""Views of `signal`, `signal-quality` and `scorecard`."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any, Final

from service import formats
from service.cli import plots
from service.cli.formatting import (
    UNKNOWN,
    change,
    day,
    direction,
    footer,
    moment,
    price,
    share,
    signed,
    usd,
)
from service.cli.layout import facts, flow, heading, listed, table
from service.cli.terminal import Cell, Display, Part, Style

_MOST: Final = 4
_GAUGE: Final = 41
_BAR: Final = 10
_EXACT: Final = 1e-6
_SIGNAL_HEADERS: Final = ("RULE", "FINDS", "BOUND", "FLIPS AT", "COUNTS", "")
_SIGNAL_SIDES: Final = "lrrrrl"
_ROOMY: Final = 78
_NARROW: Final = (0, 1, 3, 4)
"""Columns on a narrow screen: without the bound, which the sentences say, and without the bar."""
STYLES: Final[Mapping[str, Style]] = {
    "strong-bull": "good",
    "bull": "good",
    "bear": "bad",
    "strong-bear": "bad",
    "insufficient-evidence": "warn",
}
_TARGETS: Final = {"rises": "The price is higher", "beats-median": "It gains more than the median coin"}
_RECORD: Final = ("AFTER", "RECORD", "DAYS", "RIGHT", "95 % INTERVAL", "BASE", "MEAN MOVE")


def signal(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """What it says, how that adds up, why, and how often such verdicts were right."""
    yield from _verdict(data, screen, chosen.get("as_of"))
    yield ""
    yield from _arithmetic(data, screen)
    yield ""
    yield screen.paint("strong", "Why")
    yield from _evidence(data, screen)
    yield ""
    yield screen.paint("strong", "What it claims")
    yield from _claims(data, screen)
    yield ""
    yield screen.paint("strong", "How such verdicts turned out")
    yield from _signal_record(data, screen)
    yield ""
    yield from _identity(data, screen)
    yield from footer(screen, meta)


def _verdict(data: Any, screen: Display, then: object) -> Iterator[str]:
    risk = data.get("raw", {"risk": {"price": data.get("price")}})["risk"]
    style = STYLES.get(data["verdict"])
    known = [Cell(usd(risk["price"]))] if risk else []
    said = Cell(data["verdict"].upper().replace("-", " "), style)
    at = [Cell(f"as of {moment(then)}", "dim")] if then else []
    sure = Cell(f"{data['confidence']} confidence")
    yield from heading(screen, [Cell(data["symbol"], "strong"), *known, said, sure, *at])
    drawn = plots.gauge(data["score"], -_MOST, _MOST, min(_GAUGE, max(screen.width - 16, 3)))
    yield f"-{_MOST} {screen.paint(style, drawn)} +{_MOST}   {screen.paint('strong', signed(data['score'], unit=''))}"
    wanting = [Cell(f"{name} {state}", "warn") for name, state in data["sources"].items() if state != "fulfilled"]
    if wanting:
        yield ""
        yield from facts(screen, [("Wanting", listed(wanting))])


def _arithmetic(data: Any, screen: Display) -> Iterator[str]:
    """The rules, and what they add up to; that they do is worked out here again."""
    total: list[Cell | object] = ["together", "", "", "", Cell(signed(data["score"], unit=""), "strong"), ""]
    shown = range(len(total)) if screen.width >= _ROOMY else _NARROW
    rows = [[row[place] for place in shown] for row in (*map(_signal_row, data["rules"]), total)]
    yield from table(
        screen,
        [_SIGNAL_HEADERS[place] for place in shown],
        rows,
        right="".join(_SIGNAL_SIDES[place] for place in shown),
    )
    summed = fsum(rule["contribution"] for rule in data["rules"])
    if abs(summed - data["score"]) > _EXACT:
        yield from flow(
            screen, [Cell("This does not add up:", "bad"), f"the rules count {signed(summed, unit='')} together."]
        )


def _signal_row(rule: Any) -> list[Cell | object]:
    counts = rule["contribution"]
    return [
        formats.rule(rule["id"]),
        _value(rule, "value"),
        Cell(_value(rule, "threshold"), "dim"),
        Cell(_value(rule, "flips_at"), "dim"),
        Cell(signed(counts, unit=""), direction(counts)),
        Cell(plots.bar(counts, -1, 1, _BAR), direction(counts)),
    ]


def _value(rule: Any, name: str) -> str:
    value = rule[name]
    if isinstance(value, int | float):
        return signed(value) if rule["id"].startswith("funding") else price(value)
    return UNKNOWN if value is None else str(value)


def _evidence(data: Any, screen: Display) -> Iterator[str]:
    counted = {rule["evidence"]: rule["contribution"] for rule in data["rules"]}
    for place, sentence in enumerate(data["evidence"]):
        counts = counted.get(place)
        sign = " " if counts is None else "+" if counts > 0 else "-" if counts < 0 else "·"
        text = flow(screen, [sentence], indent=4)
        first = next(text, "    ")
        yield f"  {screen.paint(direction(counts), sign)} {first[4:]}"
        yield from text


def _claims(data: Any, screen: Display) -> Iterator[str]:
    """What was earned, and of the rest what is asked for most: whether the price rises."""
    claims = data.get("claims")
    if claims is None:
        yield from flow(screen, ["Not told of a verdict in the past: it was not known then."])
        return
    for claim in claims:
        if claim["probability"] is None and claim["target"] != "rises":
            continue
        text = claim["reason"] or (
            f"{_TARGETS.get(claim['target'], claim['target'])} after {_later(claim['days'])}: "
            f"{share(claim['probability'], 0)}, base rate {share(claim['base_rate'], 0)}."
        )
        yield from flow(screen, [text], indent=2)
    left_out = data.get("omitted", {}).get("claims")
    if left_out:
        none = "none: " if len(claims) == 0 else ""
        said = (
            f"{none}no skill was shown for {formats.count(left_out, 'claim')}; `--detail full` says what was measured."
        )
        yield from flow(screen, [f"{said[0].upper()}{said[1:]}"], indent=2)


def _signal_record(data: Any, screen: Display) -> Iterator[str]:
    record = data.get("record")
    if record is None:
        yield from flow(screen, ["Not told of a verdict in the past: it was not known then."])
        return
    found = [
        (f"{of}{whose}", outcomes)
        for of in ("live", "backtested")
        for part, whose in (("all_coins", ""), ("this_coin", f", {data['symbol']}"))
        for outcomes in (record[of] or {}).get(part, ())
    ]
    rows = [_outcomes(name, outcomes) for name, outcomes in found if outcomes["hit_rate"] is not None]
    if rows:
        yield from table(screen, _RECORD, rows, right="llrrrrr")
    elif found:
        yield from flow(screen, [max((outcomes for _, outcomes in found), key=lambda one: one["days_seen"])["says"]])
    else:
        yield from flow(screen, ["No verdict of this kind has an outcome yet."])


def _later(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _outcomes(name: str, found: Any) -> list[Cell | object]:
    move = found["mean_move_pct"]
    better = None if found["base_rate"] is None else direction(found["hit_rate"] - found["base_rate"])
    return [
        _later(found["days"]),
        name,
        f"{found['days_seen']:,}",
        Cell(share(found["hit_rate"]), better),
        _interval(found),
        share(found["base_rate"]),
        Cell(signed(move), direction(move)),
    ]


def _interval(row: Any) -> str:
    if row["hit_rate"] is not None and row["hit_rate_low"] is None:
        return "days all alike"
    return f"{share(row['hit_rate_low'])} to {share(row['hit_rate_high'])}"


def _identity(data: Any, screen: Display) -> Iterator[str]:
    """What it can be checked by: `verdict verify` makes it again from its inputs."""
    rules, record = data["ruleset"], data.get("record")
    text: list[tuple[str, list[Part]]] = [
        ("Verdict", [data["verdict_id"]]),
        ("Rules", [f"{rules['name']} {rules['version']}, {rules['digest'][:16]}…"]),
    ]
    if record is not None:
        entries = f"{record['entries']:,} {'entry' if record['entries'] == 1 else 'entries'}"
        text.append(("Ledger", [f"{entries}, {record['head'][:16]}…"]))
    yield from facts(screen, text)


_SCORECARD_HEADERS: Final = ("VERDICT", "AFTER", "DAYS", "OUTCOMES", "RIGHT", "95 % INTERVAL", "BASE", "MEAN MOVE")
_SCORECARD_SIDES: Final = "lrrrrrrr"
_LIVE: Final = "Live: one verdict a day on every coin, written down before its outcome was known"
_BACKTESTED: Final = "Backtested: the same rules, recomputed for every past day from closed bars"
_ASKED: Final = "Asked: live verdicts that somebody asked for; who asks chooses when"


def scorecard(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Both records of all coins, and how to read them."""
    record = data["record"]
    yield from _scorecard_record(_LIVE, record["live"]["all_coins"], screen)
    yield from _scorecard_record(_BACKTESTED, (record["backtested"] or {}).get("all_coins", ()), screen)
    if record["live"]["asked"]:
        yield from _scorecard_record(_ASKED, record["live"]["asked"], screen)
    read = (
        "RIGHT: how often what the verdict says came true. Coins move together, so days are what counts: "
        f"{record['days_needed']} are needed, and the interval treats all coins of a day as one. BASE: how often the "
        "same came true after any daily verdict."
    )
    yield from flow(screen, [read])
    yield ""
    yield from _ledger(record, screen)
    yield from footer(screen, meta)


def coin_record(data: Any, screen: Display) -> Iterator[str]:
    """Both records of one coin."""
    record = data["record"]
    yield from _scorecard_record(_LIVE, record["live"]["this_coin"], screen)
    yield from _scorecard_record(_BACKTESTED, (record["backtested"] or {}).get("this_coin", ()), screen)
    yield from _ledger(record, screen)


def _scorecard_record(title: str, rows: Sequence[Any], screen: Display) -> Iterator[str]:
    yield from flow(screen, [Cell(title, "strong")])
    if rows:
        yield from table(screen, _SCORECARD_HEADERS, [_scorecard_row(row) for row in rows], right=_SCORECARD_SIDES)
    else:
        yield from flow(screen, ["No outcome yet."], indent=2)
    yield ""


def _scorecard_row(row: Any) -> list[Cell | object]:
    said = [row["verdict"].replace("-", " "), f"{row['days']} d", f"{row['days_seen']:,}", f"{row['outcomes']:,}"]
    if row["hit_rate"] is None:
        return [*said, "", Cell("not enough yet", "dim"), "", ""]
    return [*said, share(row["hit_rate"]), _interval(row), share(row["base_rate"]), change(row["mean_move_pct"])]


def _ledger(record: Any, screen: Display) -> Iterator[str]:
    text = f"{formats.count(record['entries'], 'verdict')}, {record['head'][:16]}…"
    yield from facts(
        screen, [("Rules", [f"version {record['ruleset']}"]), ("Ledger", [text]), *_void(record["live"]["void"])]
    )
    yield ""


def _void(count: int) -> Iterator[tuple[str, list[str]]]:
    if count:
        yield "Left out", [f"{formats.count(count, 'outcome')} without a recorded price"]


_TIERS: Final[Mapping[str, tuple[str, Style]]] = {
    "INSUFFICIENT_DATA": ("insufficient data", "warn"),
    "PRELIMINARY": ("preliminary", "warn"),
    "VALIDATED": ("validated", "good"),
}


def signal_quality(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Tier, message, and the figures behind them."""
    tier, style = _TIERS.get(data["reliability_tier"], (data["reliability_tier"], "warn"))
    yield from heading(screen, [Cell(data["asset"], "strong"), Cell(data["signal_type"], "strong"), Cell(tier, style)])
    yield ""
    yield from flow(screen, [data["message"]])
    yield ""
    if "record" in data:
        yield from coin_record(data, screen)
    elif data["validations"]["sampleSize"]:
        yield from facts(screen, _figures(data["validations"]))
        yield ""
    yield from footer(screen, meta)


def _figures(found: Any) -> Iterator[tuple[str, list[Part]]]:
    tested = f"closed from {day(found['firstDay'])} to {day(found['lastDay'])}, out of sample"
    yield "Trades", [Cell(f"{found['sampleSize']:,}", "strong"), tested]
    yield "Won", [Cell(share(found["winRate"]), "strong")]
    yield "Mean of a trade", [change(found["meanReturnPct"]), "after costs and funding"]
    yield "Sharpe of a trade", [UNKNOWN if found["sharpe"] is None else f"{found['sharpe']:.3f}"]
    if found["deflatedSharpe"] is None:
        return
    luck = f"that the true Sharpe ratio is above the best that {found['trials']} trials show by luck"
    yield "P(Sharpe > luck)", [Cell(f"{found['deflatedSharpe']:.3f}", "strong"), luck]
