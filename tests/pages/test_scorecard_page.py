"""The page of the scorecard."""

from functools import partial

import pytest
from msgspec.structs import replace

from service.pages import scorecard
from service.verdict.claims import earned
from service.verdict.measured import MEASURED, IsotonicModel
from service.verdict.scorecard import DaySpread, LiveSkill, OutcomeCell
from tests.pages.stage import Stage
from tests.verdict.scorecards import card, cell
from tests.verdict.test_claims import planted


async def test_before_any_outcome_it_says_so() -> None:
    text = await Stage().text("/scorecard")
    assert text.count("No outcome yet.") == 3
    assert "stayed within 2 %, 3.5 % or 5 %." in text


async def test_it_begins_with_what_a_reader_should_conclude() -> None:
    text = await Stage().text("/scorecard")
    assert "Verdicts describe. They have not been shown to predict." in text
    assert "Do not expect a price to rise because a verdict is bullish." in text


@pytest.mark.promise("record.two")
async def test_the_live_and_the_backtested_record_stand_apart_each_by_verdict_and_horizon() -> None:
    """Of 400 bull verdicts 240 rose; with 400 bear ones, of which 80 rose, 320 of 800 did.

    In the backtest all ten of a day rose on 30 days and none on 30 others: 2.001 standard errors of 6.455 %.
    """
    live = card(
        cell(400, ups=240), cell(400, ups=80, verdict="bear"), OutcomeCell("asked", 1, "", "bull", 9, 5, 4, 1, 3.0)
    )
    backtest = replace(card(cell(600, ups=300)), spreads=[DaySpread("daily", 1, "bull", 60, 3000, 3000, 6000)])
    text = await Stage(live, backtest).text("/scorecard")
    first, second, asked = text.index("Live record"), text.index("Backtested record"), text.index("What somebody asked")
    assert first < text.index("bull 1 100 400 60.0 % days all alike 40.0 % +1.40 %") < second
    assert first < text.index("bear 1 100 400 80.0 % days all alike 60.0 % -0.20 %") < second
    assert second < text.index("bull 1 60 600 50.0 % 37.1 to 62.9 % 50.0 % +1.00 %") < asked
    assert "strong bull 1 0 0 not enough days yet" in text


async def test_records_made_of_recorded_data_say_so() -> None:
    assert (await Stage().text("/scorecard")).count("made from recorded data") == 3
    assert "made from recorded data" not in await Stage(source="live").text("/scorecard")


async def test_skill_is_shown_with_intervals_and_reliability_diagrams() -> None:
    page, text = await Stage().page("/scorecard"), await Stage().text("/scorecard")
    looks = [look for look in MEASURED.looks if look.ruleset == 2 and look.target == "rises"]
    assert page.body.count(b"<svg") >= 3
    assert page.body.count(b'<circle class="dot"') == sum(len(look.bins) for look in looks)
    assert f"corrected for all {MEASURED.trials} trials" in text
    for look in looks:
        assert f"rises {look.days} {look.days_seen} {100 * look.base_rate:.1f} %" in text


@pytest.mark.promise("claims.withdrawn")
async def test_a_claim_that_was_earned_is_named_and_one_that_is_withdrawn_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scorecard, "earned", partial(earned, planted(IsotonicModel([0.0], [0.7]))))
    live = card(cell(60, ups=30), days=60)
    text = await Stage(live).text("/scorecard")
    assert "Some claims have shown skill." in text
    assert "A probability is published for rises after 1 day; for nothing else." in text
    assert "Withdrawn" not in text
    text = await Stage(replace(live, skills=[LiveSkill("rises", 1, 72, -0.031, -0.004)])).text("/scorecard")
    assert "Verdicts describe. They have not been shown to predict. No probability is published." in text
    assert (
        "Withdrawn, because the base rate was better on live days: rises after 1 day (skill -3.10 % on 72 "
        "days, at most -0.40 %)."
    ) in text
