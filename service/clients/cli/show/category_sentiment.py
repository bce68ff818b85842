"""`verdict category sentiment "Layer 1 (L1)"`: the crowd's stance, and that on each coin."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli import plots
from service.clients.cli.figures import direction, elapsed_s, footer, signed, span
from service.clients.cli.prose import facts, heading, listed
from service.clients.cli.screen import Cell, Part, Screen, Style
from service.clients.cli.tables import table

_GAUGE: Final = 41
_BAR: Final = 30
_STANCES: Final[Mapping[str, Style]] = {
    "accumulation": "good",
    "distribution": "warn",
    "euphoria": "warn",
    "capitulation": "bad",
    "exhaustion": "accent",
}


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Stance and score, what they rest on, then the coins from the best spoken of to the worst."""
    yield from heading(screen, [Cell(data["name"], "strong"), _stance(data["stance"], "strong"), _score(data["score"])])
    if data["score"] is not None:
        drawn = plots.gauge(data["score"], -1, 1, min(_GAUGE, max(screen.width - 6, 3)))
        yield f"-1 {screen.paint(direction(data['score']), drawn)} +1"
    yield ""
    yield from facts(screen, _figures(data, meta))
    yield ""
    yield from table(
        screen, ["COIN", "STANCE", "SCORE", ""], [_row(coin) for coin in _ranked(data["coins"])], right="llr"
    )
    yield ""
    yield from footer(screen, meta)


def _figures(data: Any, meta: Any) -> Iterator[tuple[str, list[Part]]]:
    yield "Summary", [data["summary"]]
    yield "Change", [_score(data["slope_24h"]), "in 24 h"]
    newest = data["newest_at"]
    ago = [] if newest is None else [f", the newest {span(elapsed_s(newest, meta['ts']))} ago"]
    by = [f", by {' and '.join(data['sources'])}"] if data["sources"] else []
    yield "Mentions", [f"{data['mentions']:,} in 7 days", *by, *ago]
    counts = Counter(coin["stance"] for coin in data["coins"])
    yield "Coins", listed(Cell(f"{count} {stance}", _STANCES.get(stance)) for stance, count in counts.most_common())


def _stance(name: str | None, otherwise: Style | None = None) -> Cell:
    return Cell(name, _STANCES.get(name or "", otherwise))


def _score(value: float | None) -> Cell:
    return Cell(signed(value, unit=""), direction(value))


def _ranked(coins: Any) -> list[Any]:
    return sorted(coins, key=lambda coin: (coin["score"] is None, -(coin["score"] or 0.0)))


def _row(coin: Any) -> list[Cell | object]:
    drawn = plots.bar(coin["score"], -1, 1, _BAR)
    return [
        Cell(coin["symbol"], "strong"),
        _stance(coin["stance"]),
        _score(coin["score"]),
        Cell(drawn, direction(coin["score"])),
    ]
