import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.grants import ActiveTier, TierGrant, active_tier

NOW = 1_000

granted = st.builds(
    TierGrant,
    st.sampled_from(["access", "pro"]),
    st.sampled_from(["grant", "wallet"]),
    st.none() | st.integers(NOW - 5, NOW + 5),
)


@pytest.mark.promise("tiers.source")
def test_without_a_grant_the_tier_is_free_and_has_no_end() -> None:
    assert active_tier([], NOW) == ActiveTier("free", "default", None)


def test_the_higher_tier_wins_over_the_longer_one() -> None:
    assert active_tier([TierGrant("access", "grant", None), TierGrant("pro", "wallet", NOW + 1)], NOW) == ActiveTier(
        "pro", "wallet", NOW + 1
    )


def test_of_equal_tiers_the_one_that_lasts_longest_wins() -> None:
    grants = [TierGrant("pro", "grant", NOW + 1), TierGrant("pro", "wallet", None), TierGrant("pro", "grant", NOW + 9)]
    assert active_tier(grants, NOW) == ActiveTier("pro", "wallet", None)


@pytest.mark.promise("tiers.source")
def test_of_equal_grants_the_users_own_is_named() -> None:
    grants = [TierGrant("pro", "wallet", NOW + 1), TierGrant("pro", "grant", NOW + 1)]
    assert active_tier(grants, NOW).source == "grant"


def test_a_grant_ends_to_the_millisecond() -> None:
    grant = TierGrant("access", "grant", NOW)
    assert active_tier([grant], NOW - 1).tier == "access"
    assert active_tier([grant], NOW).tier == "free"


@given(st.lists(granted, max_size=6), granted)
def test_another_grant_never_makes_it_worse_and_order_never_matters(grants: list[TierGrant], more: TierGrant) -> None:
    rank = ["free", "access", "pro"].index
    assert rank(active_tier([*grants, more], NOW).tier) >= rank(active_tier(grants, NOW).tier)
    assert active_tier([*grants, more], NOW) == active_tier([more, *reversed(grants)], NOW)


@given(st.lists(granted, max_size=6))
def test_the_tier_holds_until_the_end_that_is_named(grants: list[TierGrant]) -> None:
    found = active_tier(grants, NOW)
    if found.ends_ms is not None:
        assert active_tier(grants, found.ends_ms - 1) == found
        assert active_tier(grants, found.ends_ms) != found
