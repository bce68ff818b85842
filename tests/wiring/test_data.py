"""What readiness on a recording waits for."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.market.loading import LoadProgress
from service.scheduler import Leadership
from service.wiring.data import DataServices

HALF, DONE, NONE = LoadProgress(1, 2), LoadProgress(2, 2), LoadProgress(0, 0)


def desk(*, tried: bool) -> Any:
    return SimpleNamespace(tried=SimpleNamespace(is_set=lambda: tried))


def loading(
    rwa: LoadProgress,
    *,
    rwa_is_ready: bool,
    categories_fail: bool,
    contracts: LoadProgress = DONE,
    leads: bool = False,
    wallets_tried: bool = False,
) -> Any:
    """The readiness of data whose history is half loaded, and whose categories are not begun."""
    data = SimpleNamespace(
        market=SimpleNamespace(
            load_progress=lambda: {"history": HALF, "categories": NONE},
            categories=SimpleNamespace(readiness=lambda: {"failing": categories_fail}),
        ),
        rwa=SimpleNamespace(load_progress=lambda: rwa, readiness=lambda: {"ready": rwa_is_ready}),
        lead=Leadership(lambda: leads),
        sentiment=SimpleNamespace(categories=lambda: 0),
        lookup=SimpleNamespace(filling=lambda: contracts),
        transcripts=desk(tried=True),
        wallets=desk(tried=wallets_tried),
    )
    return DataServices._loading(cast(DataServices, data))


@pytest.mark.parametrize(
    ("rwa", "rwa_is_ready", "named"),
    [
        (NONE, False, {"real-world assets": "not begun"}),
        (HALF, True, {"real-world assets": "1 of 2 coins"}),
        (DONE, True, {}),
        (NONE, True, {}),
    ],
)
def test_assets_are_waited_for_unless_the_recording_has_none(
    rwa: LoadProgress, rwa_is_ready: bool, named: dict[str, str]
) -> None:
    found = loading(rwa, rwa_is_ready=rwa_is_ready, categories_fail=True)
    assert found == {"ready": rwa.known > 0 or rwa_is_ready, "history": "1 of 2 coins"} | named


def test_categories_that_an_upstream_refuses_are_not_waited_for() -> None:
    assert loading(DONE, rwa_is_ready=True, categories_fail=True)["ready"]
    waiting = loading(DONE, rwa_is_ready=True, categories_fail=False)
    assert (waiting["ready"], waiting["categories"], waiting["sentiment"]) == (False, "not begun", "not begun")


def test_contracts_and_totals_are_waited_for() -> None:
    found = loading(DONE, rwa_is_ready=True, categories_fail=True, contracts=LoadProgress(0, 1, "tables"))
    assert (found["ready"], found["contracts and totals"]) == (False, "0 of 1 tables")


@pytest.mark.parametrize(
    ("leads", "wallets_tried", "named"),
    [(True, False, {"wallets": "0 of 1 rounds"}), (True, True, {}), (False, False, {})],
)
def test_the_process_that_fetches_waits_until_transcripts_and_wallets_were_asked_for(
    leads: bool, wallets_tried: bool, named: dict[str, str]
) -> None:
    found = loading(DONE, rwa_is_ready=True, categories_fail=True, leads=leads, wallets_tried=wallets_tried)
    assert found == {"ready": not named, "history": "1 of 2 coins"} | named
