"""Which refreshes failed last: what `verdict doctor` reads in the store, without asking any upstream."""

from typing import Final

from service.clock import iso
from service.operator.check import Check, judge
from service.storage.engine import Connection

_FAILED: Final = """
    SELECT 'prices and funding (Hyperliquid)', failed_ms, failed_status, failed_body
    FROM market_state WHERE failed_ms IS NOT NULL
    UNION ALL
    SELECT name, failed_ms, failed_status, failed_body FROM documents WHERE failed_ms IS NOT NULL
    UNION ALL
    SELECT 'feed ' || source, asked_ms, failed_status, failed_body FROM transcript_sources WHERE status = 'failing'
    ORDER BY 1
"""
_REMEDY: Final = "run `verdict doctor --upstreams`; it asks every upstream and says what to do about each"


def check_refreshes(connection: Connection) -> Check:
    """Report every refresh whose last attempt failed."""
    found = [
        f"{what}: {body or 'no answer'}{'' if status is None else f' (status {status})'}, {iso(failed_ms)}"
        for what, failed_ms, status, body in connection.execute(_FAILED).fetchall()
    ]
    return judge("refreshes", f"the last of {len(found)} failed" if found else "none has failed", found, _REMEDY)
