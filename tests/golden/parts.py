"""Everything that is recorded, in parts that start a service each."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.golden.accounts import record_accounts
from tests.golden.answers import Answer
from tests.golden.clients import record_clients
from tests.golden.forged import record_forged
from tests.golden.questions import record_questions
from tests.golden.replay import record_replay
from tests.golden.routes import record_routes
from tests.golden.walkforward import record_walkforward

Part = Callable[[Path], Mapping[str, Sequence[Answer]]]
"""Records a part in an empty folder: name of the file → its answers."""

PARTS: Final[Mapping[str, Part]] = {
    "routes": record_routes,
    "questions": record_questions,
    "clients": record_clients,
    "forged": record_forged,
    "replay": record_replay,
    "accounts": record_accounts,
    "walkforward": record_walkforward,
}
