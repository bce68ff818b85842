"""Which narratives there are, and their measures, recomputed here by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.clock import DAY_MS, HOUR_MS, iso
from service.narratives.aggregation import NarrativeItem, Surface, find_narratives
from service.wire.sentiment import AttentionState, Surfaces

NOW_MS = 1_753_444_800_000


def item(source: str, hours: float, score: float, *names: str, coins: tuple[str, ...] = ()) -> NarrativeItem:
    surface: Surface = "podcast" if source.startswith("pod") else "video" if source.startswith("tube") else "news"
    return NarrativeItem(source, surface, NOW_MS - int(hours * HOUR_MS), score, names, coins)


@pytest.mark.promise("narratives.definition")
def test_a_narrative_needs_two_sources_within_seven_days() -> None:
    items = [
        item("a", 1, 0.5, "AI", "Meme"), item("pod", 2, 1.0, "AI"),
        item("a", 3, 0.1, "Meme"), item("b", 7 * 24, 0.1, "Meme"),
        item("b", -1, 0.1, "Meme"),
    ]  # fmt: skip
    assert [each.row.name for each in find_narratives(items, {}, NOW_MS).narratives] == ["AI"]


@pytest.mark.promise("narratives.definition", "narratives.payload")
def test_the_measures_of_a_narrative() -> None:
    items = [
        item("a", 12, 0.5, "AI", coins=("FET", "TAO")),
        item("b", 24, -0.25, "AI", coins=("FET",)),
        item("pod", 96, 1.0, "AI"),
        item("a", 180, 0.75, "AI", coins=("OLD",)),
    ]
    (found,) = find_narratives(items, {"AI": "euphoria"}, NOW_MS).narratives
    assert found.row.name == "AI"
    assert found.row.stance == "euphoria"
    assert found.row.score == round((0.5 - 0.25 + 1) / 3, 4)
    assert found.row.freshness_score == round((math.sqrt(0.5) + 0.5 + 0.0625) / 3, 4)
    assert (found.row.mentions, found.sources, found.row.coins) == (3, 3, "FET, TAO")
    assert (found.row.first_seen, found.row.last_seen) == (iso(NOW_MS - 4 * DAY_MS), iso(NOW_MS - DAY_MS // 2))
    before = (-0.25 + 1 + 0.75) / 3
    assert found.slope_24h == round((0.5 - 0.25 + 1) / 3 - before, 4)


def test_without_items_a_day_before_there_is_no_slope_and_without_a_stance_it_is_neutral() -> None:
    (found,) = find_narratives([item("a", 1, 0.5, "AI"), item("b", 2, 0.5, "AI")], {}, NOW_MS).narratives
    assert found.slope_24h is None
    assert found.row.stance == "neutral"
    assert found.row.coins == ""


@pytest.mark.promise("narratives.order", "narratives.payload")
def test_narratives_come_most_mentioned_first_and_an_item_of_two_counts_once_for_the_surfaces() -> None:
    items = [
        item("a", 1, 0, "Meme", "AI"), item("tube", 1, 0, "Meme", "AI"), item("pod", 1, 0, "Meme", "Solo"),
    ]  # fmt: skip
    found = find_narratives(items, {}, NOW_MS)
    assert [(each.row.name, each.row.mentions) for each in found.narratives] == [("Meme", 3), ("AI", 2)]
    assert found.surfaces == Surfaces(news=1, podcasts=1, videos=1)
    assert found.freshness_score == round(0.5 ** (1 / 24), 4)


@pytest.mark.promise("narratives.attention")
@pytest.mark.parametrize(
    ("newer", "older", "state"),
    [(3, 2, "rising"), (2, 0, "rising"), (2, 3, "fading"), (4, 3, "steady"), (3, 4, "steady")],
)
def test_attention_compares_the_two_halves_of_the_week(newer: int, older: int, state: str) -> None:
    items = [item(f"s{place}", 83.9, 0, "AI") for place in range(newer)]
    items += [item(f"s{place}", 84, 0, "AI") for place in range(older)]
    counts = {"rising": 0, "steady": 0, "fading": 0, state: 1}
    assert find_narratives(items, {}, NOW_MS).attention == AttentionState(**counts)


@pytest.mark.promise("narratives.empty")
def test_no_items_give_an_empty_snapshot() -> None:
    found = find_narratives([], {}, NOW_MS)
    assert (list(found.narratives), found.freshness_score, found.surfaces) == ([], None, Surfaces(0, 0, 0))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "pod"]), st.floats(0, 9 * 24), st.floats(-1, 1), st.sampled_from(["AI", "Meme"])
        ),
        max_size=30,
    )
)
def test_scores_and_freshness_stay_in_their_ranges(made: list[tuple[str, float, float, str]]) -> None:
    found = find_narratives([item(*one) for one in made], {}, NOW_MS)
    for each in found.narratives:
        assert -1 <= each.row.score <= 1
        assert 0 <= each.row.freshness_score <= 1
        assert each.newer + each.older == each.row.mentions
    assert sum([found.attention.rising, found.attention.steady, found.attention.fading]) == len(found.narratives)
