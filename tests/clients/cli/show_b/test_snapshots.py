"""How every answer of these rooms is shown: read at both widths, kept, and safe whatever the service writes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from service.clients.cli.screen import Screen
from service.clients.cli.show import (
    billing_tier,
    coins,
    manifest,
    receipts_get,
    receipts_list,
    regime,
    rwa_assets,
    rwa_symbol,
    scorecard,
    signal_quality,
    transcripts,
    walkforward,
    wallets,
)
from tests.clients.cli.recorded import answer, hostile, steering
from tests.clients.cli.show_b.paid import RECEIPTS, SIGNED
from tests.clients.cli.snapshots import check

Show = Callable[[Any, Any, Screen, Mapping[str, object]], Iterator[str]]

SHOWN: dict[str, tuple[Show, str]] = {
    "regime.active": (regime.lines, "active"),
    "regime.signals": (regime.lines, "signals"),
    "regime.confidence": (regime.lines, "confidence"),
    "regime.history": (regime.lines, "history"),
    "walkforward.signals": (walkforward.lines, "signals"),
    "walkforward.positions": (walkforward.lines, "positions"),
    "walkforward.outcomes": (walkforward.lines, "outcomes"),
    "coins": (coins.lines, ""),
    "signal.quality": (signal_quality.lines, ""),
    "signal.quality.verdict": (signal_quality.lines, ""),
    "scorecard": (scorecard.lines, ""),
    "rwa.symbol": (rwa_symbol.lines, ""),
    "rwa.assets": (rwa_assets.lines, ""),
    "transcripts.highlights": (transcripts.lines, "highlights"),
    "transcripts.sources": (transcripts.lines, "sources"),
    "wallets.watchlist": (wallets.lines, "watchlist"),
    "wallets.movements": (wallets.lines, "movements"),
    "manifest": (manifest.lines, ""),
    "billing.tier": (billing_tier.lines, ""),
    "receipts.list": (receipts_list.lines, ""),
    "receipts.get": (receipts_get.lines, ""),
}


def given(name: str) -> tuple[Any, Any]:
    bare = {"receipts.list": RECEIPTS, "receipts.get": SIGNED}
    return (bare[name], {}) if name in bare else answer({"scorecard": "signal.quality.verdict"}.get(name, name))


@pytest.mark.parametrize("name", SHOWN)
def test_an_answer_is_shown_as_it_was_read_and_kept(name: str) -> None:
    lines, action = SHOWN[name]
    data, meta = given(name)
    check(name, lambda screen: lines(data, meta, screen, {"action": action}))


@pytest.mark.parametrize("name", SHOWN)
def test_no_text_of_a_service_steers_the_terminal(name: str) -> None:
    lines, action = SHOWN[name]
    data, meta = given(name)
    harmless = {"price_usdc": "0.05", "amount": "1.5"}  # what is counted with is no text

    def hurt(found: Any) -> Any:
        if isinstance(found, dict):
            return {key: harmless[key] if key in harmless else hurt(value) for key, value in found.items()}
        return [hurt(entry) for entry in found] if isinstance(found, list) else hostile(found)

    assert steering(lines(hurt(data), hurt(meta), Screen(80, colour=False), {"action": action})) == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_narrowest_screen_shows_it_too(name: str) -> None:
    lines, action = SHOWN[name]
    data, meta = given(name)
    assert list(lines(data, meta, Screen(20, colour=False), {"action": action}))
