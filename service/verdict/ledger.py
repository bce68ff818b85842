"""The ledger: every verdict, written down before anybody can know how it turns out, each entry chained to the last."""

import asyncio
import logging
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, Literal, NamedTuple

import msgspec

from service.clock import DAY_MS, HOUR_MS
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.verdict.recorded import Recorded
from service.verdict.ruleset import claimed
from service.wire.canonical import canonical
from service.wire.verdict import Label, Verdict, VerdictInputs

Kind = Literal["asked", "daily"]

HORIZONS: Final = (1, 3, 7)
"""After how many days it is looked how a verdict turned out."""

ABSTAINED: Final[Label] = "insufficient-evidence"
GENESIS: Final = "0" * 64
"""What the first entry follows."""

_REMEMBERED: Final = 4_096

COLUMNS: Final = (
    "seq", "kind", "day", "origin", "symbol", "issued_ms", "verdict_id", "verdict", "score", "confidence",
    "probability_up", "price", "body",
)  # fmt: skip
"""What of an entry is hashed, by these names; `body` as its digest."""

_HEAD: Final = "SELECT seq, hash FROM verdict_ledger ORDER BY seq DESC LIMIT 1"
_ASKED: Final = "SELECT seq, hash FROM verdict_ledger WHERE kind = 'asked' AND origin = ? AND verdict_id = ?"
_ABSTAINED: Final = """
    SELECT seq, hash FROM verdict_ledger
    WHERE origin = ? AND symbol = ? AND issued_ms BETWEEN ? AND ? AND kind = 'asked' AND verdict = ?
    ORDER BY issued_ms DESC, seq DESC LIMIT 1
"""
_TOLD: Final = "SELECT 1 FROM verdict_ledger WHERE kind = 'daily' AND origin = ? AND day = ? LIMIT 1"
_APPEND: Final = f"INSERT INTO verdict_ledger ({', '.join(COLUMNS)}, previous, hash)"
_AWAIT: Final = "INSERT INTO verdict_due (origin, due_ms, seq, days)"
_NEWEST: Final = """
    SELECT issued_ms, body FROM verdict_ledger WHERE origin = ? AND symbol = ? AND issued_ms <= ?
    ORDER BY issued_ms DESC, seq DESC LIMIT 1
"""
_FIRST: Final = "SELECT min(issued_ms) FROM verdict_ledger WHERE origin = ? AND symbol = ?"

_read_inputs: Final = msgspec.json.Decoder(VerdictInputs).decode
_log: Final = logging.getLogger("verdict.verdict")


class Head(msgspec.Struct, frozen=True):
    """How long the ledger was once an entry had been written, and that entry's hash: who keeps both can prove it."""

    entries: int = 0
    hash: str = GENESIS


class Entry(NamedTuple):
    """A verdict ready to be written: all of its row that does not depend on the rows before."""

    kind: Kind
    day: int | None
    origin: str
    symbol: str
    issued_ms: int
    verdict_id: str
    verdict: Label
    score: float
    confidence: str
    probability_up: float | None
    price: float | None
    body: bytes
    """Canonical JSON of the whole verdict."""


def prepare(kind: Kind, day: int | None, origin: str, verdict: Verdict, issued_ms: int) -> Entry:
    """Make an entry of a verdict."""
    return Entry(
        kind,
        day,
        origin,
        verdict.symbol,
        issued_ms,
        verdict.verdict_id,
        verdict.verdict,
        verdict.score,
        verdict.confidence,
        claimed(verdict),
        price_of(verdict),
        canonical(verdict),
    )


def price_of(verdict: Verdict) -> float | None:
    """The price that a verdict was given at, USD."""
    return None if verdict.raw.risk is None else verdict.raw.risk.price


def link(previous: str, columns: Sequence[object]) -> str:
    """The hash of an entry.

    Args:
        previous: The hash of the one before.
        columns: Its own, in the order of `COLUMNS`; the body as `digest_body` has it.
    """
    return sha256(previous.encode() + canonical(dict(zip(COLUMNS, columns, strict=True)))).hexdigest()


def digest_body(body: bytes) -> str:
    """What stands for a body in the hash of its entry, so that the hash does not depend on how it was deflated."""
    return sha256(body).hexdigest()


def read_head(connection: Connection) -> Head:
    """The ledger's length and head."""
    return Head(*(connection.execute(_HEAD).fetchone() or ()))


class Ledger:
    """Appends verdicts; several processes append to one ledger.

    Args:
        database: Where it is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._issued: OrderedDict[tuple[str, str], Head] = OrderedDict()

    async def issue(self, origin: str, verdict: Verdict, now_ms: int) -> Head:
        """Write down a verdict that somebody asked for; it is durable when this returns.

        A verdict is written once, however often and by however many processes it is issued. So is an abstention, which
        claims nothing and costs nothing: once an hour for a coin, whatever it was made of.

        Args:
            origin: The history it was made from.
            verdict: The verdict, of what is known now. One of what was known before is no new verdict.
            now_ms: Wall time, epoch milliseconds UTC.

        Returns:
            The ledger's length and head as of this entry: the same each time. Of an abstention, as of the hour's first.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be written: then the verdict must not be answered.
        """
        key = (origin, verdict.verdict_id)
        known = self._issued.get(key)
        if known is None:
            entry = prepare("asked", None, origin, verdict, now_ms)
            known = await self._database.write(lambda connection: _ask(connection, entry))
            self._issued[key] = known
            if len(self._issued) > _REMEMBERED:
                self._issued.popitem(last=False)
        return known

    async def issue_day(self, origin: str, day: int, verdicts: Sequence[Verdict], now_ms: int) -> bool:
        """Write down a day's verdicts, abstentions too, all or none.

        Args:
            origin: The history they were made from.
            day: The published day, counted from 1970-01-01 UTC.
            verdicts: One for each listed coin.
            now_ms: Wall time, epoch milliseconds UTC.

        Returns:
            Whether they were written now; false where the day has its verdicts already.

        Raises:
            ServiceError: `UNAVAILABLE` if they could not be written; nothing of them is.
        """

        def make() -> list[Entry]:
            return [prepare("daily", day, origin, verdict, now_ms) for verdict in verdicts]

        entries = await asyncio.to_thread(make)

        def work(connection: Connection) -> bool:
            if connection.execute(_TOLD, (origin, day)).fetchone():
                return False
            _append(connection, entries)
            return True

        return await self._database.write(work)

    async def is_told(self, origin: str, day: int) -> bool:
        """Whether a published day has its verdicts."""
        return bool(await self._database.read(_TOLD, (origin, day)))

    async def head(self) -> Head:
        """The ledger's length and head now."""
        return Head(*rows[0]) if (rows := await self._database.read(_HEAD)) else Head()

    async def inputs_before(self, origin: str, symbol: str, at_ms: int) -> Recorded | None:
        """What the newest verdict of a coin, issued at or before an instant, was made of.

        Null if there is none, or if another version of this service issued it from inputs that this one cannot read.
        """
        rows = await self._database.read(_NEWEST, (origin, symbol, at_ms))
        try:
            return Recorded(rows[0][0], _read_inputs(zlib.decompress(rows[0][1]))) if rows else None
        except msgspec.MsgspecError:
            _log.warning("inputs of another version are not read", extra={"recorded_ms": rows[0][0]})
            return None

    async def since(self, origin: str, symbol: str) -> int | None:
        """When the first verdict of a coin was issued; null if there is none."""
        ((first_ms,),) = await self._database.read(_FIRST, (origin, symbol))
        return None if first_ms is None else int(first_ms)


def _ask(connection: Connection, entry: Entry) -> Head:
    written = connection.execute(_ASKED, (entry.origin, entry.verdict_id)).fetchone()
    if written is None and entry.verdict == ABSTAINED:
        hour = entry.issued_ms - HOUR_MS, entry.issued_ms
        written = connection.execute(_ABSTAINED, (entry.origin, entry.symbol, *hour, ABSTAINED)).fetchone()
    return _append(connection, [entry]) if written is None else Head(*written)


def _append(connection: Connection, entries: Iterable[Entry]) -> Head:
    """Chain entries to the head, which is read in this same transaction: nobody else can have moved it since."""
    head = read_head(connection)
    rows, due = [], []
    for entry in entries:
        seq, previous = head.entries + 1, head.hash
        head = Head(seq, link(previous, (seq, *entry[:-1], digest_body(entry.body))))
        rows.append((seq, *entry[:-1], zlib.compress(entry.body), previous, head.hash))
        due += [(entry.origin, due_ms(entry.issued_ms, days), seq, days) for days in HORIZONS if _is_scored(entry)]
    insert_rows(connection, _APPEND, rows)
    insert_rows(connection, _AWAIT, due)
    return head


def _is_scored(entry: Entry) -> bool:
    """An abstention claims nothing, and without a price nobody can say how a claim turned out."""
    return entry.verdict != ABSTAINED and entry.price is not None


def due_ms(issued_ms: int, days: int) -> int:
    """When the outcome of a verdict is due, epoch milliseconds UTC."""
    return issued_ms + days * DAY_MS
