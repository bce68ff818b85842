"""What became of verdicts, summed up once for as long as nothing is added to it."""

from collections.abc import Callable

from service.verdict.scorecard import Pools, Scorecard


class Record:
    """All scored outcomes.

    Args:
        scorecard: Gives them; the same object while they are the same.
    """

    def __init__(self, scorecard: Callable[[], Scorecard]) -> None:
        self._now = scorecard
        self._summed = Scorecard([], []), Pools()

    def now(self) -> tuple[Scorecard, Pools]:
        """The outcomes, and their sums: of a thousand coins those take some hundredths of a second."""
        scorecard = self._now()
        if self._summed[0] is not scorecard:
            self._summed = scorecard, Pools(scorecard.cells)
        return self._summed
