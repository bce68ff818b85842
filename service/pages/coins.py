"""The table of all coins as cells of text, the same for the page and the snapshot, and lists of coins beside it."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from statistics import fmean
from typing import Final, NamedTuple

from msgspec import Struct

from service import formats
from service.clock import DAY_MS, iso
from service.pages.svg import sparkline
from service.pages.wording import FILTERS, UNKNOWN
from service.table.daily import DailyHistory
from service.wire.coins import CoinRow

MOVERS: Final = 6
"""How many rose most, and how many fell most."""

SPARK_DAYS: Final = 30

_HEATS: Final = ((-50.0, "c3"), (-20.0, "c2"), (0.0, "c1"), (11.0, "n"), (22.0, "h1"), (50.0, "h2"))
"""Funding below so many percent a year, and how that looks; ordinary is 0 to 11 (a venue's default is 10.95)."""

_HOTTEST: Final = "h3"
_TREND_ORDER: Final[Mapping[str, float]] = {"UP": 1.0, "HODL": 0.0, "DOWN": -1.0}


class TableCell(Struct, frozen=True, array_like=True):
    """Text as it is shown, the value that it is sorted by (null: not known), its style class.

    `stale`: whether it could not be refreshed.
    """

    text: str
    value: float | None = None
    style: str = ""
    stale: bool = False


class CoinTableRow(Struct, frozen=True):
    """A coin of the table: its cells by `TITLES`, and its last 30 closes as a line.

    `heat` says how far its funding is from the ordinary (null: not known).
    """

    coin: CoinRow
    cells: Sequence[TableCell]
    heat: str | None
    spark: str | None


class CoinLists(Struct, frozen=True):
    """All coins: the most traded first, the hottest funding first, the best and the worst movers.

    `up` and `down` count the coins whose price rose and fell over 24 hours. `mean_apr` is percent per year. Longs
    pay on `paying` coins and receive on `receiving` ones. `interest` is USD of open interest on all coins.
    """

    rows: Sequence[CoinTableRow]
    tiles: Sequence[CoinTableRow]
    risers: Sequence[CoinTableRow]
    fallers: Sequence[CoinTableRow]
    up: int
    down: int
    mean_apr: float | None
    paying: int
    receiving: int
    interest: float | None


class _Column(NamedTuple):
    title: str
    field: str
    filter: str = "change"


COLUMNS: Final = (
    _Column("Price", "price", "price"),
    _Column("1 h", "change_1h"),
    _Column("24 h", "change_24h"),
    _Column("7 d", "change_7d"),
    _Column("Volume", "volume_24h_usd", "money"),
    _Column("Open interest", "open_interest_usd", "money"),
    _Column("Funding", "funding_apr", "rate"),
)
"""The columns of numbers; those of trends and of the verdict follow."""

TITLES: Final = (*(column.title for column in COLUMNS), "Daily", "Weekly", "Verdict")
"""The titles of all cells of a row."""

_EXPORTED: Final = tuple(
    name for name in CoinRow.__struct_fields__ if name not in {"symbol", "categories", "stale_fields"}
)


def coin_lists(coins: Sequence[CoinRow], history: DailyHistory | None) -> CoinLists:
    """Sort all coins.

    Args:
        coins: The rows of the table.
        history: Closed days, for the lines; null while they are being read.
    """
    sparks = _sparks(history)
    rows = [table_row(coin, sparks.get(coin.symbol)) for coin in coins]
    moved = sorted((row for row in rows if row.coin.change_24h is not None), key=_change)
    aprs = [coin.funding_apr for coin in coins if coin.funding_apr is not None]
    interests = [coin.open_interest_usd for coin in coins if coin.open_interest_usd is not None]
    return CoinLists(
        rows=sorted(rows, key=lambda row: (-(row.coin.volume_24h_usd or 0.0), row.coin.symbol)),
        tiles=sorted(
            (row for row in rows if row.heat), key=lambda row: (-(row.coin.funding_apr or 0.0), row.coin.symbol)
        ),
        risers=[row for row in moved[: -MOVERS - 1 : -1] if _change(row) > 0],
        fallers=[row for row in moved[:MOVERS] if _change(row) < 0],
        up=sum(_change(row) > 0 for row in moved),
        down=sum(_change(row) < 0 for row in moved),
        mean_apr=fmean(aprs) if aprs else None,
        paying=sum(apr > 0 for apr in aprs),
        receiving=sum(apr < 0 for apr in aprs),
        interest=sum(interests) if interests else None,
    )


def _change(row: CoinTableRow) -> float:
    return row.coin.change_24h or 0.0


def coins_csv(coins: Sequence[CoinRow], as_of_ms: int | None) -> bytes:
    """The table with unrounded values, the most traded coin first; unknown values are empty.

    `stale_fields` names the measures of a coin that could not be refreshed, separated by spaces; `as_of` is the time
    of the table (ISO 8601 UTC).
    """
    written = StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(["symbol", *_EXPORTED, "stale_fields", "as_of"])
    as_of = "" if as_of_ms is None else iso(as_of_ms)
    for coin in sorted(coins, key=lambda coin: (-(coin.volume_24h_usd or 0.0), coin.symbol)):
        values = (coin.symbol, *(getattr(coin, name) for name in _EXPORTED))
        stale = " ".join(name for name in _EXPORTED if is_stale(coin, name))
        rows.writerow([*(_harmless(value) for value in values), stale, as_of])
    return written.getvalue().encode()


def signed(value: float | None) -> str:
    """The style of a number by its sign."""
    return "" if not value else ("gain" if value > 0 else "loss")


def heat(apr: float | None) -> str | None:
    """How hot a rate is: `c3` (shorts pay much) through `n` (ordinary) to `h3` (longs pay much)."""
    if apr is None:
        return None
    return next((name for bound, name in _HEATS if apr < bound), _HOTTEST)


def table_row(coin: CoinRow, spark: str | None = None) -> CoinTableRow:
    """A coin as a row of the table, with the line of its closes if that is given."""
    return CoinTableRow(coin, _cells(coin), heat(coin.funding_apr), spark)


def is_stale(coin: CoinRow, field: str) -> bool:
    """Whether a measure is known but could not be refreshed."""
    return field in coin.stale_fields and getattr(coin, field) is not None


def number_cell(coin: CoinRow, field: str, name: str = "change") -> TableCell:
    """A measure of a coin as a filter writes it; a change also has the style of its sign."""
    value = getattr(coin, field)
    return TableCell(FILTERS[name](value), value, signed(value) if name == "change" else "", is_stale(coin, field))


def _cells(coin: CoinRow) -> list[TableCell]:
    numbers = [number_cell(coin, column.field, column.filter) for column in COLUMNS]
    return [*numbers, _trend(coin, "trend_daily"), _trend(coin, "trend_weekly"), _verdict(coin)]


def _trend(coin: CoinRow, field: str) -> TableCell:
    trend = getattr(coin, field)
    if trend is None:
        return TableCell(UNKNOWN)
    return TableCell(formats.trend(trend), _TREND_ORDER[trend], f"trend {trend.lower()}", is_stale(coin, field))


def _verdict(coin: CoinRow) -> TableCell:
    if coin.verdict is None or coin.verdict == "insufficient-evidence":
        return TableCell(UNKNOWN)
    style = {"bull": "gain", "bear": "loss"}.get(coin.verdict.removeprefix("strong-"), "")
    return TableCell(formats.label(coin.verdict), coin.score, style, is_stale(coin, "verdict"))


def _sparks(history: DailyHistory | None) -> Mapping[str, str]:
    """The last 30 closes of each coin as a line, where they are known without a gap."""
    if history is None or history.last_ms is None:
        return {}
    table = history.closes(history.last_ms - (SPARK_DAYS - 1) * DAY_MS, history.last_ms + DAY_MS)
    known = {symbol: [close for close in closes if close is not None] for symbol, closes in table.closes.items()}
    return {symbol: sparkline(closes) for symbol, closes in known.items() if len(closes) == SPARK_DAYS}


def _harmless(value: object) -> object:
    """Text on one line, as a spreadsheet shows it without running it as a formula."""
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
