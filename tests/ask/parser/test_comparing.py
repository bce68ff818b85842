"""Places of a ranking, categories against each other, ratios of measures, sums, and what most coins do."""

import pytest

from service.ask import query as q
from tests.ask.parser import reading as r


def _places(measure: str | q.Measure, first: int, last: int, subject: q.Subject = r.ALL) -> q.Query:
    operation = q.Rank("most", last - first + 1, first - 1)
    return q.Query(subject=subject, measures=r.rank(measure, 1).measures, operation=operation)


_PLACED: r.Rows = {
    "second biggest gainer in 30 days?": _places(r.change(r.MONTH), 2, 2),
    "who is the third largest by market cap": _places("market_cap", 3, 3),
    "coins ranked 4 to 8 by open interest": _places("open_interest", 4, 8),
    "open interest league table, positions 4 through 8 only": _places("open_interest", 4, 8),
    "2nd and 3rd by volume": _places("volume", 2, 3),
    "which L1 is the runner up by 7 day return": _places(r.change(r.WEEK), 2, 2, r.L1S),
    "top 5 by volume in places 6 to 10": _places("volume", 6, 10),
    "biggest market caps, the first ten": r.rank("market_cap", 10),
    "rank 5 L1s by volume": r.rank("volume", 5, subject=r.L1S),
    "top 3 L1s by volume | next 5 please": _places("volume", 4, 8, r.L1S),
    "highest funding right now? | besides that one, who is next": _places("funding", 2, 2),
    "top 5 by volume | the second?": _places("volume", 2, 2),
    "top 5 by volume | only three": r.rank("volume", 3),
    "where does SOL rank by volume | who is second?": _places("volume", 2, 2),
    "ranked on 24h volume, who takes places two, three and four": (r.rank("volume", 10), _places("volume", 2, 4)),
}


@pytest.mark.parametrize(("question", "queries"), r.table(_PLACED))
def test_places_of_a_ranking_are_skipped_or_told(question: str, queries: tuple[q.Query, ...]) -> None:
    r.assert_reads(question, queries)


@pytest.mark.parametrize(
    "question",
    [
        "2nd and 4th by volume",
        "top 3 by volume in places 6 to 10",
        "the second of BTC, ETH and SOL by volume",
        "volume of SOL | who is second?",
        "next",
    ],
)
def test_a_place_that_no_ranking_takes_is_refused(question: str) -> None:
    assert r.read(question).refusal is not None
