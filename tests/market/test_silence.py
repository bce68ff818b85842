"""What is said while data is loading: what is missing, how far it is, when to ask again."""

import pytest

from service.errors import ServiceError
from service.market.filling import Filling
from service.market.silence import nothing_to_say


def said(what: str, filling: Filling | None = None) -> tuple[str, str]:
    with pytest.raises(ServiceError) as refused:
        nothing_to_say("hyperliquid", None, what, filling)
    assert refused.value.code == "UNAVAILABLE"
    return refused.value.message, refused.value.headers["Retry-After"]


@pytest.mark.promise("start.live-progress")
def test_progress_and_the_estimate_are_in_message_and_header() -> None:
    assert said("breadth", Filling(34, 80, remaining_s=19.2)) == (
        "Breadth is not available yet: history is loading (34 of 80 coins). Retry in 20 s.",
        "20",
    )


def test_what_is_nearly_there_is_worth_a_try_in_a_second() -> None:
    assert said("breadth crossings", Filling(80, 80, remaining_s=0.0))[1] == "1"


def test_without_an_estimate_a_few_seconds_are_named() -> None:
    assert said("regimes", Filling(3, 80)) == (
        "Regimes are not available yet: history is loading (3 of 80 coins). Retry in 5 s.",
        "5",
    )
    assert said("prices of BTC") == ("Prices of BTC are not available yet: data is loading. Retry in 5 s.", "5")


def test_before_anything_is_known_that_is_said() -> None:
    assert "(not begun)" in said("breadth", Filling(0, 0))[0]


@pytest.mark.parametrize(
    ("filling", "complete"), [(Filling(0, 0), False), (Filling(1, 2), False), (Filling(2, 2), True)]
)
def test_all_there_is_has_to_be_loaded(filling: Filling, complete: bool) -> None:
    assert filling.complete is complete
