"""A verdict: that it adds up, what it rests on, and what became of others."""

from typing import Any

import msgspec

from service.cli.show import verdicts
from service.cli.terminal import Display
from service.wire.verdict import Signal
from tests.cli.recorded import answer
from tests.cli.snapshots import check

PLAIN = Display(80, colour=False)


def verdict(**changed: Any) -> tuple[Any, Any]:
    data, meta = answer("signal")
    data |= changed
    msgspec.convert(data, Signal)
    return data, meta


def test_the_column_of_what_counts_adds_up_to_the_score() -> None:
    for name in ("signal", "signal.btc"):
        data, meta = answer(name)
        shown = list(verdicts.signal(data, meta, PLAIN, {}))
        start = next(place for place, line in enumerate(shown) if line.startswith("RULE"))
        end = shown[start].index("COUNTS") + len("COUNTS")
        *rules, total = [float(line[end - 6 : end]) for line in shown[start + 1 : start + 9]]
        assert (len(rules), sum(rules)) == (7, total)
        assert total == data["score"]


def test_a_narrow_screen_does_without_the_bound_and_the_bar() -> None:
    shown = list(verdicts.signal(*answer("signal.btc"), Display(60, colour=False), {}))
    assert "RULE                    FINDS      FLIPS AT  COUNTS" in shown
    assert "daily trend                UP          HODL   +0.50" in shown


def test_a_score_that_is_not_the_sum_of_its_rules_is_called_out() -> None:
    data, meta = verdict(score=2.0)
    shown = list(verdicts.signal(data, meta, PLAIN, {}))
    assert "This does not add up: the rules count +1.50 together." in shown
    assert not [line for line in verdicts.signal(*answer("signal"), PLAIN, {}) if "add up" in line]


def test_a_verdict_without_enough_evidence_says_what_is_wanting() -> None:
    data, meta = answer("signal")
    data |= {
        "verdict": "insufficient-evidence",
        "score": 0.0,
        "confidence": "low",
        "evidence": ["Funding on SOL is not known.", "There is not enough evidence for a verdict."],
        "sources": {"risk": "rejected", "funding": "rejected", "regime": "stale", "sentiment": "fulfilled"},
        "rules": [{**data["rules"][4], "value": None, "threshold": None, "contribution": 0.0, "evidence": 0}],
    }
    data["raw"]["risk"] = None
    data, meta = verdict(**data)
    check("signal.insufficient", lambda screen: verdicts.signal(data, meta, screen, {}))


def test_the_record_of_such_verdicts_is_a_table_once_there_is_one() -> None:
    data, meta = answer("signal")
    record = data["record"]
    record["entries"] = 12_345
    known = {
        "days_seen": 180,
        "outcomes": 1_240,
        "hit_rate": 0.5831,
        "hit_rate_low": 0.5312,
        "hit_rate_high": 0.635,
        "base_rate": 0.5122,
        "mean_move_pct": 0.84,
    }
    record["live"]["all_coins"][0] |= known
    record["live"]["all_coins"][1] |= known | {"hit_rate": 0.4, "base_rate": None, "mean_move_pct": None}
    record["live"]["this_coin"][2] |= known | {"days_seen": 61, "hit_rate": 0.5, "mean_move_pct": -2.1}
    data, meta = verdict(**data)
    check("signal.record", lambda screen: verdicts.signal(data, meta, screen, {}))


def test_days_that_are_all_alike_have_no_interval() -> None:
    data, meta = answer("signal")
    found = {"days_seen": 61, "outcomes": 61, "hit_rate": 1.0, "base_rate": 0.5, "mean_move_pct": 0.8}
    data["record"]["live"]["all_coins"][0] |= found | {"hit_rate_low": None, "hit_rate_high": None}
    data, meta = verdict(**data)
    shown = "\n".join(verdicts.signal(data, meta, PLAIN, {}))
    assert shown.count("days all alike") == 1


def test_before_there_is_a_record_the_one_that_is_nearest_says_how_near() -> None:
    data, meta = answer("signal")
    data["record"]["backtested"] = None
    data["record"]["live"]["this_coin"][1] |= {"days_seen": 7, "says": "Seven days are known."}
    shown = list(verdicts.signal(data, meta, PLAIN, {}))
    assert "Seven days are known." in shown


def test_a_probability_that_was_earned_is_shown_beside_its_base_rate() -> None:
    data, meta = answer("signal")
    data["claims"][2] |= {"probability": 0.5612, "base_rate": 0.4967, "reason": None}
    shown = list(verdicts.signal(data, meta, PLAIN, {}))
    assert "  The price is higher after 3 days: 56 %, base rate 50 %." in shown


def test_a_verdict_of_the_past_does_not_tell_its_future() -> None:
    data, meta = verdict(claims=None, record=None)
    check("signal.past", lambda screen: verdicts.signal(data, meta, screen, {"as_of": "2025-07-01T12:00:00Z"}))


def test_a_rule_that_is_not_known_here_is_shown_by_its_id() -> None:
    data, meta = answer("signal")
    data["rules"][0] |= {"id": "open-interest", "value": 1_250.5, "threshold": 1_000.0, "flips_at": None}
    data, meta = verdict(**data)
    shown = [line.split() for line in verdicts.signal(data, meta, PLAIN, {})]
    assert ["open-interest", "1,250.5", "1,000", "-", "0.00"] in shown
