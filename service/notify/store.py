"""Alert rules and the outbox of their messages in the database."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from service.clock import DAY_MS, HOUR_MS
from service.errors import ServiceError
from service.storage.database import Database
from service.storage.engine import Connection
from service.wire.envelope import encode

MOST_RULES: Final = 50
"""Rules of a user."""

HOURLY_MESSAGES: Final = 100
"""Messages of a user in any 60 minutes; later ones are given up at once, and listed as such."""

KEEP_MS: Final = 7 * DAY_MS
"""How long a finished message is listed. Longer than `evaluation.NEWS_MS`, so that no event is sent twice."""

OVER_LIMIT: Final = f"Not sent: more than {HOURLY_MESSAGES} messages in an hour."
REMOVED: Final = "Not sent: the rule was removed."

_AT_ONCE: Final = 64
_AT_ONCE_OF_USER: Final = 4
"""Messages that are sent at the same time, in all and of one user: a slow receiver delays its own user most."""

_PRUNED_AT_ONCE: Final = 1_000

_RULES: Final = "SELECT id, user_id, rule, target, created_ms, origin, state FROM alert_rules"
_INSERT_RULE: Final = """
    INSERT INTO alert_rules (user_id, rule, target, created_ms) VALUES (?, ?, ?, ?) RETURNING id
"""
_SET_STATE: Final = """
    UPDATE alert_rules SET origin = ?1, state = ?2 WHERE id = ?3 AND created_ms = ?4 AND origin = ?5 AND state IS ?6
"""
_INSERT_MESSAGE: Final = """
    INSERT INTO alert_deliveries (id, rule_id, user_id, target, body, created_ms, next_ms, finished_ms, error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_SENT_IN_AN_HOUR: Final = """
    SELECT count(*) FROM alert_deliveries WHERE user_id = ? AND created_ms > ? AND (error IS NULL OR error <> ?)
"""
_CANCEL: Final = """
    UPDATE alert_deliveries SET next_ms = NULL, finished_ms = ?, error = ? WHERE rule_id = ? AND next_ms IS NOT NULL
"""
_DUE: Final = """
    SELECT id, user_id, target, body, created_ms, attempts FROM (
        SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY next_ms, id) AS place FROM alert_deliveries
        WHERE next_ms <= ? AND user_id NOT IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
    ) waiting WHERE place <= ? ORDER BY next_ms, id LIMIT ?
"""
_CLAIM: Final = """
    UPDATE alert_deliveries SET attempts = ?, next_ms = ? WHERE id = ? AND next_ms <= ?
"""
_SETTLE: Final = """
    UPDATE alert_deliveries SET attempts = ?, next_ms = ?, finished_ms = ?, error = ?
    WHERE id = ? AND next_ms IS NOT NULL
"""
_PRUNE: Final = """
    DELETE FROM alert_deliveries WHERE id IN (SELECT id FROM alert_deliveries WHERE finished_ms <= ? LIMIT ?)
"""
_LIST: Final = """
    SELECT id, rule_id, body, attempts, created_ms, next_ms, finished_ms, error FROM alert_deliveries
    WHERE user_id = ? ORDER BY created_ms DESC, id DESC LIMIT ?
"""


class StoredRule(NamedTuple):
    """A rule of a user. `state` belongs to the dataset `origin`, see `rules.price_state`."""

    id: int
    user_id: int
    rule: str
    target: str
    created_ms: int
    origin: str
    state: str | None


class RuleUpdate(NamedTuple):
    """What an evaluation found of a rule: its new state, and the message that it caused, if any (id and body)."""

    rule: StoredRule
    origin: str
    state: str | None
    event: tuple[str, bytes] | None


class DueMessage(NamedTuple):
    """A message that is to be sent now; `attempts` counts this one."""

    id: str
    user_id: int
    target: str
    body: bytes
    created_ms: int
    attempts: int


class AttemptResult(Struct, frozen=True):
    """How an attempt ended: when to try again (null: never), and the error (null: delivered)."""

    id: str
    attempts: int
    next_ms: int | None
    error: str | None


class ListedMessage(NamedTuple):
    """A message as it is listed."""

    id: str
    rule_id: int
    body: bytes
    attempts: int
    created_ms: int
    next_ms: int | None
    finished_ms: int | None
    error: str | None


class RuleStore:
    """The tables of alert rules and their messages.

    Args:
        database: Holds the tables.
        hourly: Messages of a user in an hour.
    """

    def __init__(self, database: Database, hourly: int = HOURLY_MESSAGES) -> None:
        self._database = database
        self._hourly = hourly

    async def add(self, user_id: int, rule: str, target: str, now_ms: int) -> int:
        """Store a rule and return its id.

        Raises:
            ServiceError: `BAD_REQUEST` if the user has too many rules; `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> int:
            (held,) = connection.execute("SELECT count(*) FROM alert_rules WHERE user_id = ?", (user_id,)).fetchone()
            if held >= MOST_RULES:
                raise ServiceError("BAD_REQUEST", f"A user may have {MOST_RULES} alert rules. Remove one first.")
            ((rule_id,),) = connection.execute(_INSERT_RULE, (user_id, rule, target, now_ms)).fetchall()
            return int(rule_id)

        return await self._database.write(work)

    async def rules(self, user_id: int | None = None) -> list[StoredRule]:
        """All rules, or those of one user; oldest first.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        of_user = "" if user_id is None else " WHERE user_id = ?"
        rows = await self._database.read(f"{_RULES}{of_user} ORDER BY id", () if user_id is None else (user_id,))
        return [StoredRule(*row) for row in rows]

    async def remove(self, user_id: int, rule_id: int, now_ms: int) -> bool:
        """Delete a rule and give up its messages; false if the user has no such rule.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> bool:
            statement = "DELETE FROM alert_rules WHERE id = ? AND user_id = ?"
            found = connection.execute(statement, (rule_id, user_id)).rowcount > 0
            if found:
                connection.execute(_CANCEL, (now_ms, REMOVED, rule_id))
            return found

        return await self._database.write(work)

    async def record(self, updates: Sequence[RuleUpdate], now_ms: int) -> None:
        """Store new states, and the messages they caused, in one transaction.

        A rule that was removed, or evaluated by another process since it was read, is left alone.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> None:
            for rule, origin, state, event in updates:
                known = (rule.id, rule.created_ms, rule.origin, rule.state)
                changed = connection.execute(_SET_STATE, (origin, state, *known)).rowcount > 0
                if changed and event is not None:
                    within = self._is_within_limit(connection, rule.user_id, now_ms)
                    _insert(connection, rule, event, now_ms, within=within)

        await self._database.write(work)

    async def enqueue(self, rule: StoredRule, event: tuple[str, bytes], now_ms: int) -> bool:
        """Store a message that no evaluation caused; false, and nothing stored, if the user has had too many.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> bool:
            within = self._is_within_limit(connection, rule.user_id, now_ms)
            if within:
                _insert(connection, rule, event, now_ms, within=True)
            return within

        return await self._database.write(work)

    def _is_within_limit(self, connection: Connection, user_id: int, now_ms: int) -> bool:
        (sent,) = connection.execute(_SENT_IN_AN_HOUR, (user_id, now_ms - HOUR_MS, OVER_LIMIT)).fetchone()
        return bool(sent < self._hourly)

    async def claim(self, now_ms: int, sending: Mapping[str, int], hold: Callable[[int], int]) -> list[DueMessage]:
        """Take messages to send now, the longest waiting first. At most 64 are sent at once, 4 of a user.

        Args:
            now_ms: Epoch ms.
            sending: User of each message that is being sent.
            hold: After how many ms a message is due again if no result is stored, by the number of attempts.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be used; nothing is taken.
        """
        at_once = Counter(sending.values())
        full = encode([user_id for user_id, count in at_once.items() if count >= _AT_ONCE_OF_USER]).decode()
        claimed, claims = [], []
        for row in await self._database.read(_DUE, (now_ms, full, _AT_ONCE_OF_USER, _AT_ONCE - len(sending))):
            due = DueMessage(*row)
            if due.id not in sending and at_once[due.user_id] < _AT_ONCE_OF_USER:
                at_once[due.user_id] += 1
                attempts = due.attempts + 1
                claimed.append(due._replace(attempts=attempts))
                claims.append((attempts, now_ms + hold(attempts), due.id, now_ms))

        def work(connection: Connection) -> list[bool]:
            return [connection.execute(_CLAIM, row).rowcount > 0 for row in claims]

        taken = await self._database.write(work) if claims else []
        return [message for message, is_taken in zip(claimed, taken, strict=True) if is_taken]

    async def settle(self, results: Sequence[AttemptResult], now_ms: int) -> None:
        """Record how attempts ended.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written: the messages are sent again later.
        """
        rows = [
            (each.attempts, each.next_ms, now_ms if each.next_ms is None else None, each.error, each.id)
            for each in results
        ]

        def work(connection: Connection) -> None:
            connection.executemany(_SETTLE, rows)

        await self._database.write(work)

    async def messages(self, user_id: int, limit: int) -> list[ListedMessage]:
        """The newest messages of a user.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        return [ListedMessage(*row) for row in await self._database.read(_LIST, (user_id, limit))]

    async def prune(self, now_ms: int) -> None:
        """Delete messages that ended a week ago, a thousand in a transaction.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> int:
            return connection.execute(_PRUNE, (now_ms - KEEP_MS, _PRUNED_AT_ONCE)).rowcount

        while await self._database.write(work) == _PRUNED_AT_ONCE:
            pass


def _insert(connection: Connection, rule: StoredRule, event: tuple[str, bytes], now_ms: int, *, within: bool) -> None:
    end = (now_ms, None, None) if within else (None, now_ms, OVER_LIMIT)
    connection.execute(_INSERT_MESSAGE, (event[0], rule.id, rule.user_id, rule.target, event[1], now_ms, *end))
