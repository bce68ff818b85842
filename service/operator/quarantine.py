"""What `verdict doctor` says of values that failed the plausibility check."""

from collections import Counter
from typing import Final

import msgspec

from service.market.quarantine import QUARANTINE, WHOLE, Report
from service.operator.check import Check, judge
from service.storage.engine import Connection

DOCUMENTS: Final = (QUARANTINE, "rwa.quarantine")
_READ: Final = "SELECT body FROM documents WHERE name = ? AND body IS NOT NULL"
_REMEDY: Final = (
    "run `verdict doctor --upstreams`; values are accepted again by themselves once the upstream's answers are "
    "plausible, or once a second source confirms them"
)


def check_quarantine(connection: Connection) -> Check:
    """Say which values are held back. Whole answers that are held back are findings; single values are not."""
    held = [value for name in DOCUMENTS for value in _report(connection, name).now]
    if not held:
        return Check("quarantine", "no value is held back")
    whole = [f"every answer of {value.source} is held back: {value.reason}" for value in held if value.coin == WHOLE]
    single = Counter(f"{value.coin} {value.field} ({value.reason})" for value in held if value.coin != WHOLE)
    shown = ", ".join(sorted(single)[:3])
    return judge("quarantine", f"{len(single)} values are held back{': ' if shown else ''}{shown}", whole, _REMEDY)


def _report(connection: Connection, name: str) -> Report:
    found = connection.execute(_READ, (name,)).fetchall()
    return msgspec.json.decode(found[0][0], type=Report) if found else Report()
