"""The page `/scorecard`: what became of all verdicts, and whether what was claimed came true as often as claimed."""

from collections.abc import Mapping

from service.pages.page import Page
from service.pages.rooms import Rooms
from service.verdict.ledger import HORIZONS, Kind
from service.verdict.scorecard import FLAT_PCT, LABELS, LEAST, Figures, Pools, Reliability, reliability
from service.wire.verdict import Label


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
        scorecard, pools = self._rooms.record.now()
        claims: dict[int, list[Reliability]] = {days: reliability(scorecard, days) for days in HORIZONS}
        return self._rooms.templates.page(
            "scorecard.html",
            kinds={kind: _figures(pools, kind) for kind in ("daily", "asked")},
            claims=claims,
            outcomes=sum(cell.outcomes for cell in scorecard.cells),
            least=LEAST,
            flat=FLAT_PCT,
        )


def _figures(pools: Pools, kind: Kind) -> list[tuple[Label, int, Figures]]:
    return [(label, days, pools.figures(label, days, kind)) for label in LABELS for days in HORIZONS]
