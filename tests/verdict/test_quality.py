"""The record of verdicts as `signal-quality` answers it."""

from functools import partial

import pytest
from msgspec.structs import replace

from service.errors import ServiceError
from service.verdict import quality, service
from service.verdict.claims import claims, earned
from service.verdict.measured import IsotonicModel
from service.verdict.scorecard import LiveSkill, OutcomeCell
from service.wire.envelope import Answer
from service.wire.quality import VerdictQuality
from service.wire.queries import SignalQuery
from tests.fakes.clock import START_MS
from tests.verdict.knowing import ORIGIN, World, read
from tests.verdict.scorecards import card, cell
from tests.verdict.test_claims import planted

PLANTED = planted(IsotonicModel([0.0], [0.7]))
WITHDRAWN = LiveSkill("rises", 1, 72, -0.031, -0.004)


def told(answer: Answer) -> VerdictQuality:
    assert isinstance(answer.data, VerdictQuality)
    return answer.data


@pytest.mark.promise("record.http", "quality.verdicts")
async def test_before_any_outcome_the_record_is_empty_and_costs_nothing(world: World) -> None:
    answer = await world.desk.quality("btc")
    found = told(answer)
    assert (answer.counted, answer.as_of_ms) == (False, START_MS)
    assert (found.asset, found.signal_type, found.confidence) == ("BTC", "verdict", None)
    assert (found.reliability_tier, found.validations.sampleSize, found.validations.winRate) == (
        "INSUFFICIENT_DATA",
        0,
        None,
    )
    assert found.message == (
        "Too few live verdicts on BTC to judge: 0 called a rise or a fall and have an outcome, and 60 are needed."
    )
    assert (found.record.ruleset, found.record.days_needed, found.record.entries) == (2, 60, 0)
    assert (found.record.backtested, found.record.live.all_coins, found.record.live.void) == (None, [], 0)


@pytest.mark.promise("record.http", "quality.verdicts")
async def test_both_records_are_told_apart_of_all_coins_of_this_one_and_of_what_was_asked(world: World) -> None:
    await world.signal("BTC")
    asked = OutcomeCell("asked", 7, "", "neutral", 3, 1, 2, 2, 0.5)
    live = card(
        cell(60, ups=40),
        cell(60, ups=30, symbol="ETH"),
        cell(10, ups=2, verdict="bear"),
        cell(5, ups=2, verdict="neutral"),
        asked,
        days=60,
    )
    await world.scorecard.put(ORIGIN, replace(live, void=4), START_MS - 5)
    await world.backtest.put(ORIGIN, card(cell(300, ups=120), days=300), START_MS - 9)
    answer = await world.desk.quality("BTC")
    found, head = told(answer), await world.ledger.head()
    assert (answer.counted, answer.as_of_ms) == (True, START_MS - 5)
    assert (found.record.entries, found.record.head) == (1, head.hash)
    rows = {(row.verdict, row.days): row for row in found.record.live.all_coins}
    assert list(rows) == [("bull", 1), ("neutral", 1), ("bear", 1)]
    bull = rows["bull", 1]
    assert (bull.days_seen, bull.outcomes, bull.hit_rate) == (60, 120, 0.5833)
    assert bull.base_rate == pytest.approx((40 + 30 + 2 + 2) / 135, abs=5e-5)
    assert [(row.verdict, row.outcomes) for row in found.record.live.this_coin] == [
        ("bull", 60),
        ("neutral", 5),
        ("bear", 10),
    ]
    assert [(row.verdict, row.days, row.outcomes) for row in found.record.live.asked] == [("neutral", 7, 3)]
    assert found.record.live.void == 4
    assert found.record.backtested is not None
    (row,) = found.record.backtested.all_coins
    assert (row.days_seen, row.outcomes, row.hit_rate) == (300, 300, 0.4)
    # 40 of 60 bullish verdicts and 8 of 10 bearish ones on this coin were right; the neutral ones called no side.
    assert (found.validations.sampleSize, found.validations.wins, found.validations.winRate) == (70, 48, 0.6857)
    assert found.reliability_tier == "PRELIMINARY"
    assert found.message == (
        "48 of 70 live verdicts on BTC that called a rise or a fall were right a day later; no probability has shown "
        "skill."
    )


@pytest.mark.promise("quality.verdicts", "claims.withdrawn")
async def test_verdicts_are_validated_while_a_probability_of_theirs_is_published(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "earned", partial(earned, PLANTED))
    await world.scorecard.put(ORIGIN, card(cell(60, ups=40)), START_MS)
    found = told(await world.desk.quality("BTC"))
    assert found.reliability_tier == "VALIDATED"
    assert found.message.endswith("probabilities are published for rises a day later.")
    await world.scorecard.put(ORIGIN, replace(card(cell(60, ups=40)), skills=[WITHDRAWN]), START_MS)
    assert told(await world.desk.quality("BTC")).reliability_tier == "PRELIMINARY"


@pytest.mark.promise("claims.withdrawn")
async def test_an_answer_that_is_held_loses_its_probability_once_the_live_record_withdraws_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "claims", partial(claims, measured=PLANTED))
    first = read(await world.desk.signal(SignalQuery("BTC"))).claims
    assert first is not None
    assert first[0].probability == 0.7
    await world.scorecard.put(ORIGIN, replace(card(), skills=[WITHDRAWN]), START_MS)
    for signal in (await world.desk.signal(SignalQuery("BTC")), await world.new_desk().signal(SignalQuery("BTC"))):
        held = read(signal).claims
        assert held is not None
        assert held[0].probability is None
        assert held[0].reason == (
            "Withdrawn: on 72 live days the probability was worse than the base rate. Its skill was -3.1 %, at most "
            "-0.4 % (95 %)."
        )
    world.origin = "another"
    world.refresh()
    elsewhere = read(await world.new_desk().signal(SignalQuery("BTC"))).claims
    assert elsewhere is not None
    assert elsewhere[0].probability == 0.7, "the live record of another history says nothing of this one"


@pytest.mark.promise("quality.asset")
async def test_a_record_of_verdicts_on_an_unknown_coin_is_refused_with_candidates(world: World) -> None:
    with pytest.raises(ServiceError) as refused:
        await world.desk.quality("BTCC")
    assert (refused.value.code, refused.value.details) == ("UNKNOWN_SYMBOL", {"candidates": ["BTC"]})
