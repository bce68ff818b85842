"""`verdict signal BTC`: the verdict, its arithmetic, the sentences behind it, what became of others like it."""

from collections.abc import Iterator, Mapping
from itertools import chain
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
_RECORD: Final = ("AFTER", "VERDICTS", "OUTCOMES", "RIGHT", "BASE", "BRIER", "MEAN MOVE")


def lines(data: Any, meta: Any, screen: Screen, chosen: Mapping[str, object]) -> Iterator[str]:
    """What it says, how that adds up, why, and how often such verdicts were right."""
    yield from _verdict(data, screen, chosen.get("as_of"))
    yield ""
    yield from _arithmetic(data, screen)
    yield ""
    yield screen.paint("strong", "Why")
    yield from _evidence(data, screen)
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


def _record(data: Any, screen: Screen) -> Iterator[str]:
    record = data["track_record"]
    if record is None:
        yield from flow(screen, ["Not told of a verdict in the past: it was not known then."])
        return
    yield from flow(screen, [_claim(record["probability_up"])])
    whose = (("all_coins", "on all coins"), ("this_coin", f"on {data['symbol']}"))
    rows = [_outcomes(name, found) for part, name in whose for found in record[part] if found["hit_rate"] is not None]
    if rows:
        yield from table(screen, _RECORD, rows, right="llrrrrr")
    else:
        every = chain(*(record[part] for part, _ in whose))
        yield from flow(screen, [max(every, key=lambda found: found["outcomes"])["says"]])


def _claim(probability: float | None) -> str:
    """What is claimed: services older than version 2 of the rules answer with a probability."""
    if probability is None:
        return "No probability is claimed."
    return f"It claims {share(probability, 0)} that the price will be higher."


def _outcomes(name: str, found: Any) -> list[Cell | object]:
    days = found["days"]
    move = found["mean_move_pct"]
    better = None if found["base_rate"] is None else direction(found["hit_rate"] - found["base_rate"])
    return [
        "1 day" if days == 1 else f"{days} days",
        name,
        f"{found['outcomes']:,}",
        Cell(share(found["hit_rate"]), better),
        share(found["base_rate"]),
        UNKNOWN if found["brier"] is None else f"{found['brier']:.3f}",
        Cell(signed(move), direction(move)),
    ]


def _identity(data: Any, screen: Screen) -> Iterator[str]:
    """What it can be checked by: `verdict verify` makes it again from its inputs."""
    rules, record = data["ruleset"], data["track_record"]
    told: list[tuple[str, list[Part]]] = [
        ("Verdict", [data["verdict_id"]]),
        ("Rules", [f"{rules['name']} {rules['version']}, {rules['digest'][:16]}…"]),
    ]
    if record is not None:
        entries = f"{record['entries']:,} {'entry' if record['entries'] == 1 else 'entries'}"
        told.append(("Ledger", [f"{entries}, {record['head'][:16]}…"]))
    yield from facts(screen, told)
