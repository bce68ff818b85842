"""Everything that is recorded, in parts that start a service each."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.golden.accounts import record_accounts
from tests.golden.answers import Answer
from tests.golden.forged import record_forged
from tests.golden.replay import record_replay
from tests.golden.walkforward import record_walkforward
from tests.golden.whole import record_whole

Part = Callable[[Path], Mapping[str, Sequence[Answer]]]
"""Records a part in an empty folder: name of the file → its answers."""

PARTS: Final[Mapping[str, Part]] = {
    "whole": record_whole,
    "replay": record_replay,
    "forged": record_forged,
    "accounts": record_accounts,
    "walkforward": record_walkforward,
}
