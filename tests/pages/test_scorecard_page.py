"""The page of the scorecard."""

from service.pages.record import Record
from service.verdict.scorecard import Bin, Cell, Scorecard
from tests.pages.stage import Stage


async def test_before_any_outcome_it_says_so() -> None:
    text = await Stage().text("/scorecard")
    assert "No verdict is old enough to be scored." in text
    assert text.count("No outcome yet.") == 2
    assert text.count("No verdict with an outcome claimed a probability.") == 1
    assert "stayed within 2.0 %, 3.5 %, 5.0 %" in text


async def test_outcomes_are_told_by_verdict_and_horizon() -> None:
    """30 bull verdicts a day later: 18 rose; with 30 bear ones, of which 6 rose, 24 of 60 did."""
    card = Scorecard(
        [
            Cell("daily", 1, "BTC", "bull", 30, 18, 12, 9, 15.0, 7.2, 30),
            Cell("daily", 1, "BTC", "bear", 30, 6, 24, 3, -30.0, 0.0, 0),
        ],
        [Bin("daily", 1, 11, 30, 18, 16.5), Bin("daily", 1, 8, 29, 6, 12.0)],
    )
    page = await Stage(card).page("/scorecard")
    text = await Stage(card).text("/scorecard")
    assert "60 outcomes, good and bad." in text
    assert "bull 1 30 60.0 % 40.0 % 0.240 +0.50 %" in text
    assert "bear 1 30 80.0 % 60.0 % _ -1.00 %" in text
    assert "strong bull 1 0 not enough yet" in text
    assert "55 % to 60 % 60.0 % 30" in text
    assert "40 % to 45 % _ 29" in text
    assert page.body.count(b'<circle class="dot" cx="55.0" cy="40.0"') == page.body.count(b"<circle") == 1


def test_outcomes_are_summed_up_once_while_they_stay_the_same() -> None:
    kept = [Scorecard([Cell("daily", 1, "BTC", "bull", 30, 18, 12, 9, 15.0, 7.2)], [])]
    record = Record(lambda: kept[0])
    scorecard, pools = record.now()
    assert scorecard is kept[0]
    assert record.now()[1] is pools
    kept[0] = Scorecard([], [])
    assert record.now()[1].figures("bull", 1).outcomes == 0
    assert pools.figures("bull", 1).outcomes == 30
