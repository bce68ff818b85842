"""The result of a run, and its packed form in the store: summary figures, and each kind of record in one piece."""

import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from service.clock import parse_iso
from service.walkforward.parameters import Parameters
from service.wire.envelope import encode
from service.wire.walkforward import (
    Strategy,
    WalkforwardOutcome,
    WalkforwardPosition,
    WalkforwardSignal,
    WalkforwardSummary,
)

GateCheck = Literal["truncation", "shifted-features", "sign-flip-surrogates", "purge", "fills", "open-bar"]


class GateFinding(Struct, frozen=True):
    """Result of one check of the leakage gate for one strategy; `figures` is a sentence."""

    strategy: Strategy
    check: GateCheck
    held: bool
    figures: str


class FoldRecord(Struct, frozen=True):
    """How one fold of one strategy was trained and tested; days are UTC days, spans include both ends.

    Attributes:
        strategy: The strategy.
        fold: Counted from 1.
        trained: Spans of days for choosing parameters.
        tested: Span of days of decisions.
        chosen: The parameter set with the best Sharpe ratio in training.
        trials: Number of sets tried.
        train_sharpe: Sharpe ratio of the chosen set, annualized; null if it never traded.
        sharpes: The same for every set, in the order of the grid; the deflated ratio counts them as trials.
    """

    strategy: Strategy
    fold: int
    trained: list[tuple[str, str]]
    tested: tuple[str, str]
    chosen: dict[str, float]
    trials: int
    train_sharpe: float | None
    sharpes: list[float | None]


class WalkforwardRun(Struct, frozen=True, kw_only=True):
    """A whole walk-forward. Except for `ran_at`, the same histories and parameters give the same bytes.

    Records are newest first. Positions are valued at the last close. Records of a strategy that the gate refused are
    left out. If the histories are too short, `message` says so, there is no summary, and every list is empty.
    """

    engine: str
    run_id: str
    ran_at: str
    parameters_hash: str
    tape_digest: str
    parameters: Parameters
    message: str | None
    summary: WalkforwardSummary | None
    signals: list[WalkforwardSignal]
    positions: list[WalkforwardPosition]
    outcomes: list[WalkforwardOutcome]
    folds: list[FoldRecord]
    findings: list[GateFinding]


R = TypeVar("R", WalkforwardSignal, WalkforwardPosition, WalkforwardOutcome)

_LEVEL: Final = 6
"""Level of zlib: 2,000 outcomes take 90 KB and 15 ms."""


BEGINNING: Final = -1
"""The place before the first record."""


class RunHeader(Struct, frozen=True, kw_only=True):
    """A run without its records; see `WalkforwardRun`."""

    tape_digest: str
    message: str | None
    summary: WalkforwardSummary | None
    folds: list[FoldRecord]
    findings: list[GateFinding]


class PackedRun(Struct, frozen=True, kw_only=True, tag="packed"):
    """A packed run, stored without decoding it.

    `through_day` is the last day of the run, from 1970-01-01 UTC; `parameters` and `head` are JSON, the others zlib
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


class RecordPage(Struct, Generic[R], frozen=True):
    """A page of a list: its records, the length of the list, and the place to continue after (null: the end)."""

    records: list[R]
    total: int
    goes_on_after: int | None


class RecordList(Generic[R]):
    """Records of one kind, newest first, with an index by coin.

    Args:
        records: All records.
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

    def page(self, symbol: str | None, after: int, limit: int) -> RecordPage[R]:
        """Read a page.

        Args:
            symbol: Only this coin, if given.
            after: The place to begin after, counted in the whole list; `BEGINNING` is before the first.
            limit: Most records.
        """
        places = range(len(self._records)) if symbol is None else self._places.get(symbol, ())
        begin = bisect_right(places, after)
        found = places[begin : begin + limit]
        more = begin + limit < len(places)
        return RecordPage([self._records[place] for place in found], len(places), found[-1] if more else None)


class StoredRun(Struct, frozen=True, kw_only=True):
    """A stored run, unpacked; `run` is its number in the store."""

    run: int
    run_id: str
    engine: str
    parameters_hash: str
    ran_ms: int
    head: RunHeader
    signals: RecordList[WalkforwardSignal]
    positions: RecordList[WalkforwardPosition]
    outcomes: RecordList[WalkforwardOutcome]

    def knows(self, symbol: str | None) -> bool:
        """Whether a coin has any record."""
        return symbol in self.signals or symbol in self.positions or symbol in self.outcomes


_head: Final = msgspec.json.Decoder(RunHeader)
_signals: Final = msgspec.json.Decoder(list[WalkforwardSignal])
_positions: Final = msgspec.json.Decoder(list[WalkforwardPosition])
_outcomes: Final = msgspec.json.Decoder(list[WalkforwardOutcome])


def pack_run(run: WalkforwardRun, through_day: int) -> PackedRun:
    """Pack a run.

    Args:
        run: Result of the engine.
        through_day: The last requested day, from 1970-01-01 UTC.
    """
    head = RunHeader(
        tape_digest=run.tape_digest,
        message=run.message,
        summary=run.summary,
        folds=run.folds,
        findings=run.findings,
    )
    return PackedRun(
        run_id=run.run_id,
        engine=run.engine,
        parameters=parameters_json(run.parameters),
        parameters_hash=run.parameters_hash,
        through_day=through_day,
        ran_ms=parse_iso(run.ran_at),
        head=encode(head),
        signals=zlib.compress(encode(run.signals), _LEVEL),
        positions=zlib.compress(encode(run.positions), _LEVEL),
        outcomes=zlib.compress(encode(run.outcomes), _LEVEL),
    )


def unpack_run(number: int, packed: PackedRun) -> StoredRun:
    """Unpack a run for telling.

    Args:
        number: The run's in the store.
        packed: What `pack_run` made.

    Raises:
        msgspec.MsgspecError: If another version of the service packed it differently.
        zlib.error: If it is damaged.
    """
    return StoredRun(
        run=number,
        run_id=packed.run_id,
        engine=packed.engine,
        parameters_hash=packed.parameters_hash,
        ran_ms=packed.ran_ms,
        head=_head.decode(packed.head),
        signals=RecordList(_signals.decode(zlib.decompress(packed.signals))),
        positions=RecordList(_positions.decode(zlib.decompress(packed.positions))),
        outcomes=RecordList(_outcomes.decode(zlib.decompress(packed.outcomes))),
    )


def parameters_json(parameters: Parameters) -> str:
    """Parameters as JSON; equal parameters give equal text."""
    return encode(parameters).decode()


def records_by_kind(packed: PackedRun) -> Mapping[str, bytes]:
    """The packed records by the kind that `walkforward?action=` names."""
    return {"signals": packed.signals, "positions": packed.positions, "outcomes": packed.outcomes}
