"""Views of the streams: `take` stores an event, `lines` draws the state, `tell` writes one event as a line."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from service.cli.formatting import change, elapsed_s, moment, price, signed
from service.cli.layout import flow, heading, table
from service.cli.plots import gauge, shares
from service.cli.show.regime import STYLES, positions
from service.cli.terminal import Cell, Display, Part, Style, sparkline
from service.client.answer import UnreadableAnswerError
from service.client.stream import StreamLine


class StreamView(Protocol):
    """One stream, as far as it has come."""

    def take(self, data: Any, meta: Any) -> None:
        """Note an event: its `data` and its `meta`."""

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """All that is known, in so many lines at the most."""

    def tell(self, data: Any) -> Sequence[Part]:
        """One event, to be said after it is taken."""


def fitted(lines: Iterator[str], rows: int) -> Iterator[str]:
    """At most `rows` lines; if that is not all, the last one says how many more there are."""
    known = list(lines)
    if len(known) > rows:
        known[max(rows - 1, 0) :] = [f"… {len(known) - rows + 1} more"][:rows]
    yield from known


_HEAT: Final[dict[str, Style]] = {"hot": "bad", "warm": "warn", "cool": "accent", "cold": "accent"}
_FUNDING_POINTS: Final = 60
_MOVERS_FROM: Final = 4


class FundingView:
    """The state of now, and the mean of what came before."""

    def __init__(self) -> None:
        self._now: Any = None
        self._means: list[float | None] = []

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note a state."""
        self._now = data
        self._means = [*self._means, data["market"]["avgApr"]][-_FUNDING_POINTS:]

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """The market, how many pay and are paid, and the movers."""
        market = self._now["market"]
        past = sparkline(self._means, _FUNDING_POINTS // 2) if len(self._means) > 1 else ""
        yield from flow(screen, [*_market(market), Cell(past, "dim")])
        even = market["total"] - market["positive"] - market["negative"]
        parts: list[tuple[float, Style, str]] = [
            (market["positive"], "warn", "█"),
            (even, "dim", "░"),
            (market["negative"], "accent", "▓"),
        ]
        yield shares(screen, parts, min(screen.width, 80))
        paying = (f"█ longs pay on {market['positive']} coins", f"▓ shorts pay on {market['negative']}")
        yield from heading(screen, map(Cell, paying))
        yield ""
        yield from fitted(self._movers(screen), rows - _MOVERS_FROM)

    def tell(self, data: Any) -> Sequence[Part]:
        """The market, and who moved."""
        moved = [part for one in data["movers"] for part in (",", Cell(one["symbol"], "strong"), *_moved(one))][1:]
        return [*_market(data["market"]), *(["movers:", *moved] if moved else ["nobody moved"])]

    def _movers(self, screen: Display) -> Iterator[str]:
        movers = self._now["movers"]
        if not movers:
            yield screen.paint("dim", "No rate has moved against what was last paid.")
            return
        rows = [(Cell(one["symbol"], "strong"), *_moved(one)) for one in movers]
        yield from table(screen, ("COIN", "A YEAR", "POINTS IN 1 H"), rows, right="lrr")


def _market(market: Any) -> list[Part]:
    heat = market["temperature"] or "unknown"
    return ["Funding is", Cell(heat, _HEAT.get(heat, "strong")), f", {signed(market['avgApr'])} a year in the mean"]


def _moved(one: Any) -> tuple[Cell, Cell]:
    return Cell(signed(one["funding_apr"])), change(one["change_1h"], unit="")


_KEPT: Final = 200
_ZONES: Final[dict[str, Style]] = {"hot": "warn", "very-hot": "bad", "cold": "accent", "very-cold": "accent"}


class _EventsView(ABC):
    """What happened since the view began."""

    WAITING = ""

    def __init__(self) -> None:
        self._came: deque[Any] = deque(maxlen=_KEPT)

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note an event."""
        self._came.appendleft(data)

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """One event below the other."""
        if not self._came:
            yield from flow(screen, [self.WAITING])
        yield from fitted((line for one in self._came for line in flow(screen, self.tell(one))), rows)

    @abstractmethod
    def tell(self, data: Any) -> Sequence[Part]:
        """One event."""


class AlertsView(_EventsView):
    """Coins whose funding left the ordinary."""

    WAITING = "Nothing yet: an alert comes when a coin's funding leaves the ordinary."

    def tell(self, data: Any) -> Sequence[Part]:
        """One alert."""
        return [
            Cell(moment(data["firedAt"]), "dim"),
            Cell(data["asset"], "strong"),
            Cell(data["triggerZone"], _ZONES.get(data["triggerZone"])),
            f"funding {signed(data['fundingAtTrigger'])} a year, percentile {data['percentile']:.0f} of 30 days,",
            f"price {price(data['price'])}",
            *([Cell(f"cleared {moment(data['clearedAt'])}", "dim")] if data["clearedAt"] else []),
        ]


class CrossingsView(_EventsView):
    """Days on which coins in an uptrend came to outnumber those in a downtrend, or the reverse."""

    WAITING = "Nothing yet: a crossing comes at most once a day, when a day has closed."

    def tell(self, data: Any) -> Sequence[Part]:
        """One crossing."""
        return [
            Cell(moment(data["at"]), "dim"),
            Cell(data["direction"], "good" if data["direction"].startswith("UP") else "bad"),
            f"{data['up']} up, {data['down']} down of {data['universe']} coins",
        ]


class RegimeView:
    """The positions of now, and what is new among them."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}
        self._news: list[Part] = []

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note positions."""
        held = {one["symbol"]: one for one in data}
        if self._held:
            came = [symbol for symbol, one in held.items() if _side(self._held.get(symbol)) != _side(one)]
            gone = sorted(self._held.keys() - held.keys())
            news = [Cell(f"{symbol} {_side(held[symbol])}", STYLES.get(_side(held[symbol]))) for symbol in came]
            self._news = [*news, *(Cell(f"{symbol} none", "warn") for symbol in gone)]
        self._held = held

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """How many there are, what turned with the last event, and the positions."""
        yield from flow(screen, self.tell(None))
        yield ""
        if self._held:
            yield from fitted(positions(list(self._held.values()), screen), rows - 2)

    def tell(self, data: Any) -> Sequence[Part]:  # noqa: ARG002 - all views alike
        """How many there are, and what turned."""
        longs = sum(_side(one) == "long" for one in self._held.values())
        counts = [Cell(f"{longs} long,", "good"), Cell(f"{len(self._held) - longs} short", "bad")]
        return [*counts, *(["turned:", *self._news] if self._news else [])]


def _side(one: Any) -> str:
    return one["direction"] if one else ""


_SENTIMENT_POINTS: Final = 60
_GAUGE: Final = 41


class SentimentView:
    """The mood of now, and the scores of before."""

    def __init__(self) -> None:
        self._now: Any = None
        self._scores: list[float | None] = []

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - all views alike
        """Note a state."""
        self._now = data
        self._scores = [*self._scores, data["score"]][-_SENTIMENT_POINTS:]

    def lines(self, screen: Display, rows: int) -> Iterator[str]:  # noqa: ARG002 - there are few
        """The stance, where the score lies, and why."""
        score = self._now["score"]
        yield from flow(screen, [Cell(self._now["stance"], "strong"), f", score {signed(score, unit='')} (-1 to +1)"])
        if score is not None:
            yield screen.paint("accent", gauge(score, -1, 1, min(_GAUGE, screen.width)))
        yield ""
        yield from flow(screen, [self._now["summary"]])
        if len(self._scores) > 1:
            yield ""
            yield f"{sparkline(self._scores, _SENTIMENT_POINTS)} {screen.paint('dim', 'the score, event by event')}"

    def tell(self, data: Any) -> Sequence[Part]:
        """The stance and the score."""
        return [Cell(data["stance"], "strong"), f", score {signed(data['score'], unit='')}:", data["summary"]]


_FIRST: Final = ("BTC", "ETH")
"""What every coin's trend is compared with, beside USD."""

_POINTS: Final = 8
_COLUMN: Final = 38
_OLD_S: Final = 60.0
_TOLD: Final = 8


class PricesView:
    """Prices of all coins with their change since the view began, or of a few with that in 24 h.

    Args:
        symbols: Only these coins, in this order; all if empty.
    """

    def __init__(self, symbols: Sequence[str] = ()) -> None:
        self._symbols = list(symbols)
        self._began: dict[str, float] = {}
        self._in_a_day: dict[str, float | None] = {}
        self._seen: dict[str, deque[float]] = {}
        self._old: set[str] = set()
        self._moved: list[str] = []

    def take(self, data: Any, meta: Any) -> None:
        """Note prices; those that changed are shown by `tell`."""
        ticks = {
            symbol: tick
            for symbol, tick in data["prices"].items()
            if tick is not None and (not self._symbols or symbol in self._symbols)
        }
        self._moved = [symbol for symbol, tick in ticks.items() if self._last(symbol) != tick["price"]]
        self._old = {symbol for symbol, tick in ticks.items() if (elapsed_s(tick["ts"], meta["ts"]) or 0.0) > _OLD_S}
        for gone in self._seen.keys() - data["prices"].keys():
            del self._seen[gone]
        for symbol, tick in ticks.items():
            self._began.setdefault(symbol, tick["price"])
            self._in_a_day[symbol] = tick.get("change_24h")
            self._seen.setdefault(symbol, deque(maxlen=_POINTS)).append(tick["price"])

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """Prices in as many columns as fit."""
        columns = max((screen.width + 2) // _COLUMN, 1)
        symbols = sorted(self._seen, key=self._place)
        deep = max(min(rows - 2, -(-len(symbols) // columns)), 1)
        shown = symbols[: deep * columns]
        grid = [
            [cell for place in range(row, len(shown), deep) for cell in self._cells(shown[place])]
            for row in range(deep)
        ]
        heads = ("COIN", "PRICE", "CHANGE", "") * columns
        filled = [row + [""] * (len(heads) - len(row)) for row in grid]
        yield from table(screen, heads, filled, right="lrrl" * columns)
        since = "change in 24 h" if self._symbols else "change since the view began"
        more = f"{len(symbols) - len(shown)} more; " if len(symbols) > len(shown) else ""
        yield screen.paint("dim", f"{more}{since}")

    def tell(self, data: Any) -> Sequence[Part]:
        """Prices that changed."""
        moved = sorted((symbol for symbol in self._moved if symbol in data["prices"]), key=self._place)
        said: list[Part] = []
        for symbol in moved[:_TOLD]:
            said += [",", Cell(symbol, "strong"), price(self._last(symbol)), self._change(symbol)]
        rest = len(moved) - _TOLD
        return [*said[1:], *([f"and {rest} more"] if rest > 0 else [])] or ["no price changed"]

    def _cells(self, symbol: str) -> list[Cell]:
        now = Cell(f"{price(self._last(symbol))}{' old' if symbol in self._old else ''}")
        return [Cell(symbol, "strong"), now, self._change(symbol), Cell(self._line(symbol), "dim")]

    def _line(self, symbol: str) -> str:
        return sparkline(list(self._seen[symbol]), _POINTS).ljust(_POINTS)

    def _change(self, symbol: str) -> Cell:
        return change(self._moved_by(symbol))

    def _moved_by(self, symbol: str) -> float | None:
        if self._symbols:
            return self._in_a_day[symbol]
        began = self._began[symbol]
        return (self._seen[symbol][-1] / began - 1) * 100 if began else 0.0

    def _last(self, symbol: str) -> float | None:
        return self._seen[symbol][-1] if symbol in self._seen else None

    def _place(self, symbol: str) -> tuple[int, float, str]:
        lead = self._symbols or _FIRST
        first = lead.index(symbol) if symbol in lead else len(lead)
        return first, -abs(round(self._moved_by(symbol) or 0.0, 2)), symbol


VIEWS: Final[Mapping[str, Callable[[], StreamView]]] = {
    "funding": FundingView,
    "regime": RegimeView,
    "sentiment": SentimentView,
    "prices": PricesView,
    "alerts": AlertsView,
    "crossings": CrossingsView,
}


def take_event(view: StreamView, line: StreamLine) -> Any:
    """Give an event to a view.

    Returns:
        The event's `meta`.

    Raises:
        UnreadableAnswerError: If it is not as this version knows it.
    """
    try:
        meta = line.document["meta"]
        int(meta["tick"]), float(meta["data_age_seconds"])
        view.take(line.document["data"], meta)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise UnreadableAnswerError("an event is not as this version knows it; --ndjson shows it as it comes") from None
    return meta
