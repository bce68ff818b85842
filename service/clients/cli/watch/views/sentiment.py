"""The market's mood."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from service.clients.cli.figures import signed
from service.clients.cli.plots import gauge
from service.clients.cli.prose import flow
from service.clients.cli.screen import Cell, Part, Screen, sparkline

_POINTS: Final = 60
_GAUGE: Final = 41


class Sentiment:
    """The mood of now, and the scores of before."""

    def __init__(self) -> None:
        self._now: Any = None
        self._scores: list[float | None] = []

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note a state."""
        self._now = data
        self._scores = [*self._scores, data["score"]][-_POINTS:]

    def lines(self, screen: Screen, rows: int) -> Iterator[str]:  # noqa: ARG002 - there are few
        """The stance, where the score lies, and why."""
        score = self._now["score"]
        yield from flow(screen, [Cell(self._now["stance"], "strong"), f", score {signed(score, unit='')} (-1 to +1)"])
        if score is not None:
            yield screen.paint("accent", gauge(score, -1, 1, min(_GAUGE, screen.width)))
        yield ""
        yield from flow(screen, [self._now["summary"]])
        if len(self._scores) > 1:
            yield ""
            yield f"{sparkline(self._scores, _POINTS)} {screen.paint('dim', 'the score, event by event')}"

    def tell(self, data: Any) -> Sequence[Part]:
        """The stance and the score."""
        return [Cell(data["stance"], "strong"), f", score {signed(data['score'], unit='')}:", data["summary"]]
