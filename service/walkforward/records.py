"""A run as it is kept and passed on: figures by themselves, and each kind of record packed into one piece."""

import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from service.clock import parse_iso
from service.walkforward.parameters import Parameters
from service.walkforward.run import Finding, FoldRecord, Run
from service.wire.envelope import encode
from service.wire.walkforward import WalkforwardOutcome, WalkforwardPosition, WalkforwardSignal, WalkforwardSummary

R = TypeVar("R", WalkforwardSignal, WalkforwardPosition, WalkforwardOutcome)

_LEVEL: Final = 6
"""Of zlib: two thousand outcomes of a kilobyte in three take 90 KB and 15 ms."""


BEGINNING: Final = -1
"""The place before the first record."""


class Head(Struct, frozen=True, kw_only=True):
    """What is told of a run beside its records; see `Run`."""

    tape_digest: str
    message: str | None
    summary: WalkforwardSummary | None
    folds: list[FoldRecord]
    findings: list[Finding]


class Packed(Struct, frozen=True, kw_only=True, tag="packed"):
    """A run, packed where it was made: who keeps it need not look into it.

    `through_day` is the last day that entered, from 1970-01-01 UTC; `parameters` and `head` are JSON, the others zlib
    over JSON arrays.
    """

    run_id: str
    engine: str
    parameters: str
    parameters_hash: str
    through_day: int
    ran_ms: int
    head: bytes
    signals: bytes
    positions: bytes
    outcomes: bytes


class Page(Struct, Generic[R], frozen=True):
    """A piece of a list: its records, how many the list holds, and the place to go on after (null: it ends here)."""

    records: list[R]
    total: int
    goes_on_after: int | None


class Listed(Generic[R]):
    """Records of one kind, newest first, and which of them are a coin's.

    Args:
        records: All of them.
    """

    def __init__(self, records: Sequence[R]) -> None:
        self._records: Sequence[R] = records
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, record in enumerate(records):
            self._places[record.symbol].append(place)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._places

    def of(self, symbol: str) -> list[R]:
        """All records of a coin, newest first."""
        return [self._records[place] for place in self._places.get(symbol, ())]

    def page(self, symbol: str | None, after: int, limit: int) -> Page[R]:
        """Read on.

        Args:
            symbol: Of this coin only, if given.
            after: The place behind which to begin, counted in the whole list; `BEGINNING` is before the first.
            limit: How many at most.
        """
        places = range(len(self._records)) if symbol is None else self._places.get(symbol, ())
        begin = bisect_right(places, after)
        found = places[begin : begin + limit]
        more = begin + limit < len(places)
        return Page([self._records[place] for place in found], len(places), found[-1] if more else None)


class Told(Struct, frozen=True, kw_only=True):
    """A run that is kept, unpacked; `run` is its number in the store."""

    run: int
    run_id: str
    engine: str
    parameters_hash: str
    ran_ms: int
    head: Head
    signals: Listed[WalkforwardSignal]
    positions: Listed[WalkforwardPosition]
    outcomes: Listed[WalkforwardOutcome]

    def knows(self, symbol: str | None) -> bool:
        """Whether a coin has any record."""
        return symbol in self.signals or symbol in self.positions or symbol in self.outcomes


_head: Final = msgspec.json.Decoder(Head)
_signals: Final = msgspec.json.Decoder(list[WalkforwardSignal])
_positions: Final = msgspec.json.Decoder(list[WalkforwardPosition])
_outcomes: Final = msgspec.json.Decoder(list[WalkforwardOutcome])


def pack(run: Run, through_day: int) -> Packed:
    """Pack a run.

    Args:
        run: As the engine gave it.
        through_day: The last day that was asked for, from 1970-01-01 UTC.
    """
    head = Head(
        tape_digest=run.tape_digest,
        message=run.message,
        summary=run.summary,
        folds=run.folds,
        findings=run.findings,
    )
    return Packed(
        run_id=run.run_id,
        engine=run.engine,
        parameters=written(run.parameters),
        parameters_hash=run.parameters_hash,
        through_day=through_day,
        ran_ms=parse_iso(run.ran_at),
        head=encode(head),
        signals=zlib.compress(encode(run.signals), _LEVEL),
        positions=zlib.compress(encode(run.positions), _LEVEL),
        outcomes=zlib.compress(encode(run.outcomes), _LEVEL),
    )


def unpack(number: int, packed: Packed) -> Told:
    """Unpack a run for telling.

    Args:
        number: The run's in the store.
        packed: What `pack` made.

    Raises:
        msgspec.MsgspecError: If another version of the service packed it differently.
        zlib.error: If it is damaged.
    """
    return Told(
        run=number,
        run_id=packed.run_id,
        engine=packed.engine,
        parameters_hash=packed.parameters_hash,
        ran_ms=packed.ran_ms,
        head=_head.decode(packed.head),
        signals=Listed(_signals.decode(zlib.decompress(packed.signals))),
        positions=Listed(_positions.decode(zlib.decompress(packed.positions))),
        outcomes=Listed(_outcomes.decode(zlib.decompress(packed.outcomes))),
    )


def written(parameters: Parameters) -> str:
    """Parameters as one text, the same for the same."""
    return encode(parameters).decode()


def kinds_of(packed: Packed) -> Mapping[str, bytes]:
    """The packed records by the kind that `walkforward?action=` names."""
    return {"signals": packed.signals, "positions": packed.positions, "outcomes": packed.outcomes}
