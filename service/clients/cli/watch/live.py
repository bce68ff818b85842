"""What the view shows around a stream's own view: what it is, how old, and how the connection is."""

from collections.abc import Iterator
from typing import Any, Final

from service.clients.cli.prose import flow
from service.clients.cli.screen import Cell, Part, Screen, age, cut, safe
from service.clients.cli.watch.following import Line
from service.clients.cli.watch.taking import take
from service.clients.cli.watch.views.view import View
from service.clock import Clock

_AROUND: Final = 4
"""Rows that are not the stream's own: two above, two below."""

_HINT: Final = "Ctrl-C ends it"


class Live:
    """A stream as it stands.

    Args:
        stream: Its name.
        view: Shows its data.
        clock: Says how long ago something came.
    """

    def __init__(self, stream: str, view: View, clock: Clock) -> None:
        self._stream = stream
        self._view = view
        self._clock = clock
        self._source = ""
        self._meta: Any = None
        self._came = 0.0
        self._fed = True
        self._trouble = ""

    def take(self, line: Line) -> None:
        """Note a line.

        Raises:
            UnreadableError: If it is an event that this version does not know.
        """
        self._trouble = ""
        match line.kind:
            case "open":
                self._source = safe(line.document.get("source"))
            case "event":
                self._meta = take(self._view, line)
                self._came = self._clock.monotonic()
                self._fed = True
            case "heartbeat":
                self._fed = bool((line.document.get("meta") or {}).get("live"))
            case "gap":
                self._trouble = "some events are lost: what lies between is not kept any more"
            case _:  # how it ends is told afterwards; what a newer service sends is nothing to show
                pass

    @property
    def opened(self) -> bool:
        """Whether anything has come."""
        return bool(self._source)

    def trouble(self, text: str) -> None:
        """Note what is the matter with the connection."""
        self._trouble = text

    def lines(self, screen: Screen, rows: int) -> Iterator[str]:
        """All of it, in so many lines at the most.

        Args:
            screen: Where it is read.
            rows: Lines of the page.
        """
        room = max(rows - _AROUND, 1)
        yield next(flow(screen, self._head()), "")
        yield ""
        drawn = [] if self._waits else [*self._view.lines(screen, room)][:room]
        yield from drawn
        yield ""
        if self._trouble:
            yield screen.paint("warn", cut(safe(self._trouble), screen.width))
        else:
            yield screen.paint("dim", _HINT)

    @property
    def _waits(self) -> bool:
        return self._meta is None and self._stream not in {"alerts", "crossings"}

    def _head(self) -> list[Part]:
        said: list[Part] = [Cell(self._stream, "strong")]
        if self._source:
            said.append(Cell(f"· {self._source}", "dim"))
        if self._meta is None:
            said.append(Cell("· waiting for the first event" if self._source else "· opening", "dim"))
        else:
            old = float(self._meta["data_age_seconds"]) + self._clock.monotonic() - self._came
            said.append(Cell(f"· event {self._meta['tick']} · {age(old)}", "dim"))
        if not self._fed:
            said.append(Cell("· nothing comes from upstream", "warn"))
        return said
