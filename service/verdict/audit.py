"""Whether the ledger is what was written: every entry's hash, every link, every outcome. For `Database.inspect`."""

import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from service.clock import DAY_MS
from service.storage.engine import Connection
from service.verdict.ledger import ABSTAINED, COLUMNS, HORIZONS, Head, digest_body, due_ms, link, read_head
from service.verdict.scoring import WINDOW_MS, move_pct

_MOST_FINDINGS: Final = 20

_TABLE: Final = "SELECT 1 FROM migrations WHERE name = 'verdict_ledger'"
_ENTRIES: Final = f"SELECT previous, hash, {', '.join(COLUMNS)} FROM verdict_ledger ORDER BY seq"  # noqa: S608 - constants
_OUTCOMES: Final = """
    SELECT o.seq, o.days, o.price_ms, o.price, o.move_pct, l.issued_ms, l.price, l.verdict
    FROM verdict_outcomes o LEFT JOIN verdict_ledger l USING (seq) WHERE o.price IS NOT NULL
    ORDER BY o.seq, o.days
"""
_FORGOTTEN: Final = f"""
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


class _Said(msgspec.Struct):
    """What an entry repeats of its verdict. A verdict of any version has these, whatever else it has."""

    symbol: str
    verdict_id: str
    verdict: str
    score: float
    confidence: str
    raw: _Raw

    def columns(self) -> dict[str, object]:
        """As the entry has it."""
        price = None if self.raw.risk is None else self.raw.risk.price
        return {name: getattr(self, name) for name in self.__struct_fields__[:-1]} | {"price": price}


_read: Final = msgspec.json.Decoder(_Said).decode


class Audit(msgspec.Struct, frozen=True):
    """What was found: how long the ledger is, its last hash, and one sentence a finding, at most 20 of a kind."""

    head: Head
    findings: list[str]


def audit_ledger(connection: Connection) -> Audit:
    """Go through the whole ledger. That its end was cut off shows only beside a head that somebody has kept.

    Returns:
        The head and the findings, none where all is well; an empty ledger where the store has none yet.
    """
    if connection.execute(_TABLE).fetchone() is None:
        return Audit(Head(), [])
    checks = (_check_entries(connection), _check_outcomes(connection), _check_waiting(connection))
    findings = [finding for check in checks for finding in islice(check, _MOST_FINDINGS)]
    return Audit(read_head(connection), findings)


def _check_entries(connection: Connection) -> Iterator[str]:
    """Each entry is the one after the last, is linked to it, and is what its hash and its verdict say."""
    last = Head()
    for previous, hashed, *columns in connection.execute(_ENTRIES):
        seq = columns[0]
        if seq != last.entries + 1:
            yield f"between the entries {last.entries} and {seq} {seq - last.entries - 1} are missing"
        elif previous != last.hash:
            yield f"entry {seq} does not follow entry {last.entries}" if seq > 1 else "entry 1 follows something"
        finding = _check_entry(previous, hashed, columns)
        if finding is not None:
            yield finding
        last = Head(seq, hashed)


def _check_entry(previous: str, hashed: str, columns: list[Any]) -> str | None:
    entry = dict(zip(COLUMNS, columns, strict=True))
    try:
        body = zlib.decompress(entry["body"])
        said = _read(body)
    except (zlib.error, msgspec.MsgspecError) as error:
        return f"the verdict of entry {entry['seq']} cannot be read ({error})"
    if link(previous, (*columns[:-1], digest_body(body))) != hashed:
        return f"entry {entry['seq']} is not what was written: its hash is another"
    if said.columns() != {name: entry[name] for name in said.columns()}:
        return f"entry {entry['seq']} says something else than the verdict in it"
    return None


def _check_outcomes(connection: Connection) -> Iterator[str]:
    """Each outcome is of a verdict that claimed something, in its window, and its move follows from the prices."""
    for seq, days, price_ms, price, moved, issued_ms, entry_price, verdict in connection.execute(_OUTCOMES):
        named = f"the outcome of entry {seq} after {days} days"
        if verdict in {None, ABSTAINED} or entry_price is None:
            yield f"{named} belongs to no verdict that claims something"
        elif not 0 <= price_ms - due_ms(issued_ms, days) <= WINDOW_MS:
            yield f"{named} is of another time"
        elif moved != move_pct(entry_price, price):
            yield f"{named} does not follow from its prices"


def _check_waiting(connection: Connection) -> Iterator[str]:
    """Each outcome that is not known is waited for."""
    for seq, days in connection.execute(_FORGOTTEN):
        yield f"nobody waits for the outcome of entry {seq} after {days} days"
