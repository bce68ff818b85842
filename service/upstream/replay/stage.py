"""What a replayed upstream stands on."""

from collections.abc import Callable, Mapping

import msgspec

from service.clock import Clock
from service.upstream.replay.recording import Recording
from service.upstream.replay.tape import Tape


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """What the module of an upstream is handed: `service.upstream.replay.<name>.routes(stage)`.

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
    tape: Tape
    recording: Recording
    clock: Clock
    now: Callable[[], tuple[int, int]]
