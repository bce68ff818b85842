"""From items to moods."""

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.sentiment.aggregation import ScoredItem, conclude, weigh
from service.sentiment.stance import NewsTone, Trading

NOW_MS = 1_753_444_800_000


def item(
    score: float,
    age_ms: int = 0,
    coins: tuple[str, ...] = ("SOL",),
    named: tuple[str, ...] = (),
    source: str = "coindesk",
) -> ScoredItem:
    at_ms = NOW_MS - age_ms
    return ScoredItem(f"{score}/{age_ms}/{coins}/{source}", source, "", "", at_ms, score, coins, named, at_ms)


@pytest.mark.parametrize(
    ("items", "score"),
    [
        ([item(0.8)], 0.4),
        ([item(0.8, DAY_MS)], 0.8 * 0.5 / 1.5),
        ([item(0.8), item(0.8)], 0.8 * 2 / 3),
        ([item(0.9), item(-0.9)], 0.0),
        ([item(1.0), item(-0.5, 2 * DAY_MS)], (1.0 - 0.125) / 2.25),
    ],
)
def test_a_score_weighs_items_by_age_and_against_silence(items: list[ScoredItem], score: float) -> None:
    assert weigh(items, NOW_MS).score == pytest.approx(score, abs=5e-5)


def test_items_of_the_last_seven_days_count() -> None:
    week = [item(0.5, 7 * DAY_MS), item(0.5, 7 * DAY_MS - 1), item(0.5, 0), item(0.5, -1)]
    assert weigh(week, NOW_MS).mentions == 2


def test_nothing_written_is_null() -> None:
    assert weigh([], NOW_MS) == weigh([item(0.5, 8 * DAY_MS)], NOW_MS) == NewsTone(None, None, 0)


def test_the_slope_is_the_change_since_a_day_before() -> None:
    items = [item(0.6, 30 * HOUR_MS), item(-0.6, HOUR_MS)]
    before = 0.6 * 0.5 ** (6 / 24) / (0.5 ** (6 / 24) + 1)
    now = weigh(items, NOW_MS)
    assert now.score is not None
    assert now.slope_24h == pytest.approx(now.score - before, abs=1e-4)
    assert weigh([item(0.6, HOUR_MS)], NOW_MS).slope_24h is None


def test_scores_are_rounded_to_four_decimals_and_zero_has_no_sign() -> None:
    assert weigh([item(1 / 3)], NOW_MS).score == 0.1667
    assert str(weigh([item(-0.00001)], NOW_MS).score) == "0.0"


TAPE = {
    "SOL": Trading("Solana", 1.0, 20.0, 45.0, 1.0, NOW_MS),
    "JUP": Trading("Jupiter", 3.0, 16.0, 41.0, 1.0, NOW_MS),
    "GAS": Trading("Gas"),
}


def test_every_coin_of_the_tape_has_a_mood_and_no_other() -> None:
    coins, _ = conclude([item(0.9), item(0.9, coins=("GONE",))], TAPE, {}, 50, NOW_MS)
    assert list(coins) == ["SOL", "JUP", "GAS"]
    assert (coins["SOL"].stance, coins["SOL"].score) == ("euphoria", 0.45)
    assert (coins["GAS"].stance, coins["GAS"].score) == ("neutral", None)


@pytest.mark.promise("category.sentiment-payload")
def test_a_category_is_what_is_written_about_its_coins_or_names_it_and_how_they_trade_in_the_middle() -> None:
    items = [
        item(0.9, HOUR_MS, ("SOL", "JUP")),
        item(0.6, 2 * HOUR_MS, (), ("Solana Ecosystem",), "cointelegraph"),
        item(0.6, 3 * HOUR_MS, ("JUP",), ("Solana Ecosystem",)),
        item(-1.0, HOUR_MS, ("GAS",), ("Layer 1",)),
        item(-1.0, 9 * DAY_MS, ("SOL",), source="old"),
    ]
    _, categories = conclude(items, TAPE, {"Solana Ecosystem": ("JUP", "SOL", "UNLISTED")}, 50, NOW_MS)
    found = categories["Solana Ecosystem"]
    weights = [0.5 ** (hours / 24) for hours in (1, 2, 3)]
    expected = sum(w * s for w, s in zip(weights, (0.9, 0.6, 0.6), strict=True)) / (sum(weights) + 1)
    assert found.name == "Solana Ecosystem"
    assert found.score == pytest.approx(expected, abs=5e-5)
    assert (found.stance, found.slope_24h, found.mentions) == ("euphoria", None, 3)
    assert found.provenance.sources == ["coindesk", "cointelegraph"]
    assert [(coin.symbol, coin.stance) for coin in found.coins] == [("JUP", "euphoria"), ("SOL", "euphoria")]
    assert found.provenance.newest_at == "2025-07-25T11:00:00.000Z"
    assert "price +2.0 % in 24 h, price +18.0 % in 7 days, funding +43.0 % a year" in found.summary


def test_a_category_nobody_writes_about_says_so() -> None:
    _, categories = conclude([], TAPE, {"Gas": ("GAS",), "Empty": ()}, None, NOW_MS)
    quiet = categories["Gas"]
    assert (quiet.score, quiet.slope_24h, quiet.mentions, quiet.provenance.sources, quiet.provenance.newest_at) == (
        None,
        None,
        0,
        [],
        None,
    )
    assert (quiet.stance, quiet.summary) == ("neutral", "Neutral: no price to set it against (no news in 7 days).")
    assert categories["Empty"].coins == []
