"""`verdict scorecard`: how past verdicts turned out, on all coins; and the same of one coin."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from service.clients.cli.figures import change, counted, footer, share
from service.clients.cli.prose import facts, flow
from service.clients.cli.screen import Cell, Screen
from service.clients.cli.tables import table

_HEADERS: Final = ("VERDICT", "AFTER", "DAYS", "OUTCOMES", "RIGHT", "95 % INTERVAL", "BASE", "MEAN MOVE")
_SIDES: Final = "lrrrrrrr"
_LIVE: Final = "Live: one verdict a day on every coin, written down before its outcome was known"
_BACKTESTED: Final = "Backtested: the same rules, recomputed for every past day from closed bars"
_ASKED: Final = "Asked: live verdicts that somebody asked for; who asks chooses when"


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Both records of all coins, and how to read them."""
    record = data["record"]
    yield from _record(_LIVE, record["live"]["all_coins"], screen)
    yield from _record(_BACKTESTED, (record["backtested"] or {}).get("all_coins", ()), screen)
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


def of_coin(data: Any, screen: Screen) -> Iterator[str]:
    """Both records of one coin."""
    record = data["record"]
    yield from _record(_LIVE, record["live"]["this_coin"], screen)
    yield from _record(_BACKTESTED, (record["backtested"] or {}).get("this_coin", ()), screen)
    yield from _ledger(record, screen)


def _record(title: str, rows: Sequence[Any], screen: Screen) -> Iterator[str]:
    yield from flow(screen, [Cell(title, "strong")])
    if rows:
        yield from table(screen, _HEADERS, [_row(row) for row in rows], right=_SIDES)
    else:
        yield from flow(screen, ["No outcome yet."], indent=2)
    yield ""


def _row(row: Any) -> list[Cell | object]:
    said = [row["verdict"].replace("-", " "), f"{row['days']} d", f"{row['days_seen']:,}", f"{row['outcomes']:,}"]
    if row["hit_rate"] is None:
        return [*said, "", Cell("not enough yet", "dim"), "", ""]
    interval = f"{share(row['hit_rate_low'])} to {share(row['hit_rate_high'])}"
    return [*said, share(row["hit_rate"]), interval, share(row["base_rate"]), change(row["mean_move_pct"])]


def _ledger(record: Any, screen: Screen) -> Iterator[str]:
    told = f"{counted(record['entries'], 'verdict')}, {record['head'][:16]}…"
    yield from facts(
        screen, [("Rules", [f"version {record['ruleset']}"]), ("Ledger", [told]), *_void(record["live"]["void"])]
    )
    yield ""


def _void(count: int) -> Iterator[tuple[str, list[str]]]:
    if count:
        yield "Left out", [f"{counted(count, 'outcome')} without a recorded price"]
