"""The published rules, one hand-made case for each and for each of their edges."""

from collections.abc import Mapping

import pytest

from service.sentiment.stance import NewsTone, Trading, crowd, judge

CASES = [
    # score, slope, 24 h, 7 d, funding, volume, Fear & Greed -> stance
    ("no price", {"score": 0.9, "funding_apr": 80.0, "fear_greed": 90}, "neutral"),
    ("nothing at all", {}, "neutral"),
    ("a rise that turned today", {"change_7d": 15.0, "change_24h": -0.1}, "exhaustion"),
    ("a rise whose news turned", {"change_7d": 20.0, "change_24h": 1.0, "score": 0.1, "slope_24h": -0.2}, "exhaustion"),
    ("a fall that turned today", {"change_7d": -15.0, "change_24h": 0.1}, "exhaustion"),
    (
        "a fall whose news turned",
        {"change_7d": -20.0, "change_24h": -1.0, "score": 0.0, "slope_24h": 0.2},
        "exhaustion",
    ),
    ("greed", {"change_7d": 15.0, "change_24h": 2.0, "score": 0.15, "funding_apr": 40.0}, "euphoria"),
    ("greed within a day", {"change_24h": 8.0, "score": 0.35, "fear_greed": 75}, "euphoria"),
    ("greed by half", {"change_24h": 8.0, "score": 0.35, "fear_greed": 74}, "neutral"),
    ("despair", {"change_7d": -15.0, "change_24h": -3.0, "score": -0.15, "fear_greed": 25}, "capitulation"),
    ("despair within a day", {"change_24h": -8.0, "funding_apr": -20.0}, "capitulation"),
    ("a fall with calm", {"change_24h": -8.0, "funding_apr": 10.95}, "neutral"),
    ("an eager crowd", {"change_7d": 2.0, "change_24h": 0.5, "funding_apr": 40.0}, "distribution"),
    ("an eager crowd that is right", {"change_7d": 2.1, "change_24h": 0.5, "funding_apr": 40.0}, "neutral"),
    ("good news, falling price", {"change_7d": -6.0, "score": 0.4}, "distribution"),
    ("fear, and the price holds", {"change_7d": -2.0, "change_24h": -1.0, "score": -0.35}, "accumulation"),
    ("fear, and the price gives", {"change_7d": -2.1, "change_24h": -1.0, "score": -0.35}, "neutral"),
    ("fear within a day", {"change_24h": 0.0, "funding_apr": -25.0}, "accumulation"),
    ("a quiet fall", {"change_7d": -5.0, "change_24h": -1.0, "volume_ratio": 1.2}, "distribution"),
    ("a quiet fall, nobody trades", {"change_7d": -5.0, "change_24h": -1.0, "volume_ratio": 1.1}, "neutral"),
    ("a fall, some are alarmed", {"change_7d": -5.0, "volume_ratio": 2.0, "fear_greed": 20}, "neutral"),
    ("a quiet rise", {"change_7d": 5.0, "change_24h": 1.0, "volume_ratio": 1.5}, "accumulation"),
    ("a rise, some are excited", {"change_7d": 5.0, "volume_ratio": 1.5, "funding_apr": 20.0}, "neutral"),
    ("a steep fall of today is no quiet one", {"change_7d": -5.0, "change_24h": -9.0, "volume_ratio": 3.0}, "neutral"),
    ("a steep rise of today is no quiet one", {"change_7d": 5.0, "change_24h": 9.0, "volume_ratio": 3.0}, "neutral"),
    ("an ordinary day", {"change_7d": 1.0, "change_24h": 0.2, "funding_apr": 10.95, "fear_greed": 50}, "neutral"),
]


def split(given: Mapping[str, float]) -> tuple[NewsTone, Trading, int | None]:
    news = NewsTone(given.get("score"), given.get("slope_24h"), 4 if "score" in given else 0)
    trading = Trading(
        change_24h=given.get("change_24h"),
        change_7d=given.get("change_7d"),
        funding_apr=given.get("funding_apr"),
        volume_ratio=given.get("volume_ratio"),
    )
    index = given.get("fear_greed")
    return news, trading, None if index is None else int(index)


@pytest.mark.promise("category.stances")
@pytest.mark.parametrize(("given", "stance"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_stance_follows_from_the_published_rules(given: Mapping[str, float], stance: str) -> None:
    assert judge(*split(given)).stance == stance
    assert judge(*split(given)) == judge(*split(given))


@pytest.mark.parametrize(
    ("given", "points"),
    [
        ({"score": 0.149}, 0), ({"score": 0.15}, 1), ({"score": 0.35}, 2), ({"score": -0.15}, -1),
        ({"score": -0.35}, -2), ({"funding_apr": 10.95}, 0), ({"funding_apr": 20.0}, 1), ({"funding_apr": 40.0}, 2),
        ({"funding_apr": -0.1}, -1), ({"funding_apr": -20.0}, -2), ({"fear_greed": 75}, 1), ({"fear_greed": 25}, -1),
        ({"fear_greed": 50}, 0), ({"score": 1.0, "funding_apr": 99.0, "fear_greed": 99}, 5), ({}, 0),
    ],
)  # fmt: skip
def test_the_crowds_points_are_the_published_ones(given: Mapping[str, float], points: int) -> None:
    assert crowd(*split(given)) == points


def test_a_summary_is_one_sentence_with_every_figure_it_rests_on() -> None:
    judgement = judge(NewsTone(0.42, 0.1, 5), Trading("Solana", 9.0, 16.24, 41.0, 1.3, 0), 78)
    assert judgement.summary == (
        "Euphoria: a steep rise, and the crowd pays to be part of it (news +0.42 from 5 items in 7 days, price +9.0 % "
        "in 24 h, price +16.2 % in 7 days, funding +41.0 % a year, volume 1.3 times the usual, Fear & Greed 78)."
    )
    assert judge(NewsTone(-0.2, None, 1), Trading(), None).summary == (
        "Neutral: no price to set it against (news -0.20 from 1 item in 7 days)."
    )


def test_a_fall_that_rounds_to_nothing_is_not_told_as_less_than_nothing() -> None:
    assert "price +0.0 % in 24 h" in judge(NewsTone(), Trading(change_24h=-0.04), None).summary


def test_a_summary_says_that_nothing_was_written() -> None:
    assert judge(NewsTone(), Trading(change_24h=1.0), None).summary == (
        "Neutral: crowd and price do not disagree (no news in 7 days, price +1.0 % in 24 h)."
    )
