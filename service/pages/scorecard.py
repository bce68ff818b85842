"""The page `/scorecard`: what became of verdicts, live and backtested, and whether they have shown any skill."""

from collections.abc import Mapping
from typing import Final

from service.pages.page import Page
from service.pages.rooms import Rooms
from service.verdict.claims import TARGETS, earned, withdrawal
from service.verdict.ledger import HORIZONS, Kind
from service.verdict.measured import MEASURED
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import FLAT_PCT, LABELS, LEAST_DAYS, Figures, Pools, Scorecard
from service.wire.verdict import Label

_RECORDS: Final[tuple[tuple[str, Kind, str, str], ...]] = (
    ("live", "daily", "Live record", "one verdict a day on every coin, written down before its outcome was known"),
    ("backtested", "daily", "Backtested record", "the same rules, recomputed for every past day from closed bars"),
    ("live", "asked", "What somebody asked for", "who asks chooses when, so these stand apart"),
)


class ScorecardView:
    """Shows the scorecard.

    Args:
        rooms: Whom it asks.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def show(self, _segment: str, _query: Mapping[str, str]) -> Page:
        """Show it."""
        return await self._rooms.lately.page("scorecard", self._make)

    async def _make(self) -> Page:
        counted = {"live": self._rooms.scorecards.live(), "backtested": self._rooms.scorecards.backtested()}
        withdrawals = [(look, withdrawal(look, self._rooms.scorecards.skills())) for look in earned()]
        return self._rooms.templates.page(
            "scorecard.html",
            records=[(title, about, _figures(counted[of], kind)) for of, kind, title, about in _RECORDS],
            looks=[look for look in MEASURED.looks if look.ruleset == CURRENT.label.version and look.target in TARGETS],
            earned=[look for look, withdrawn in withdrawals if withdrawn is None],
            withdrawn=[withdrawn for _, withdrawn in withdrawals if withdrawn is not None],
            measured=MEASURED,
            least=LEAST_DAYS,
            flat=FLAT_PCT,
        )


def _figures(counted: tuple[Scorecard, Pools] | None, kind: Kind) -> list[tuple[Label, int, Figures]]:
    """One row a verdict and horizon; none where there is no outcome."""
    if counted is None:
        return []
    rows = [(label, days, counted[1].figures(label, days, kind)) for label in LABELS for days in HORIZONS]
    return rows if any(found.outcomes for _, _, found in rows) else []
