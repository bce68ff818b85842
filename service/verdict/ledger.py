"""The ledger: every verdict, appended before its outcome is known, chained to the entry before by its hash."""

import asyncio
import logging
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import msgspec

from service.clock import DAY_MS, HOUR_MS
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.verdict.ruleset import claimed
from service.wire.canonical import canonical
from service.wire.verdict import CoinVerdict, Label, VerdictInputs


class RecordedInputs(NamedTuple):
    """Inputs of a coin and when they were stored (epoch ms UTC). The inputs hold their own observation times."""

    recorded_ms: int
    inputs: VerdictInputs


Kind = Literal["asked", "daily"]

HORIZONS: Final = (1, 3, 7)
"""Days after which a verdict is scored."""

ABSTAINED: Final[Label] = "insufficient-evidence"
GENESIS: Final = "0" * 64
"""The hash before the first entry."""

_REMEMBERED: Final = 4_096

COLUMNS: Final = (
    "seq", "kind", "day", "origin", "symbol", "issued_ms", "verdict_id", "verdict", "score", "confidence",
    "probability_up", "price", "body",
)  # fmt: skip
"""The hashed columns of an entry; `body` enters as its digest."""

THOUSANDS: Final[Mapping[str, str]] = MappingProxyType(
    {f"K{coin}": coin for coin in ("BONK", "DOGS", "FLOKI", "LUNC", "NEIRO", "PEPE", "SHIB")}
)
"""Tickers of entries from before prices were of single coins: a thousand of another ticker's coin."""

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


class LedgerHead(msgspec.Struct, frozen=True):
    """Length of the ledger and hash of its last entry. A saved head proves the entries before it."""

    entries: int = 0
    hash: str = GENESIS


class LedgerEntry(NamedTuple):
    """A row of the ledger without the columns that depend on earlier rows."""

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


def create_entry(kind: Kind, day: int | None, origin: str, verdict: CoinVerdict, issued_ms: int) -> LedgerEntry:
    """Create the entry of a verdict."""
    return LedgerEntry(
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


def price_of(verdict: CoinVerdict) -> float | None:
    """The price that a verdict was given at, USD."""
    return None if verdict.raw.risk is None else verdict.raw.risk.price


def chain_hash(previous: str, columns: Sequence[object]) -> str:
    """The hash of an entry.

    Args:
        previous: The hash of the one before.
        columns: Its own, in the order of `COLUMNS`; the body as `digest_body` has it.
    """
    return sha256(previous.encode() + canonical(dict(zip(COLUMNS, columns, strict=True)))).hexdigest()


def digest_body(body: bytes) -> str:
    """The digest of a body in the hash of its entry. It does not depend on the compression of the body."""
    return sha256(body).hexdigest()


def read_head(connection: Connection) -> LedgerHead:
    """Length and last hash of the ledger."""
    return LedgerHead(*(connection.execute(_HEAD).fetchone() or ()))


class Ledger:
    """Appends verdicts and reads them back. Several processes append to one ledger.

    Args:
        database: Holds the ledger.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._issued: OrderedDict[tuple[str, str], LedgerHead] = OrderedDict()

    async def issue(self, origin: str, verdict: CoinVerdict, now_ms: int) -> LedgerHead:
        """Append a requested verdict. It is durable when this returns.

        A verdict is appended once, whichever processes issue it. An abstention is appended once an hour per coin: it
        claims nothing and costs nothing.

        Args:
            origin: The dataset of its inputs.
            verdict: A verdict on the inputs of now.
            now_ms: Wall time, epoch milliseconds UTC.

        Returns:
            The head as of this entry, the same for each call; for an abstention, as of the first one of the hour.

        Raises:
            ServiceError: `UNAVAILABLE` if it could not be written. Do not answer the verdict then.
        """
        key = (origin, verdict.verdict_id)
        known = self._issued.get(key)
        if known is None:
            entry = create_entry("asked", None, origin, verdict, now_ms)
            known = await self._database.write(lambda connection: _append_once(connection, entry))
            self._issued[key] = known
            if len(self._issued) > _REMEMBERED:
                self._issued.popitem(last=False)
        return known

    async def issue_day(self, origin: str, day: int, verdicts: Sequence[CoinVerdict], now_ms: int) -> bool:
        """Append the verdicts of a day, abstentions included, all or none.

        Args:
            origin: The dataset of their inputs.
            day: The published day, counted from 1970-01-01 UTC.
            verdicts: One for each listed coin.
            now_ms: Wall time, epoch milliseconds UTC.

        Returns:
            False if the day already has its verdicts.

        Raises:
            ServiceError: `UNAVAILABLE` if they could not be written.
        """

        def make() -> list[LedgerEntry]:
            return [create_entry("daily", day, origin, verdict, now_ms) for verdict in verdicts]

        entries = await asyncio.to_thread(make)

        def work(connection: Connection) -> bool:
            if connection.execute(_TOLD, (origin, day)).fetchone():
                return False
            _append(connection, entries)
            return True

        return await self._database.write(work)

    async def has_day(self, origin: str, day: int) -> bool:
        """Whether a published day has its verdicts."""
        return bool(await self._database.read(_TOLD, (origin, day)))

    async def head(self) -> LedgerHead:
        """The current head."""
        return LedgerHead(*rows[0]) if (rows := await self._database.read(_HEAD)) else LedgerHead()

    async def inputs_before(self, origin: str, symbol: str, at_ms: int) -> RecordedInputs | None:
        """The inputs of the newest verdict of a coin issued at or before an instant.

        Null if there is none, or if another version of the service wrote them in a form that this one cannot read.
        """
        rows = await self._database.read(_NEWEST, (origin, symbol, at_ms))
        try:
            return RecordedInputs(rows[0][0], _read_inputs(zlib.decompress(rows[0][1]))) if rows else None
        except msgspec.MsgspecError:
            _log.warning("Stored inputs of another version were skipped", extra={"recorded_ms": rows[0][0]})
            return None

    async def since(self, origin: str, symbol: str) -> int | None:
        """When the first verdict of a coin was issued; null if there is none."""
        ((first_ms,),) = await self._database.read(_FIRST, (origin, symbol))
        return None if first_ms is None else int(first_ms)


def _append_once(connection: Connection, entry: LedgerEntry) -> LedgerHead:
    written = connection.execute(_ASKED, (entry.origin, entry.verdict_id)).fetchone()
    if written is None and entry.verdict == ABSTAINED:
        hour = entry.issued_ms - HOUR_MS, entry.issued_ms
        written = connection.execute(_ABSTAINED, (entry.origin, entry.symbol, *hour, ABSTAINED)).fetchone()
    return _append(connection, [entry]) if written is None else LedgerHead(*written)


def _append(connection: Connection, entries: Iterable[LedgerEntry]) -> LedgerHead:
    """Append entries to the chain. The head is read in the same transaction, so no other process can move it."""
    head = read_head(connection)
    rows, due = [], []
    for entry in entries:
        seq, previous = head.entries + 1, head.hash
        head = LedgerHead(seq, chain_hash(previous, (seq, *entry[:-1], digest_body(entry.body))))
        rows.append((seq, *entry[:-1], zlib.compress(entry.body), previous, head.hash))
        due += [(entry.origin, due_ms(entry.issued_ms, days), seq, days) for days in HORIZONS if _is_scored(entry)]
    insert_rows(connection, _APPEND, rows)
    insert_rows(connection, _AWAIT, due)
    return head


def _is_scored(entry: LedgerEntry) -> bool:
    """Whether an entry gets outcomes: an abstention claims nothing, and a move needs a price."""
    return entry.verdict != ABSTAINED and entry.price is not None


def due_ms(issued_ms: int, days: int) -> int:
    """When the outcome of a verdict is due, epoch milliseconds UTC."""
    return issued_ms + days * DAY_MS
