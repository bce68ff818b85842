"""What the engine walks, read from a folder of recordings: bars and funding as the venue told them."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.json import Decoder

from service.clock import DAY_MS
from service.market.sources.hyperliquid_wire import CANDLES, FUNDING_HISTORY, is_sound, payments
from service.market.store import FUNDED_HOURS
from service.market.symbols import canonical
from service.upstream.fixture_set import FixtureError, unpack, unpack_rows
from service.upstream.replay.recording import DAILY, FUNDING, Candle, FundingRow
from service.walkforward.parameters import Bar, History
from service.wire.envelope import encode

T = TypeVar("T", bound=Struct)

_ENDING: Final = ".json.gz"


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
    bars = {
        candle.open_ms // DAY_MS: (candle.open, candle.high, candle.low, candle.close, candle.volume)
        for candle in _read(path, CANDLES, Candle)
        if is_sound(candle, DAY_MS) and candle.open_ms + DAY_MS <= now_ms
    }
    return [(day, *bar) for day, bar in sorted(bars.items())]


def _read_funding(path: Path) -> list[tuple[int, float]]:
    """What was paid a day, as the store sums it: the payments after 00:00 up to the 00:00 that ends it."""
    days: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for paid_ms, rate, hours in payments(_read(path, FUNDING_HISTORY, FundingRow)):
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
        raise RecordingsError(f"{path} is no recording of the venue: it is not gzip") from error
    except KeyError as error:
        raise RecordingsError(f"{path} is no recording of the venue: it has no column {error}") from error
    except (OSError, ValueError, TypeError) as error:
        raise RecordingsError(f"{path} is no recording of the venue: {error}") from error
