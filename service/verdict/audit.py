"""Checks the ledger: the hash of every entry, the chain, and every outcome. Runs inside `Database.inspect`."""

import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from service.clock import DAY_MS
from service.storage.engine import Connection
from service.verdict.ledger import ABSTAINED, COLUMNS, HORIZONS, LedgerHead, chain_hash, digest_body, due_ms, read_head
from service.verdict.outcomes import WINDOW_MS, move_pct

_MOST_FINDINGS: Final = 20

_TABLE: Final = "SELECT 1 FROM migrations WHERE name = 'verdict_ledger'"
_ENTRIES: Final = f"SELECT previous, hash, {', '.join(COLUMNS)} FROM verdict_ledger ORDER BY seq"  # noqa: S608 - constants
_OUTCOMES: Final = """
    SELECT o.seq, o.days, o.price_ms, o.price, o.move_pct, l.issued_ms, l.price, l.verdict
    FROM verdict_outcomes o LEFT JOIN verdict_ledger l USING (seq) WHERE o.price IS NOT NULL
    ORDER BY o.seq, o.days
"""
_NOT_WAITED_FOR: Final = f"""
    WITH horizons (days) AS (VALUES {", ".join(f"({days})" for days in HORIZONS)})
    SELECT l.seq, h.days FROM verdict_ledger l CROSS JOIN horizons h
    WHERE l.verdict <> '{ABSTAINED}' AND l.price IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM verdict_outcomes o WHERE (o.seq, o.days) = (l.seq, h.days))
        AND NOT EXISTS (
            SELECT 1 FROM verdict_due d
            WHERE (d.origin, d.due_ms, d.seq, d.days) = (l.origin, l.issued_ms + h.days * {DAY_MS}, l.seq, h.days)
        )
    ORDER BY l.seq, h.days
"""  # noqa: S608 - of constants alone


class _Risk(msgspec.Struct):
    price: float | None


class _Raw(msgspec.Struct):
    risk: _Risk | None


class _VerdictBody(msgspec.Struct):
    """The fields of a verdict that its entry repeats. Verdicts of every version have them."""

    symbol: str
    verdict_id: str
    verdict: str
    score: float
    confidence: str
    raw: _Raw

    def columns(self) -> dict[str, object]:
        """As columns of the entry."""
        price = None if self.raw.risk is None else self.raw.risk.price
        return {name: getattr(self, name) for name in self.__struct_fields__[:-1]} | {"price": price}


_read: Final = msgspec.json.Decoder(_VerdictBody).decode


class LedgerAudit(msgspec.Struct, frozen=True):
    """Head of the ledger and one sentence for each finding, at most 20 of a kind."""

    head: LedgerHead
    findings: list[str]


def audit_ledger(connection: Connection) -> LedgerAudit:
    """Check the whole ledger. A removed end shows only against a head that was saved before.

    Returns:
        The head and the findings; an empty head if the store has no ledger yet.
    """
    if connection.execute(_TABLE).fetchone() is None:
        return LedgerAudit(LedgerHead(), [])
    checks = (_check_entries(connection), _check_outcomes(connection), _check_waiting(connection))
    findings = [finding for check in checks for finding in islice(check, _MOST_FINDINGS)]
    return LedgerAudit(read_head(connection), findings)


def _check_entries(connection: Connection) -> Iterator[str]:
    """Each entry follows the one before, is chained to it, and matches its hash and its verdict."""
    last = LedgerHead()
    for previous, hashed, *columns in connection.execute(_ENTRIES):
        seq = columns[0]
        if seq != last.entries + 1:
            yield f"{seq - last.entries - 1} entries are missing between {last.entries} and {seq}."
        elif previous != last.hash:
            yield (
                f"Entry {seq} is not chained to entry {last.entries}."
                if seq > 1
                else "Entry 1 is chained to another entry."
            )
        finding = _check_entry(previous, hashed, columns)
        if finding is not None:
            yield finding
        last = LedgerHead(seq, hashed)


def _check_entry(previous: str, hashed: str, columns: list[Any]) -> str | None:
    entry = dict(zip(COLUMNS, columns, strict=True))
    try:
        body = zlib.decompress(entry["body"])
        verdict = _read(body)
    except (zlib.error, msgspec.MsgspecError) as error:
        return f"The verdict of entry {entry['seq']} cannot be read: {error}."
    if chain_hash(previous, (*columns[:-1], digest_body(body))) != hashed:
        return f"Entry {entry['seq']} was changed: its hash does not match."
    if verdict.columns() != {name: entry[name] for name in verdict.columns()}:
        return f"Entry {entry['seq']} does not match the verdict in it."
    return None


def _check_outcomes(connection: Connection) -> Iterator[str]:
    """Each outcome belongs to a verdict, lies in its window, and has the move of its prices."""
    for seq, days, price_ms, price, moved, issued_ms, entry_price, verdict in connection.execute(_OUTCOMES):
        named = f"The outcome of entry {seq} after {days} days"
        if verdict in {None, ABSTAINED} or entry_price is None:
            yield f"{named} belongs to no verdict that can be scored."
        elif not 0 <= price_ms - due_ms(issued_ms, days) <= WINDOW_MS:
            yield f"{named} is outside its time window."
        elif moved != move_pct(entry_price, price):
            yield f"{named} does not match its prices."


def _check_waiting(connection: Connection) -> Iterator[str]:
    """Each outcome that is not known yet is scheduled."""
    for seq, days in connection.execute(_NOT_WAITED_FOR):
        yield f"The outcome of entry {seq} after {days} days is not scheduled."
