"""What the engine walks, read from a folder of recordings: bars and funding as the venue told them."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from math import fsum
from pathlib import Path
from statistics import median_low
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.json import Decoder

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS
from service.market.sources.hyperliquid_wire import CANDLES, FUNDING_HISTORY
from service.market.symbols import canonical
from service.upstream.fixture_set import FixtureError, unpack, unpack_rows
from service.upstream.replay.recording import DAILY, FUNDING, Candle, FundingRow
from service.walkforward.parameters import Bar, History
from service.wire.envelope import encode

T = TypeVar("T", bound=Struct)

_ENDING: Final = ".json.gz"
_FUNDED_HOURS: Final = 23
"""As many hours of a day must be paid for as the store asks for (`MarketStore.sum_funding`)."""


class RecordingsError(Exception):
    """A folder that cannot be read as recordings; the message says which file and what is expected."""


def read_recordings(directory: Path, now_ms: int) -> list[History]:
    """Read every coin of a folder.

    A file is what the venue answered (`candleSnapshot`, `fundingHistory`: rows), or the same column by column as a
    fixture set keeps it.

    Args:
        directory: Holds `candles-1d/BTC.json.gz` and, of the coins whose funding is known, `funding/BTC.json.gz`.
        now_ms: Bars that have not closed by then are left out.

    Raises:
        RecordingsError: If there is no bar in it, or a file is no recording.
    """
    paths = sorted((directory / DAILY).glob(f"*{_ENDING}"))
    found = [_read_coin(directory, path, now_ms) for path in paths]
    histories = sorted((history for history in found if history.bars), key=lambda history: history.coin)
    if not histories:
        raise RecordingsError(
            f"there are no bars in {directory / DAILY}; name a folder with {DAILY}/BTC{_ENDING} and so on, such as "
            "a fixture set's upstream/hyperliquid"
        )
    return histories


def _read_coin(directory: Path, path: Path, now_ms: int) -> History:
    coin = path.name.removesuffix(_ENDING)
    funding = directory / FUNDING / path.name
    return History(canonical(coin), _read_bars(path, now_ms), _read_funding(funding) if funding.is_file() else [])


def _read_bars(path: Path, now_ms: int) -> list[Bar]:
    bars: dict[int, Bar] = {}
    for candle in _read(path, CANDLES, Candle):
        day, past = divmod(candle.open_ms, DAY_MS)
        ends = (candle.open, candle.close)
        sound = not past and 0 < candle.low <= min(ends) and max(ends) <= candle.high
        if sound and candle.open_ms + DAY_MS <= now_ms:
            bars[day] = (day, candle.open, candle.high, candle.low, candle.close, candle.volume)
    return [bars[day] for day in sorted(bars)]


def _read_funding(path: Path) -> list[tuple[int, float]]:
    """What was paid a day: the payments after 00:00 up to the 00:00 that ends it."""
    rates = _read(path, FUNDING_HISTORY, FundingRow)
    paid = sorted({round(rate.time_ms / MINUTE_MS) * MINUTE_MS: rate.rate for rate in rates}.items())
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(paid)]
    hours = max(1, round(median_low(gaps) / HOUR_MS)) if gaps else 1
    days: dict[int, list[float]] = defaultdict(list)
    for paid_ms, rate in paid:
        days[(paid_ms - 1) // DAY_MS].append(rate)
    return [(day, fsum(parts)) for day, parts in days.items() if len(parts) * hours >= _FUNDED_HOURS]


def _read(path: Path, decoder: Decoder[tuple[T, ...]], columns: type[Struct]) -> Sequence[T]:
    """Read a file of rows, or of columns."""
    try:
        packed = path.read_bytes()
        text = unpack(packed)
        rows = encode(unpack_rows(packed, columns)) if text.startswith(b"{") else text
        return decoder.decode(rows) or ()
    except FixtureError as error:
        raise RecordingsError(f"{path} is no recording of the venue: it is not gzip") from error
    except KeyError as error:
        raise RecordingsError(f"{path} is no recording of the venue: it has no column {error}") from error
    except (OSError, ValueError, TypeError) as error:
        raise RecordingsError(f"{path} is no recording of the venue: {error}") from error
