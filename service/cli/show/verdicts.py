"""Views of `signal`, `signal-quality` and `scorecard`."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any, Final

from service import formats
from service.cli import plots
from service.cli.formatting import change, day, direction, footer, moment, number, price, share, signed, usd
from service.cli.layout import facts, flow, heading, listed
from service.cli.show.columns import Field, columns, strong
from service.cli.terminal import Cell, Display, Part, Style

_MOST: Final = 4
_GAUGE: Final = 41
_BAR: Final = 10
_EXACT: Final = 1e-6
_ROOMY: Final = 78
_DIGITS: Final = 16
"""Digits of a digest that are shown."""
STYLES: Final[Mapping[str, Style]] = {
    "strong-bull": "good",
    "bull": "good",
    "bear": "bad",
    "strong-bear": "bad",
    "insufficient-evidence": "warn",
}
_TARGETS: Final = {"rises": "The price is higher", "beats-median": "It gains more than the median coin"}
_NOT_KNOWN_THEN: Final = "Not told of a verdict in the past: it was not known then."


def signal(data: Any, meta: Any, screen: Display, chosen: Mapping[str, object]) -> Iterator[str]:
    """What it says, how that adds up, why, and how often such verdicts were right."""
    yield from _verdict(data, screen, chosen.get("as_of"))
    yield ""
    yield from _arithmetic(data, screen)
    sections = (
        ("Why", _evidence),
        ("What it claims", _claims),
        ("How such verdicts turned out", _signal_record),
    )
    for title, lines in sections:
        yield ""
        yield screen.paint("strong", title)
        yield from lines(data, screen)
    yield ""
    yield from _identity(data, screen)
    yield from footer(screen, meta, "by its oldest input")


def _verdict(data: Any, screen: Display, then: object) -> Iterator[str]:
    risk = data.get("raw", {"risk": {"price": data.get("price")}})["risk"]
    style = STYLES.get(data["verdict"])
    said = [
        strong(data["symbol"]),
        *([Cell(usd(risk["price"]))] if risk else []),
        Cell(formats.label(data["verdict"].upper()), style),
        Cell(f"{data['confidence']} confidence"),
        *([Cell(f"as of {moment(then)}", "dim")] if then else []),
    ]
    yield from heading(screen, said)
    drawn = plots.gauge(data["score"], -_MOST, _MOST, min(_GAUGE, max(screen.width - 16, 3)))
    yield f"-{_MOST} {screen.paint(style, drawn)} +{_MOST}   {screen.paint('strong', signed(data['score'], unit=''))}"
    missing = [Cell(f"{name} {state}", "warn") for name, state in data["sources"].items() if state != "fulfilled"]
    if missing:
        yield ""
        yield from facts(screen, [("Missing", listed(missing))])


def _figure(rule: Any, name: str) -> Cell:
    value = rule[name]
    if isinstance(value, int | float):
        value = signed(value) if rule["id"].startswith("funding") else price(value)
    return Cell(value, None if name == "value" else "dim")


def _counted(value: float, drawn: float | None) -> Cell:
    return Cell(signed(value, unit=""), "strong" if drawn is None else direction(drawn))


_RULES: Final = (
    Field("RULE", "id", formats.rule),
    Field("FINDS", "", lambda rule: _figure(rule, "value"), "r"),
    Field("BOUND", "", lambda rule: _figure(rule, "threshold"), "r", wide=_ROOMY),  # the sentences say it too
    Field("FLIPS AT", "", lambda rule: _figure(rule, "flips_at"), "r"),
    Field("COUNTS", "", lambda rule: _counted(rule["contribution"], rule["bar"]), "r"),
    Field("", "bar", lambda value: Cell(plots.bar(value, -1, 1, _BAR), direction(value)), wide=_ROOMY),
)


def _arithmetic(data: Any, screen: Display) -> Iterator[str]:
    """The rules, and what they add up to; that they do is worked out here again."""
    rules = [{**rule, "bar": rule["contribution"]} for rule in data["rules"]]
    blank = {"value": "", "threshold": "", "flips_at": "", "bar": None}
    yield from columns(screen, _RULES, [*rules, {"id": "together", **blank, "contribution": data["score"]}])
    summed = fsum(rule["contribution"] for rule in rules)
    if abs(summed - data["score"]) > _EXACT:
        yield from flow(
            screen, [Cell("This does not add up:", "bad"), f"the rules count {signed(summed, unit='')} together."]
        )


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
    """Probabilities that were earned, and what was measured of the others."""
    claims = data.get("claims")
    if claims is None:
        yield from flow(screen, [_NOT_KNOWN_THEN])
        return
    for claim in claims:
        text = claim["reason"] or (
            f"{_TARGETS.get(claim['target'], claim['target'])} after {formats.count(claim['days'], 'day')}: "
            f"{share(claim['probability'], 0)}, base rate {share(claim['base_rate'], 0)}."
        )
        yield from flow(screen, [text], indent=2)
    left_out = data.get("omitted", {}).get("claims")
    if left_out:
        said = f"o skill was shown for {formats.count(left_out, 'claim')}; `--detail full` says what was measured."
        yield from flow(screen, [f"{'N' if claims else 'None: n'}{said}"], indent=2)


def _interval(row: Any) -> str:
    if row["hit_rate"] is not None and row["hit_rate_low"] is None:
        return "days all alike"
    return f"{share(row['hit_rate_low'])} to {share(row['hit_rate_high'])}"


def _right(row: Any) -> Cell:
    better = None if row["base_rate"] is None else direction(row["hit_rate"] - row["base_rate"])
    return Cell(share(row["hit_rate"]), better)


_RECORD: Final = (
    Field("AFTER", "days", lambda days: formats.count(days, "day")),
    Field("RECORD", "name"),
    Field("DAYS", "days_seen", lambda days: f"{days:,}", "r"),
    Field("RIGHT", "", _right, "r"),
    Field("95 % INTERVAL", "", _interval, "r"),
    Field("BASE", "base_rate", share, "r"),
    Field("MEAN MOVE", "mean_move_pct", change, "r"),
)


def _signal_record(data: Any, screen: Display) -> Iterator[str]:
    record = data.get("record")
    if record is None:
        yield from flow(screen, [_NOT_KNOWN_THEN])
        return
    found = [
        {**outcomes, "name": f"{of}{whose}"}
        for of in ("live", "backtested")
        for part, whose in (("all_coins", ""), ("this_coin", f", {data['symbol']}"))
        for outcomes in (record[of] or {}).get(part, ())
    ]
    rows = [outcomes for outcomes in found if outcomes["hit_rate"] is not None]
    if rows:
        yield from columns(screen, _RECORD, rows)
    elif found:
        yield from flow(screen, [max(found, key=lambda outcomes: outcomes["days_seen"])["says"]])
    else:
        yield from flow(screen, ["No verdict of this kind has an outcome yet."])


def _identity(data: Any, screen: Display) -> Iterator[str]:
    """What it can be checked by: `verdict verify` makes it again from its inputs."""
    rules, record = data["ruleset"], data.get("record")
    said: list[tuple[str, list[Part]]] = [
        ("Verdict", [data["verdict_id"]]),
        ("Rules", [f"{rules['name']} {rules['version']}, {rules['digest'][:_DIGITS]}…"]),
    ]
    if record is not None:
        entries = f"{record['entries']:,} {'entry' if record['entries'] == 1 else 'entries'}"
        said.append(("Ledger", [f"{entries}, {record['head'][:_DIGITS]}…"]))
    yield from facts(screen, said)


def _if_known(write: Any) -> Any:
    return lambda row: "" if row["hit_rate"] is None else write(row)


_SCORECARD: Final = (
    Field("VERDICT", "verdict", formats.label),
    Field("AFTER", "days", lambda days: f"{days} d", "r"),
    Field("DAYS", "days_seen", lambda days: f"{days:,}", "r"),
    Field("OUTCOMES", "outcomes", lambda count: f"{count:,}", "r"),
    Field("RIGHT", "", _if_known(lambda row: share(row["hit_rate"])), "r"),
    Field(
        "95 % INTERVAL",
        "",
        lambda row: Cell("not enough yet", "dim") if row["hit_rate"] is None else _interval(row),
        "r",
    ),
    Field("BASE", "", _if_known(lambda row: share(row["base_rate"])), "r"),
    Field("MEAN MOVE", "", _if_known(lambda row: change(row["mean_move_pct"])), "r"),
)
_LIVE: Final = "Live: one verdict a day on every coin, written down before its outcome was known"
_BACKTESTED: Final = "Backtested: the same rules, recomputed for every past day from closed bars"
_ASKED: Final = "Asked: live verdicts that somebody asked for; who asks chooses when"


def scorecard(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Both records of all coins, and how to read them."""
    record = data["record"]
    yield from _both(record, "all_coins", screen)
    if record["live"]["asked"]:
        yield from _record(_ASKED, record["live"]["asked"], screen)
    read = (
        "RIGHT: how often what the verdict says came true. Coins move together, so days are what counts: "
        f"{record['days_needed']} are needed, and the interval treats all coins of a day as one. BASE: how often the "
        "same came true after any daily verdict."
    )
    yield from flow(screen, [read])
    yield ""
    yield from _ledger(record, screen)
    yield from footer(screen, meta)


def _both(record: Any, coins: str, screen: Display) -> Iterator[str]:
    yield from _record(_LIVE, record["live"][coins], screen)
    yield from _record(_BACKTESTED, (record["backtested"] or {}).get(coins, ()), screen)


def _record(title: str, rows: Sequence[Any], screen: Display) -> Iterator[str]:
    yield from flow(screen, [strong(title)])
    yield from columns(screen, _SCORECARD, rows) if rows else flow(screen, ["No outcome yet."], indent=2)
    yield ""


def _ledger(record: Any, screen: Display) -> Iterator[str]:
    said = [
        ("Rules", [f"version {record['ruleset']}"]),
        ("Ledger", [f"{formats.count(record['entries'], 'verdict')}, {record['head'][:_DIGITS]}…"]),
    ]
    if record["live"]["void"]:
        said.append(("Left out", [f"{formats.count(record['live']['void'], 'outcome')} without a recorded price"]))
    yield from facts(screen, said)
    yield ""


def signal_quality(data: Any, meta: Any, screen: Display, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Tier, message, and the figures behind them."""
    tier = data["reliability_tier"].lower().replace("_", " ")
    style: Style = "good" if tier == "validated" else "warn"
    yield from heading(screen, [strong(data["asset"]), strong(data["signal_type"]), Cell(tier, style)])
    yield ""
    yield from flow(screen, [data["message"]])
    yield ""
    if "record" in data:
        yield from _both(data["record"], "this_coin", screen)
        yield from _ledger(data["record"], screen)
    elif data["validations"]["sampleSize"]:
        yield from facts(screen, _trades(data["validations"]))
        yield ""
    yield from footer(screen, meta)


def _trades(found: Any) -> Iterator[tuple[str, list[Part]]]:
    tested = f"closed from {day(found['firstDay'])} to {day(found['lastDay'])}, out of sample"
    yield "Trades", [strong(f"{found['sampleSize']:,}"), tested]
    yield "Won", [strong(share(found["winRate"]))]
    yield "Mean of a trade", [change(found["meanReturnPct"]), "after costs and funding"]
    yield "Sharpe of a trade", [number(found["sharpe"], 3)]
    if found["deflatedSharpe"] is not None:
        luck = f"that the true Sharpe ratio is above the best that {found['trials']} trials show by luck"
        yield "P(Sharpe > luck)", [strong(number(found["deflatedSharpe"], 3)), luck]
