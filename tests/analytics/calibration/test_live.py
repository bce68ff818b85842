"""Skill of published probabilities: there is none, and the reason is given, where it cannot be measured."""

import pytest

from service.analytics.calibration.live import Published, live_skill
from service.analytics.calibration.skill import Skill, Unmeasured


def lived(days: int, coins: int, *, rose: bool = False) -> list[Published]:
    return [
        Published(day, f"C{coin}", 1.0 if rose or (day + coin) % 3 else -1.0, 0.6)
        for day in range(days)
        for coin in range(coins)
    ]


@pytest.mark.parametrize(("days", "coins", "counted"), [(1, 20, 1), (59, 20, 59), (60, 19, 0), (2, 20, 2), (100, 1, 0)])
def test_too_few_days_or_coins_have_no_skill(days: int, coins: int, counted: int) -> None:
    found = live_skill(lived(days, coins), 0.5, "rises", 1)
    assert found == Unmeasured(f"{counted} days with 20 coins are fewer than 60")


def test_without_probabilities_there_is_no_skill() -> None:
    assert live_skill([], 0.5, "rises", 1) == Unmeasured("nothing was published")


def test_a_base_rate_that_is_never_wrong_cannot_be_beaten() -> None:
    found = live_skill(lived(60, 20, rose=True), 1.0, "rises", 1)
    assert found == Unmeasured("the reference was exactly right on all days of a sample")


@pytest.mark.parametrize("base_rate", [0.3, 0.5, 2 / 3])
def test_sixty_days_have_the_skill_of_their_brier_scores(base_rate: float) -> None:
    rows = lived(60, 20)
    found = live_skill(rows, base_rate, "rises", 1)
    assert not isinstance(found, Unmeasured)
    days, skill = found
    own, base = (sum((said - (one.move > 0)) ** 2 for one in rows) for said in (0.6, base_rate))
    assert isinstance(skill, Skill)
    assert days == 60
    assert skill.value == pytest.approx(1 - own / base, rel=1e-9, abs=1e-12)
