"""How many coins are in which trend, as one bar with its legend."""

from collections.abc import Iterator, Mapping
from typing import Final

from service.clients.cli import plots
from service.clients.cli.figures import percent, signed, trend
from service.clients.cli.prose import heading
from service.clients.cli.screen import Cell, Screen

_WIDEST: Final = 100
_LETTERS: Final = {"UP": "█", "HODL": "▒", "DOWN": "░"}
"""Of what the bar is made: to be told apart without colour, too."""


def lines(screen: Screen, counts: Mapping[str, int]) -> Iterator[str]:
    """One bar of UP, HODL and DOWN, and what each part is."""
    total = sum(counts[state] for state in _LETTERS)
    if not total:
        yield screen.paint("dim", "No coin's trend is known.")
        return
    parts = [(counts[state], trend(state).style, letter) for state, letter in _LETTERS.items()]
    yield plots.shares(screen, parts, min(screen.width, _WIDEST))
    yield from heading(
        screen,
        [
            Cell(f"{letter} {state} {counts[state]} ({percent(100 * counts[state] / total)})", trend(state).style)
            for state, letter in _LETTERS.items()
        ],
    )


def net(counts: Mapping[str, int]) -> Cell:
    """The net share, UP less DOWN, in percent of all."""
    total = sum(counts[state] for state in _LETTERS)
    share = 100 * (counts["UP"] - counts["DOWN"]) / total if total else None
    return Cell(signed(share, 1), "strong")
