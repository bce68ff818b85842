"""Views of the streams: `take` stores an event, `lines` draws the state, `tell` writes one event as a line."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from service.cli.formatting import change, elapsed_s, moment, price, signed
from service.cli.layout import flow, heading, table
from service.cli.plots import gauge, shares, sparkline
from service.cli.show.columns import Field, columns, strong
from service.cli.show.regime import POSITIONS, state
from service.cli.terminal import Cell, Display, Part, Style
from service.client.answer import UnreadableAnswerError
from service.client.errors import REFUSED, RefusalError
from service.client.stream import StreamLine

_UNKNOWN_EVENT: Final = "An event has a form that this version does not know. --json shows it as it arrives."
_KEPT: Final = 200
_TREND: Final = 60
"""Events that are stored, and those that a sparkline shows."""


class StreamView(ABC):
    """The view of one stream. `came` holds its last events, the newest first."""

    def __init__(self) -> None:
        self.came: deque[Any] = deque(maxlen=_KEPT)

    def take(self, data: Any, meta: Any) -> None:  # noqa: ARG002 - prices need it
        """Store an event: its `data` and its `meta`."""
        self.came.appendleft(data)

    @abstractmethod
    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """The state, in at most `rows` lines."""

    @abstractmethod
    def tell(self, data: Any) -> Sequence[Part]:
        """One event as a line, after `take`."""

    def trend(self, value: Callable[[Any], float | None], width: int) -> str:
        """A value of the last events as a sparkline, the newest last; empty with a single event."""
        values = [value(one) for one in list(self.came)[:_TREND]][::-1]
        return sparkline(values, width) if len(values) > 1 else ""


def _fitted(lines: Iterator[str], rows: int) -> Iterator[str]:
    """At most `rows` lines; if that is not all, the last one says how many more there are."""
    known = list(lines)
    if len(known) > rows:
        known[max(rows - 1, 0) :] = [f"… {len(known) - rows + 1} more"][:rows]
    yield from known


_HEAT: Final[Mapping[str, Style]] = {"hot": "bad", "warm": "warn", "cool": "accent", "cold": "accent"}
_WIDEST: Final = 80
_MOVERS_FROM: Final = 4
_MOVERS: Final = (
    Field("COIN", "symbol", strong),
    Field("A YEAR", "funding_apr", signed, "r"),
    Field("POINTS IN 1 H", "change_1h", lambda value: change(value, unit=""), "r"),
)


class _FundingView(StreamView):
    """The market, the number of coins on which longs or shorts pay, and the movers."""

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        market, movers = self.came[0]["market"], self.came[0]["movers"]
        past = self.trend(lambda one: one["market"]["avgApr"], _TREND // 2)
        yield from flow(screen, [*_market(market), Cell(past, "dim")])
        longs, shorts = market["positive"], market["negative"]
        even = market["total"] - longs - shorts
        parts: list[tuple[float, Style, str]] = [(longs, "warn", "█"), (even, "dim", "░"), (shorts, "accent", "▓")]
        yield shares(screen, parts, min(screen.width, _WIDEST))
        yield from heading(screen, [Cell(f"█ longs pay on {longs} coins"), Cell(f"▓ shorts pay on {shorts}")])
        yield ""
        none = flow(screen, [Cell("No rate has moved against what was last paid.", "dim")])
        yield from _fitted(columns(screen, _MOVERS, movers) if movers else none, rows - _MOVERS_FROM)

    def tell(self, data: Any) -> Sequence[Part]:
        moved: list[Part] = []
        for one in data["movers"]:
            moved += (",", strong(one["symbol"]), signed(one["funding_apr"]), change(one["change_1h"], unit=""))
        return [*_market(data["market"]), *(["movers:", *moved[1:]] if moved else ["no movers"])]


def _market(market: Any) -> list[Part]:
    heat = market["temperature"] or "unknown"
    return ["Funding is", Cell(heat, _HEAT.get(heat, "strong")), f", {signed(market['avgApr'])} a year in the mean"]


_ZONES: Final[Mapping[str, Style]] = {"hot": "warn", "very-hot": "bad", "cold": "accent", "very-cold": "accent"}


class _EventsView(StreamView):
    """The events since the view began, one below the other."""

    waiting = ""

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        if not self.came:
            yield from flow(screen, [self.waiting])
        yield from _fitted((line for one in self.came for line in flow(screen, self.tell(one))), rows)


class _AlertsView(_EventsView):
    """Funding-rate alerts."""

    waiting = "Nothing yet: an alert comes when a coin's funding leaves the ordinary."

    def tell(self, data: Any) -> Sequence[Part]:
        return [
            Cell(moment(data["firedAt"]), "dim"),
            strong(data["asset"]),
            Cell(data["triggerZone"], _ZONES.get(data["triggerZone"])),
            f"funding {signed(data['fundingAtTrigger'])} a year, percentile {data['percentile']:.0f} of 30 days,",
            f"price {price(data['price'])}",
            *([Cell(f"cleared {moment(data['clearedAt'])}", "dim")] if data["clearedAt"] else []),
        ]


class _CrossingsView(_EventsView):
    """Days on which the majority of coins changed between uptrend and downtrend."""

    waiting = "Nothing yet: a crossing comes at most once a day, when a day has closed."

    def tell(self, data: Any) -> Sequence[Part]:
        return [
            Cell(moment(data["at"]), "dim"),
            Cell(data["direction"], "good" if data["direction"].startswith("UP") else "bad"),
            f"{data['up']} up, {data['down']} down of {data['universe']} coins",
        ]


class _RegimeView(StreamView):
    """The number of positions, those that the last event changed, and all positions."""

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        yield from flow(screen, self.tell(None))
        yield ""
        if self.came[0]:
            yield from _fitted(columns(screen, POSITIONS, self.came[0]), rows - 2)

    def tell(self, data: Any) -> Sequence[Part]:  # noqa: ARG002 - compares the last two events
        held, *past = ({one["symbol"]: one["direction"] for one in event} for event in list(self.came)[:2])
        longs = sum(side == "long" for side in held.values())
        counts: list[Part] = [Cell(f"{longs} long,", "good"), Cell(f"{len(held) - longs} short", "bad")]
        before = past[0] if past else {}
        if not before:
            return counts
        came = [Cell(f"{one} {side}", state(side).style) for one, side in held.items() if before.get(one) != side]
        news = [*came, *(Cell(f"{one} none", "warn") for one in sorted(before.keys() - held.keys()))]
        return [*counts, "turned:", *news] if news else counts


_GAUGE: Final = 41


class _SentimentView(StreamView):
    """The stance, the score on its scale, the summary, and past scores."""

    def lines(self, screen: Display, rows: int) -> Iterator[str]:  # noqa: ARG002 - there are few
        now = self.came[0]
        score, past = now["score"], self.trend(lambda one: one["score"], min(_TREND, screen.width))
        yield from flow(screen, [strong(now["stance"]), f", score {signed(score, unit='')} (-1 to +1)"])
        if score is not None:
            yield screen.paint("accent", gauge(score, -1, 1, min(_GAUGE, screen.width)))
        yield ""
        yield from flow(screen, [now["summary"]])
        if past:
            yield ""
            yield from heading(screen, [Cell(past), Cell("the score, event by event", "dim")])

    def tell(self, data: Any) -> Sequence[Part]:
        return [strong(data["stance"]), f", score {signed(data['score'], unit='')}:", data["summary"]]


_FIRST: Final = ("BTC", "ETH")
"""These coins are listed first."""

_POINTS: Final = 8
_COLUMN: Final = 38
_OLD_S: Final = 60.0
_TOLD: Final = 8


class PricesView(StreamView):
    """Prices of all coins with their change since the view began, or of a few with their change in 24 h.

    Args:
        symbols: Only these coins, in this order; all if empty.
        is_whole: Whether the first event has all prices; else a missing one is no mistake.
    """

    def __init__(self, symbols: Sequence[str] = (), *, is_whole: bool = True) -> None:
        super().__init__()
        self._symbols = list(symbols)
        self._began: dict[str, float] = {}
        self._seen: dict[str, deque[float]] = {}
        self._in_a_day: dict[str, float | None] = {}
        self._old: set[str] = set()
        self._moved: list[str] = []
        self._missing: list[str] | None = None if is_whole else []

    def take(self, data: Any, meta: Any) -> None:
        """Store prices; `tell` shows those that changed.

        Raises:
            RefusalError: If the first event has none of the symbols.
        """
        if self._missing is None:
            self._missing = [symbol for symbol in self._symbols if symbol not in data["prices"]]
            if self._symbols and self._missing == self._symbols:
                unknown = ", ".join(self._missing)
                raise RefusalError(f"There is no price of {unknown}. `verdict resolve TEXT` finds a coin.", REFUSED)
        ticks = {
            symbol: tick
            for symbol, tick in data["prices"].items()
            if tick is not None and (not self._symbols or symbol in self._symbols)
        }
        self._moved = [one for one, tick in ticks.items() if self._seen.get(one, [None])[-1] != tick["price"]]
        self._old = {one for one, tick in ticks.items() if (elapsed_s(tick["ts"], meta["ts"]) or 0.0) > _OLD_S}
        for gone in self._seen.keys() - data["prices"].keys():
            del self._seen[gone]
        for symbol, tick in ticks.items():
            self._began.setdefault(symbol, tick["price"])
            self._in_a_day[symbol] = tick.get("change_24h")
            self._seen.setdefault(symbol, deque(maxlen=_POINTS)).append(tick["price"])

    def lines(self, screen: Display, rows: int) -> Iterator[str]:
        """Prices in as many columns as fit."""
        side = max((screen.width + 2) // _COLUMN, 1)
        symbols = sorted(self._seen, key=self._place)
        deep = max(min(rows - 2, -(-len(symbols) // side)), 1)
        shown = symbols[: deep * side]
        heads = ("COIN", "PRICE", "CHANGE", "") * side
        grid = [[cell for one in shown[row::deep] for cell in self._cells(one)] for row in range(deep)]
        yield from table(screen, heads, [row + [""] * (len(heads) - len(row)) for row in grid], right="lrrl" * side)
        more = f"{len(symbols) - len(shown)} more; " if len(symbols) > len(shown) else ""
        more += f"no price of {', '.join(self._missing)}; " if self._missing else ""
        yield screen.paint("dim", f"{more}change {'in 24 h' if self._symbols else 'since the view began'}")

    def tell(self, data: Any) -> Sequence[Part]:
        """Prices that changed."""
        moved = sorted((symbol for symbol in self._moved if symbol in data["prices"]), key=self._place)
        said: list[Part] = []
        for symbol in moved[:_TOLD]:
            said += [",", strong(symbol), price(self._seen[symbol][-1]), change(self._change(symbol))]
        rest = len(moved) - _TOLD
        return [*said[1:], *([f"and {rest} more"] if rest > 0 else [])] or ["no price changed"]

    def _cells(self, symbol: str) -> list[Cell | str]:
        seen, old = self._seen[symbol], " old" if symbol in self._old else ""
        past = Cell(sparkline(list(seen), _POINTS).ljust(_POINTS), "dim")
        return [strong(symbol), f"{price(seen[-1])}{old}", change(self._change(symbol)), past]

    def _change(self, symbol: str) -> float | None:
        if self._symbols:
            return self._in_a_day[symbol]
        began = self._began[symbol]
        return (self._seen[symbol][-1] / began - 1) * 100 if began else 0.0

    def _place(self, symbol: str) -> tuple[int, float, str]:
        lead = self._symbols or _FIRST
        first = lead.index(symbol) if symbol in lead else len(lead)
        return first, -abs(round(self._change(symbol) or 0.0, 2)), symbol


VIEWS: Final[Mapping[str, Callable[[], StreamView]]] = {
    "funding": _FundingView,
    "regime": _RegimeView,
    "sentiment": _SentimentView,
    "prices": PricesView,
    "alerts": _AlertsView,
    "crossings": _CrossingsView,
}


def take_event(view: StreamView, line: StreamLine) -> Any:
    """Give an event to a view.

    Returns:
        The event's `meta`.

    Raises:
        UnreadableAnswerError: If this version does not know its form.
    """
    try:
        meta = line.document["meta"]
        int(meta["tick"]), float(meta["data_age_seconds"])
        view.take(line.document["data"], meta)
        view.tell(line.document["data"])
    except (LookupError, TypeError, ValueError, AttributeError):
        raise UnreadableAnswerError(_UNKNOWN_EVENT) from None
    return meta
