"""The page `/scorecard`: what became of verdicts, live and backtested, and whether they have shown any skill."""

from collections.abc import Mapping
from typing import Final

from service.pages.dependencies import PageDependencies
from service.pages.rendering import HtmlPage
from service.verdict.claims import TARGETS, earned, withdrawal
from service.verdict.ledger import HORIZONS, Kind
from service.verdict.measured import MEASURED
from service.verdict.ruleset import CURRENT
from service.verdict.scorecard import FLAT_PCT, LABELS, LEAST_DAYS, Figures, OutcomeStatistics, Scorecard
from service.wire.verdict import Label

_RECORDS: Final[tuple[tuple[str, Kind, str, str], ...]] = (
    ("live", "daily", "Live record", "one verdict a day on every coin, written down before its outcome was known"),
    ("backtested", "daily", "Backtested record", "the same rules, recomputed for every past day from closed bars"),
    ("live", "asked", "What somebody asked for", "who asks chooses when, so these stand apart"),
)


class ScorecardPage:
    """Shows the scorecard.

    Args:
        dependencies: Whom it asks.
    """

    def __init__(self, dependencies: PageDependencies) -> None:
        self._dependencies = dependencies

    async def show(self, _segment: str, _query: Mapping[str, str]) -> HtmlPage:
        """Show it."""
        return await self._dependencies.cache.page("scorecard", self._make)

    async def _make(self) -> HtmlPage:
        scorecards = self._dependencies.scorecards
        counted = {"live": scorecards.live(), "backtested": scorecards.backtested()}
        withdrawals = [(look, withdrawal(look, scorecards.skills())) for look in earned()]
        return self._dependencies.templates.page(
            "scorecard.html",
            records=[(title, about, _figures(counted[of], kind)) for of, kind, title, about in _RECORDS],
            looks=[look for look in MEASURED.looks if look.ruleset == CURRENT.label.version and look.target in TARGETS],
            earned=[look for look, withdrawn in withdrawals if withdrawn is None],
            withdrawn=[withdrawn for _, withdrawn in withdrawals if withdrawn is not None],
            measured=MEASURED,
            least=LEAST_DAYS,
            flat=FLAT_PCT,
        )


def _figures(counted: tuple[Scorecard, OutcomeStatistics] | None, kind: Kind) -> list[tuple[Label, int, Figures]]:
    """One row a verdict and horizon; none where there is no outcome."""
    if counted is None:
        return []
    rows = [(label, days, counted[1].figures(label, days, kind)) for label in LABELS for days in HORIZONS]
    return rows if any(found.outcomes for _, _, found in rows) else []
