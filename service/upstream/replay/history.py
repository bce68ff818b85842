"""A recorded history moved to the present, and the context of a replayed upstream."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from service.clock import DAY_MS, Clock, day_of
from service.upstream.fixture_set import unpack
from service.upstream.replay.market import RecordedMarket
from service.upstream.replay.recording import DAILY, FUNDING, HOURLY, MAIN_DEX, Packed, Recording

Mode = Literal["shifted", "frozen"]


class RecordedHistory:
    """A recording whose time is shifted by whole days to the present, or kept.

    Args:
        recording: The recorded venue whole.
        clock: What now is; in `frozen` mode it stands at the recording's end.
        mode: Whether recorded time is shifted to today or kept.
    """

    def __init__(self, recording: Recording, clock: Clock, mode: Mode) -> None:
        self._recording = recording
        self._clock = clock
        self._mode = mode

    @property
    def shift_days(self) -> int:
        """Whole days added to recorded time at this moment."""
        if self._mode == "frozen":
            return 0
        return day_of(self._clock.now_ms()) - day_of(self._recording.frozen_at_ms)

    @property
    def origin(self) -> str:
        """Names the fixture set and the shift; data of two origins must not be mixed."""
        return f"fixtures:{self._recording.identity}:{self._mode}:{self.shift_days:+d}d"

    def now(self) -> tuple[int, int]:
        """The instant in recorded time, never past the recording's end, and the shift; milliseconds both."""
        shift_ms = self.shift_days * DAY_MS
        return min(self._clock.now_ms() - shift_ms, self._recording.frozen_at_ms), shift_ms

    def coins(self) -> Sequence[str]:
        """Venue symbols of every recorded market, delisted coins included."""
        return list(self._recording.contexts)

    def delisted(self) -> Sequence[str]:
        """Venue symbols of the main market's delisted coins."""
        return [asset.name for asset in self._recording.universes[MAIN_DEX].universe if asset.is_delisted]

    def columns(self, kind: str, coin: str) -> bytes | None:
        """Recorded rows of one kind (`candles-1d`, `candles-1h`, `funding`) by column, in recorded time; or null."""
        series = {DAILY: self._recording.days, HOURLY: self._recording.hours, FUNDING: self._recording.funding}[kind]
        rows = series.get(coin)
        return unpack(rows.packed) if isinstance(rows, Packed) else None


class ReplayContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the module of an upstream is handed: `service.upstream.replay.<name>.routes(context)`.

    Attributes:
        files: Path below the fixture set → content, unpacked: `coingecko/coins.json.gz` is found as
            `coingecko/coins.json`.
        tape: The recorded venue at any instant of recorded time.
        recording: The recorded venue whole.
        clock: The present. A frozen replay's stands still.
        now: Gives the instant in recorded time, which nothing served may lie after, and what is added to times on their
            way out and taken off on their way in; milliseconds both.
    """

    files: Mapping[str, bytes]
    tape: RecordedMarket
    recording: Recording
    clock: Clock
    now: Callable[[], tuple[int, int]]
