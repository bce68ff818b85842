"""Whether the keys in the store were made with the secrets at hand: a lost `secrets.toml` must not pass unnoticed."""

import logging
from typing import Final

from service.access.secrets import FILE_NAME, Secrets
from service.clock import Clock
from service.storage.database import Database
from service.storage.engine import Connection

REMEDY: Final = (
    f"stop the service and put the {FILE_NAME} kept with the backup back in its place; if it is lost, revoke these "
    "keys with `verdict keys revoke` and make new ones"
)

_NEWEST: Final = (
    "CASE WHEN EXISTS (SELECT 1 FROM peppers) THEN (SELECT coalesce(max(id), 0) FROM credentials) ELSE 0 END"
)

_ENTER: Final = f"""
INSERT INTO peppers (mark, after_credential, seen_ms) VALUES (?, {_NEWEST}, ?) ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants only

_STRANGE: Final = f"""
SELECT count(*) FROM credentials
WHERE kind = 'api_key' AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?)
    AND id <= coalesce((SELECT after_credential FROM peppers WHERE mark = ?), {_NEWEST})
"""  # noqa: S608 - constants only

_log = logging.getLogger("verdict.access")


def count_strange_keys(connection: Connection, secrets: Secrets, now_ms: int) -> int:
    """Keys that would work had they been made with these secrets."""
    (strange,) = connection.execute(_STRANGE, (now_ms, secrets.mark)).fetchone()
    return int(strange)


async def check_pepper(db: Database, secrets: Secrets, clock: Clock) -> None:
    """Enter these secrets as the ones in use, and warn if there are keys that were made with others.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be written.
    """
    now_ms = clock.now_ms()

    def enter(connection: Connection) -> int:
        connection.execute(_ENTER, (secrets.mark, now_ms))
        return count_strange_keys(connection, secrets, now_ms)

    strange = await db.write(enter)
    if strange:
        _log.warning(
            "%s is not the one that working keys were made with: this service does not know them. What to do: %s.",
            FILE_NAME,
            REMEDY,
            extra={"keys": strange},
        )
