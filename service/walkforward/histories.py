"""Reads what a walk-forward runs over: bars and funding from a folder of recordings, or from the store."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.json import Decoder

from service.analytics.funding import FUNDED_HOURS
from service.clock import DAY_MS
from service.market.funding import on_schedule
from service.market.models import FUNDING_HOURS, PackedBars, VenueCoin
from service.market.series import ClosedDays, read_days
from service.market.sources.hyperliquid_wire import CANDLES, FUNDING_HISTORY, bar_of, is_sound
from service.market.symbols import unit_of
from service.storage.engine import Connection
from service.upstream.fixture_set import FixtureError, unpack, unpack_rows
from service.upstream.replay.recording import DAILY, FUNDING, Candle, FundingRow
from service.walkforward.parameters import BarTuple, CoinHistoryInput
from service.wire.envelope import encode

T = TypeVar("T", bound=Struct)

_ENDING: Final = ".json.gz"


class RecordingsError(Exception):
    """A folder cannot be read as recordings; the message names the file and what is expected."""


def read_recordings(directory: Path, now_ms: int) -> list[CoinHistoryInput]:
    """Read every coin of a folder.

    A file is an answer of the venue (`candleSnapshot`, `fundingHistory`: rows), or its columns as in a fixture set.

    Args:
        directory: Holds `candles-1d/BTC.json.gz` and, for coins with known funding, `funding/BTC.json.gz`.
        now_ms: Bars that close later are left out.

    Raises:
        RecordingsError: If there is no bar, or a file is not a recording.
    """
    paths = sorted((directory / DAILY).glob(f"*{_ENDING}"))
    found = [_read_coin(directory, path, now_ms) for path in paths]
    histories = sorted((history for history in found if history.bars), key=lambda history: history.coin)
    if not histories:
        raise RecordingsError(
            f"No bars found in {directory / DAILY}. Name a folder with {DAILY}/BTC{_ENDING} and so on, such as "
            "upstream/hyperliquid of a fixture set."
        )
    return histories


def _read_coin(directory: Path, path: Path, now_ms: int) -> CoinHistoryInput:
    coin = path.name.removesuffix(_ENDING)
    funding = directory / FUNDING / path.name
    symbol, units = unit_of(coin)
    return CoinHistoryInput(
        symbol, _read_bars(path, units, now_ms), _read_funding(funding) if funding.is_file() else []
    )


def _read_bars(path: Path, units: int, now_ms: int) -> list[BarTuple]:
    bars = (bar_of(candle, units) for candle in _read(path, CANDLES, Candle))
    days = {
        bar.open_ms // DAY_MS: (bar.open, bar.high, bar.low, bar.close, bar.volume)
        for bar in bars
        if is_sound(bar, DAY_MS) and bar.open_ms + DAY_MS <= now_ms
    }
    return [(day, *bar) for day, bar in sorted(days.items())]


def _read_funding(path: Path) -> list[tuple[int, float]]:
    """Funding by day, summed as in the store: payments after 00:00, up to and at the next 00:00."""
    days: dict[int, list[tuple[float, float]]] = defaultdict(list)
    stamped = ((row.time_ms, row.rate) for row in _read(path, FUNDING_HISTORY, FundingRow))
    for paid_ms, rate, hours in on_schedule(stamped, FUNDING_HOURS):
        days[(paid_ms - 1) // DAY_MS].append((rate * hours, hours))
    return [
        (day, fsum(paid for paid, _ in parts))
        for day, parts in days.items()
        if sum(hours for _, hours in parts) >= FUNDED_HOURS
    ]


def _read(path: Path, decoder: Decoder[tuple[T, ...]], columns: type[Struct]) -> Sequence[T]:
    """Read a file of rows, or of columns."""
    try:
        packed = path.read_bytes()
        text = unpack(packed)
        rows = encode(unpack_rows(packed, columns)) if text.startswith(b"{") else text
        return decoder.decode(rows) or ()
    except FixtureError as error:
        raise RecordingsError(f"{path} is not a recording of the venue: it is not gzip.") from error
    except KeyError as error:
        raise RecordingsError(f"{path} is not a recording of the venue: column {error} is missing.") from error
    except (OSError, ValueError, TypeError) as error:
        raise RecordingsError(f"{path} is not a recording of the venue: {error}.") from error


class DatasetChangedError(Exception):
    """The store holds another dataset than expected."""


def read_histories(connection: Connection, origin: str, until_ms: int) -> list[CoinHistoryInput]:
    """Read every coin that was ever listed, by ticker.

    Of coins that share a ticker, the traded one is read, else the one with the longer history.

    Args:
        connection: Inside a transaction.
        origin: The expected dataset.
        until_ms: Midnight after the last closed day.

    Raises:
        DatasetChangedError: If the store holds another dataset.
    """
    days = read_days(connection, until_ms)
    if days.origin != origin:
        raise DatasetChangedError(f"The store holds {days.origin!r}, not {origin!r}.")
    taken: dict[str, VenueCoin] = {}
    for coin in sorted(days.coins, key=lambda coin: (not coin.listed, -_length(days, coin))):
        taken.setdefault(coin.symbol, coin)
    return [
        CoinHistoryInput(
            symbol,
            _by_day(days.bars[coin.venue_symbol]),
            [(day, paid) for day, paid, hours in days.funding.get(coin.venue_symbol, []) if hours >= FUNDED_HOURS],
        )
        for symbol, coin in sorted(taken.items())
        if coin.venue_symbol in days.bars
    ]


def _by_day(bars: PackedBars) -> list[BarTuple]:
    return [(int(row[0]) // DAY_MS, *row[1:]) for row in bars.with_volumes()]


def _length(days: ClosedDays, coin: VenueCoin) -> int:
    return len(days.bars.get(coin.venue_symbol, ()))
