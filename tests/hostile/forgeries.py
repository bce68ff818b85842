"""The table of forgeries: each changes an honest answer before a venue writes it."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from service.clock import DAY_MS, HOUR_MS
from tests.hostile.market import Row, Shown

Change = Callable[[Shown, Shown, float], Shown]
"""The honest answer, the honest answer when forging began, and the seconds since then → what is shown."""

ALL_ROUTES: Final = ("polled", "pushed", "second")
SLOW: Final = 0.10
"""Where nobody else can be asked, a ramp is seen only once it has left what a coin moves within seconds."""

DRIFT: Final = 0.06
"""Where the second venue can be asked, a ramp is stopped at its limit of 4 %; between two questions truth moves too."""

NEAR: Final = 0.06
"""Of two coins whose prices are this near, one's price is a possible price of the other."""

NAMED: Final = ("polled", "second")
"""Routes whose rows name their coins."""


class Forgery(Struct, frozen=True):
    """One forgery.

    Attributes:
        change: What it does.
        routes: Where it makes sense: `polled`, `pushed`, `second`.
        lasts_s: How long it is kept up.
        alone_s: The same where no other source can be asked, and the tolerance is `SLOW`; null: no difference.
        tolerance: How far a price that is served may be from the truth, where the forgery is slow; a fraction.
        is_warm: Whether a service that knows nothing yet cannot see it.
        needs_second: Whether a service that knows nothing yet needs the second venue to see it or to recover soon.
    """

    change: Change
    routes: tuple[str, ...] = ALL_ROUTES
    lasts_s: float = 45.0
    alone_s: float | None = None
    tolerance: float | None = None
    needs_second: bool = False
    is_warm: bool = False


def _each(edit: Callable[[Row], Row], *names: str) -> Change:
    """Change some rows, or all where none is named."""

    def change(shown: Shown, _: Shown, __: float) -> Shown:
        return Shown([edit(row) if not names or row.name in names else row for row in shown.rows], shown.date_ms)

    return change


def _times(field: str, factor: float) -> Callable[[Row], Row]:
    return lambda row: replace(row, **{field: f"{float(getattr(row, field)) * factor:.10f}"})


def _written(field: str, text: str) -> Callable[[Row], Row]:
    return lambda row: replace(row, **{field: text})


def _named(edit: Callable[[str], str], *names: str) -> Change:
    return _each(lambda row: replace(row, name=edit(row.name)), *names)


def _rows(edit: Callable[[list[Row]], list[Row]]) -> Change:
    return lambda shown, _, __: Shown(edit(list(shown.rows)), shown.date_ms)


def _moved(numbers_from: Callable[[int, int], int]) -> Change:
    """Keep the names, and take each row's numbers from another row."""

    def change(shown: Shown, _: Shown, __: float) -> Shown:
        rows, count = shown.rows, len(shown.rows)
        return Shown(
            [replace(rows[numbers_from(at, count)], name=row.name) for at, row in enumerate(rows)], shown.date_ms
        )

    return change


def _swapped(one: str, other: str) -> Change:
    def change(shown: Shown, _: Shown, __: float) -> Shown:
        by_name = {row.name: row for row in shown.rows}
        exchanged = {one: replace(by_name[other], name=one), other: replace(by_name[one], name=other)}
        return Shown([exchanged.get(row.name, row) for row in shown.rows], shown.date_ms)

    return change


def _nearest_pair(shown: Shown, _: Shown, __: float) -> Shown:
    """Swap the two coins whose prices are nearest to each other."""
    rows = sorted(shown.rows, key=lambda row: float(row.price))
    gaps = [(float(b.price) / float(a.price), a.name, b.name) for a, b in pairwise(rows)]
    _ratio, one, other = min(gaps)
    return _swapped(one, other)(shown, shown, 0.0)


def _dated(offset_ms: int) -> Change:
    return lambda shown, _, __: Shown(shown.rows, shown.date_ms + offset_ms)


def _repeated(shown: Shown, begun: Shown, _: float) -> Shown:
    """The rows of a time long ago with the date of today: an hour's worth of moves are missing."""
    return Shown([_times("price", 0.93)(row) for row in begun.rows], shown.date_ms)


def _ramp(per_round: float, *names: str) -> Change:
    def change(shown: Shown, _: Shown, elapsed_s: float) -> Shown:
        factor = (1 + per_round) ** (elapsed_s / 15 + 1)
        return _each(_times("price", factor), *names)(shown, shown, elapsed_s)

    return change


def _spike(shown: Shown, begun: Shown, elapsed_s: float) -> Shown:
    return _each(_times("price", 1.5), "ETH", "SOL")(shown, begun, elapsed_s) if elapsed_s < 15 else shown


def _all_values(edit: Callable[[Row], Row], *names: str) -> Change:
    return _each(edit, *names)


def _scaled_whole(factor: float) -> Callable[[Row], Row]:
    """Price and previous-day price together, so that the day's change looks ordinary."""
    return lambda row: _times("prev", factor)(_times("price", factor)(row))


def _invented(count: int) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: (
        rows + [Row(f"NEW{number}", "1.0", "0.0000125", "1.0", "1000000.0", "1000.0") for number in range(count)]
    )


def _with(*names: str) -> Change:
    """Add rows of odd names."""
    return _rows(lambda rows: rows + [replace(rows[0], name=name) for name in names])


FORGERIES: Final[dict[str, Forgery]] = {
    # Prices of one, some, all coins.
    "price x10 of one": Forgery(_each(_times("price", 10), "BTC")),
    "price x10 of all": Forgery(_each(_times("price", 10))),
    "price /10 of one": Forgery(_each(_times("price", 0.1), "ETH")),
    "price /10 of all": Forgery(_each(_times("price", 0.1))),
    "price x10 with previous day": Forgery(_each(_scaled_whole(10), "BTC", "SOL")),
    "price +30 % of one": Forgery(_each(_times("price", 1.3), "SOL"), needs_second=True),
    "price -30 % of some": Forgery(_each(_times("price", 0.7), "SOL", "LINK", "OP"), needs_second=True),
    "price +12 % of BTC": Forgery(_each(_times("price", 1.12), "BTC"), needs_second=True),
    "price -12 % of all": Forgery(_each(_times("price", 0.88)), needs_second=True),
    "price +30 % of a coin of one venue": Forgery(
        _each(_times("price", 1.3), "HYPE"), ("polled", "pushed"), is_warm=True
    ),
    "price 1e99": Forgery(_each(_written("price", "1e99"), "BTC", "ETH")),
    "price 1e99 of all": Forgery(_each(_written("price", "1e99"))),
    "price 1e-30": Forgery(_each(_written("price", "1e-30"), "BTC")),
    "price 0": Forgery(_each(_written("price", "0"), "BTC", "SOL")),
    "price 0 of all": Forgery(_each(_written("price", "0.0"))),
    "price negative": Forgery(_each(_written("price", "-5.0"), "BTC", "SOL")),
    "price NaN": Forgery(_each(_written("price", "NaN"), "BTC")),
    "price Infinity": Forgery(_each(_written("price", "Infinity"), "BTC")),
    "one price for all": Forgery(_each(_written("price", "100.0"))),
    "price of the day before": Forgery(_each(lambda row: replace(row, price=f"{float(row.prev) * 1.4:.8f}"))),
    # Rows in the wrong place.
    "two far coins swapped": Forgery(_swapped("BTC", "DOGE")),
    "two near coins swapped": Forgery(_nearest_pair, tolerance=NEAR),
    "rows shifted by one": Forgery(_moved(lambda at, count: (at + 1) % count)),
    "rows shifted by one from the tenth": Forgery(
        _moved(lambda at, count: at if at < 10 else 10 + (at - 9) % (count - 10)), ("polled", "pushed")
    ),
    "table reversed": Forgery(_moved(lambda at, count: count - 1 - at)),
    "two halves exchanged": Forgery(_moved(lambda at, count: (at + count // 2) % count)),
    # Funding.
    "funding 500 % an hour of one": Forgery(_each(_written("funding", "5.0"), "BTC")),
    "funding 500 % an hour of all": Forgery(_each(_written("funding", "5.0"))),
    "funding -500 % an hour": Forgery(_each(_written("funding", "-5.0"))),
    "funding at the cap": Forgery(_each(_written("funding", "0.04"), "BTC", "ETH")),
    "funding sign flipped x1000": Forgery(_each(_times("funding", -1000))),
    "funding 1e99": Forgery(_each(_written("funding", "1e99"), "BTC")),
    "funding NaN": Forgery(_each(_written("funding", "NaN"), "BTC")),
    # The universe.
    "one coin alone": Forgery(_rows(lambda rows: rows[:1]), needs_second=True),
    "half the universe": Forgery(_rows(lambda rows: rows[: len(rows) // 2]), needs_second=True),
    "BTC and ETH missing": Forgery(_rows(lambda rows: rows[2:])),
    "no coin": Forgery(_rows(lambda _: [])),
    "universe doubled": Forgery(_rows(lambda rows: _invented(len(rows))(rows))),
    "one invented coin": Forgery(_rows(_invented(1)), NAMED, lasts_s=10.0),
    "every name twice": Forgery(_rows(lambda rows: rows + [_times("price", 3)(row) for row in rows])),
    "every coin renamed": Forgery(_named(lambda name: f"X{name}"), NAMED),
    "names in lower case": Forgery(_named(str.lower, "BTC", "SOL"), NAMED),
    "names with spaces and emoji": Forgery(_with("B T C", "MOON🚀", " BTC"), NAMED),
    "names of 40 characters": Forgery(_with("A" * 40), NAMED),
    "names with control characters": Forgery(_with("BTC\n", "ETH\u202e", "\x1b[31mSOL"), NAMED),
    "look-alike names": Forgery(_with("ВТС", "ＢＴＣ", "BT\u200bC"), NAMED),  # noqa: RUF001 - Cyrillic, full-width
    "one coin delisted": Forgery(_each(lambda row: replace(row, delisted=True), "ETH"), ("polled",)),
    "all but one delisted": Forgery(
        _rows(lambda rows: [replace(row, delisted=row.name != "BTC") for row in rows]), ("polled",)
    ),
    "all delisted": Forgery(_each(lambda row: replace(row, delisted=True)), ("polled",)),
    # What stands beside.
    "previous day forged": Forgery(_each(_times("prev", 10))),
    "volume 1e30": Forgery(_each(_written("volume", "1e30"))),
    "volume negative": Forgery(_each(_written("volume", "-1.0"))),
    "open interest 1e30": Forgery(_each(_written("interest", "1e30"))),
    "open interest negative": Forgery(_each(_written("interest", "-7.0"))),
    # Time.
    "date a day ahead": Forgery(_dated(DAY_MS)),
    "date ten years ahead": Forgery(_dated(3_650 * DAY_MS)),
    "date an hour old": Forgery(_dated(-HOUR_MS), NAMED),
    "date of 1971": Forgery(lambda shown, _, __: Shown(shown.rows, DAY_MS * 400), NAMED),
    "a stale answer repeated": Forgery(_repeated, needs_second=True),
    "a ramp of 1 % a round": Forgery(_ramp(0.01, "BTC"), lasts_s=300.0, alone_s=90.0, tolerance=DRIFT),
    "a ramp of -1 % a round": Forgery(_ramp(-0.01, "BTC"), lasts_s=300.0, alone_s=90.0, tolerance=DRIFT),
    "a ramp of 3 % a round of all": Forgery(_ramp(0.03), lasts_s=300.0, alone_s=120.0, tolerance=DRIFT),
    "a spike and back": Forgery(_spike, needs_second=True),
}

IN_EVERY_SCENE: Final = frozenset({
    "price x10 of one", "price x10 of all", "price -30 % of some", "price +12 % of BTC", "price -12 % of all",
    "price +30 % of a coin of one venue", "price 1e99", "price 0 of all", "two far coins swapped",
    "two near coins swapped", "rows shifted by one", "rows shifted by one from the tenth",
    "funding 500 % an hour of all", "funding at the cap", "funding sign flipped x1000", "one coin alone",
    "half the universe", "universe doubled", "one invented coin", "all but one delisted", "previous day forged",
    "volume 1e30", "volume negative", "open interest 1e30", "date ten years ahead", "date an hour old",
    "a stale answer repeated", "a ramp of 1 % a round", "a spike and back",
})  # fmt: skip
"""One for each way in which another source clears, contradicts or replaces what is forged.

The others differ from these by a number or a name alone, or fail a rule that asks no other source (a number that cannot
be, a ticker that is none): one scene a route is enough for them.
"""
