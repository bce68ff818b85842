"""The grade of inputs is the verdict and the score that `decide` gives to them."""

import pytest

from service.verdict.decide import decide, grade
from service.verdict.ruleset import VERSION_1, VERSION_2, RuleSet
from tests.verdict.knowledge import inputs


@pytest.mark.slow
@pytest.mark.parametrize("rules", [VERSION_1, VERSION_2], ids=["version 1", "version 2"])
def test_a_grade_is_the_verdict_and_the_score_of_the_same_inputs(rules: RuleSet) -> None:
    seen = set()
    for known in inputs(500):
        verdict = decide(known, rules)
        assert grade(known, rules) == (verdict.verdict, verdict.score)
        seen.add(verdict.verdict)
    assert {"bull", "bear", "neutral", "insufficient-evidence"} <= seen
