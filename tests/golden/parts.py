"""Everything that is recorded, in parts that start a service each."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.golden.answers import Answer
from tests.golden.replay import record_replay
from tests.golden.routes import record_routes

Part = Callable[[Path], Mapping[str, Sequence[Answer]]]
"""Records a part in an empty folder: name of the file → its answers."""

PARTS: Final[Mapping[str, Part]] = {"routes": record_routes, "replay": record_replay}
