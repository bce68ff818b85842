"""What a walk-forward brought: its records as they are told, and what makes them checkable."""

from typing import Literal

from msgspec import Struct

from service.walkforward.parameters import Parameters
from service.wire.walkforward import (
    Strategy,
    WalkforwardOutcome,
    WalkforwardPosition,
    WalkforwardSignal,
    WalkforwardSummary,
)

Check = Literal["truncation", "shifted-features", "sign-flip-surrogates", "purge", "fills", "open-bar"]


class Finding(Struct, frozen=True):
    """What one check of the leakage gate found for one strategy; `figures` is a sentence."""

    strategy: Strategy
    check: Check
    held: bool
    figures: str


class FoldRecord(Struct, frozen=True):
    """How one fold of one strategy was trained and tested; days are UTC days, spans include both ends.

    Attributes:
        strategy: Whose fold.
        fold: Counted from 1.
        trained: The spans of days that its parameters were chosen on.
        tested: The span of days on which decisions were made.
        chosen: The set of parameters with the best Sharpe ratio in training.
        trials: How many sets were tried.
        train_sharpe: Of the chosen set, annualised; null where it never traded.
        sharpes: The same of every set that was tried, in the grid's order: all that a deflated ratio is deflated by.
    """

    strategy: Strategy
    fold: int
    trained: list[tuple[str, str]]
    tested: tuple[str, str]
    chosen: dict[str, float]
    trials: int
    train_sharpe: float | None
    sharpes: list[float | None]


class Run(Struct, frozen=True, kw_only=True):
    """A whole walk-forward; but for `ran_at`, the same histories and parameters give the same bytes.

    Records are newest first. Positions are valued at the last close: whoever tells them later knows a later price.
    The records of a strategy that the gate refused are left out. Where the histories are too short, `message` says so,
    there is no summary and every list is empty.
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
    findings: list[Finding]
