import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.grants import Entitled, Granted, resolve

NOW = 1_000

granted = st.builds(
    Granted,
    st.sampled_from(["access", "pro"]),
    st.sampled_from(["grant", "wallet"]),
    st.none() | st.integers(NOW - 5, NOW + 5),
)


@pytest.mark.promise("tiers.source")
def test_without_a_grant_the_tier_is_free_and_has_no_end() -> None:
    assert resolve([], NOW) == Entitled("free", "default", None)


def test_the_higher_tier_wins_over_the_longer_one() -> None:
    assert resolve([Granted("access", "grant", None), Granted("pro", "wallet", NOW + 1)], NOW) == Entitled(
        "pro", "wallet", NOW + 1
    )


def test_of_equal_tiers_the_one_that_lasts_longest_wins() -> None:
    grants = [Granted("pro", "grant", NOW + 1), Granted("pro", "wallet", None), Granted("pro", "grant", NOW + 9)]
    assert resolve(grants, NOW) == Entitled("pro", "wallet", None)


@pytest.mark.promise("tiers.source")
def test_of_equal_grants_the_users_own_is_named() -> None:
    grants = [Granted("pro", "wallet", NOW + 1), Granted("pro", "grant", NOW + 1)]
    assert resolve(grants, NOW).source == "grant"


def test_a_grant_ends_to_the_millisecond() -> None:
    grant = Granted("access", "grant", NOW)
    assert resolve([grant], NOW - 1).tier == "access"
    assert resolve([grant], NOW).tier == "free"


@given(st.lists(granted, max_size=6), granted)
def test_another_grant_never_makes_it_worse_and_order_never_matters(grants: list[Granted], more: Granted) -> None:
    rank = ["free", "access", "pro"].index
    assert rank(resolve([*grants, more], NOW).tier) >= rank(resolve(grants, NOW).tier)
    assert resolve([*grants, more], NOW) == resolve([more, *reversed(grants)], NOW)


@given(st.lists(granted, max_size=6))
def test_the_tier_holds_until_the_end_that_is_named(grants: list[Granted]) -> None:
    found = resolve(grants, NOW)
    if found.ends_ms is not None:
        assert resolve(grants, found.ends_ms - 1) == found
        assert resolve(grants, found.ends_ms) != found
