"""`verdict signal BTC`: the verdict, its arithmetic, the sentences behind it, what became of others like it."""

from collections.abc import Iterator, Mapping
from math import fsum
from typing import Any, Final

from service.clients.cli import plots
from service.clients.cli.figures import UNKNOWN, direction, footer, moment, price, share, signed, usd
from service.clients.cli.prose import facts, flow, heading, listed
from service.clients.cli.screen import Cell, Part, Screen, Style
from service.clients.cli.tables import table

_MOST: Final = 4
_GAUGE: Final = 41
_BAR: Final = 10
_EXACT: Final = 1e-6
_HEADERS: Final = ("RULE", "FINDS", "BOUND", "FLIPS AT", "COUNTS", "")
_SIDES: Final = "lrrrrl"
_ROOMY: Final = 78
_NARROW: Final = (0, 1, 3, 4)
"""Columns on a narrow screen: without the bound, which the sentences say, and without the bar."""
_TITLES: Final = {
    "trend-daily": "daily trend",
    "trend-weekly": "weekly trend",
    "regime-market": "market's regime",
    "regime-coin": "coin's regime",
    "funding-level": "funding level",
    "funding-momentum": "funding, 24 h - 7 d",
}
_STYLES: Final[Mapping[str, Style]] = {
    "strong-bull": "good",
    "bull": "good",
    "bear": "bad",
    "strong-bear": "bad",
    "insufficient-evidence": "warn",
}
_TARGETS: Final = {"rises": "The price is higher", "beats-median": "It gains more than the median coin"}
_RECORD: Final = ("AFTER", "RECORD", "DAYS", "RIGHT", "95 % INTERVAL", "BASE", "MEAN MOVE")


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:
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
    yield from _record(data, screen)
    yield ""
    yield from _identity(data, screen)
    yield from footer(screen, meta)


def _verdict(data: Any, screen: Screen, then: object) -> Iterator[str]:
    risk = data["raw"]["risk"]
    style = _STYLES.get(data["verdict"])
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


def _arithmetic(data: Any, screen: Screen) -> Iterator[str]:
    """The rules, and what they add up to; that they do is worked out here again."""
    total: list[Cell | object] = ["together", "", "", "", Cell(signed(data["score"], unit=""), "strong"), ""]
    shown = range(len(total)) if screen.width >= _ROOMY else _NARROW
    rows = [[row[place] for place in shown] for row in (*map(_row, data["rules"]), total)]
    yield from table(
        screen, [_HEADERS[place] for place in shown], rows, right="".join(_SIDES[place] for place in shown)
    )
    summed = fsum(rule["contribution"] for rule in data["rules"])
    if abs(summed - data["score"]) > _EXACT:
        yield from flow(
            screen, [Cell("This does not add up:", "bad"), f"the rules count {signed(summed, unit='')} together."]
        )


def _row(rule: Any) -> list[Cell | object]:
    counts = rule["contribution"]
    return [
        _TITLES.get(rule["id"], rule["id"]),
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


def _evidence(data: Any, screen: Screen) -> Iterator[str]:
    counted = {rule["evidence"]: rule["contribution"] for rule in data["rules"]}
    for place, sentence in enumerate(data["evidence"]):
        counts = counted.get(place)
        sign = " " if counts is None else "+" if counts > 0 else "-" if counts < 0 else "·"
        told = flow(screen, [sentence], indent=4)
        first = next(told, "    ")
        yield f"  {screen.paint(direction(counts), sign)} {first[4:]}"
        yield from told


def _claims(data: Any, screen: Screen) -> Iterator[str]:
    """What was earned, and of the rest what is asked for most: whether the price rises."""
    claims = data.get("claims")
    if claims is None:
        yield from flow(screen, ["Not told of a verdict in the past: it was not known then."])
        return
    for claim in claims:
        if claim["probability"] is None and claim["target"] != "rises":
            continue
        told = claim["reason"] or (
            f"{_TARGETS.get(claim['target'], claim['target'])} after {_later(claim['days'])}: "
            f"{share(claim['probability'], 0)}, base rate {share(claim['base_rate'], 0)}."
        )
        yield from flow(screen, [told], indent=2)


def _record(data: Any, screen: Screen) -> Iterator[str]:
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
    else:
        yield from flow(screen, [max((outcomes for _, outcomes in found), key=lambda one: one["days_seen"])["says"]])


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
        f"{share(found['hit_rate_low'])} to {share(found['hit_rate_high'])}",
        share(found["base_rate"]),
        Cell(signed(move), direction(move)),
    ]


def _identity(data: Any, screen: Screen) -> Iterator[str]:
    """What it can be checked by: `verdict verify` makes it again from its inputs."""
    rules, record = data["ruleset"], data.get("record")
    told: list[tuple[str, list[Part]]] = [
        ("Verdict", [data["verdict_id"]]),
        ("Rules", [f"{rules['name']} {rules['version']}, {rules['digest'][:16]}…"]),
    ]
    if record is not None:
        entries = f"{record['entries']:,} {'entry' if record['entries'] == 1 else 'entries'}"
        told.append(("Ledger", [f"{entries}, {record['head'][:16]}…"]))
    yield from facts(screen, told)
