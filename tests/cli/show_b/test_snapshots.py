"""How every answer of these rooms is shown: read at both widths, kept, and safe whatever the service writes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from service.cli.show import account, coin, market, regime, rwa, transcripts, verdicts, walkforward, wallets
from service.cli.terminal import Display
from tests.cli.recorded import answer, hostile, steering
from tests.cli.show_b.paid import RECEIPTS, SIGNED
from tests.cli.snapshots import check

Show = Callable[[Any, Any, Display, Mapping[str, object]], Iterator[str]]

SHOWN: dict[str, tuple[Show, str]] = {
    "regime.active": (regime.regime, "active"),
    "regime.signals": (regime.regime, "signals"),
    "regime.confidence": (regime.regime, "confidence"),
    "regime.history": (regime.regime, "history"),
    "walkforward.signals": (walkforward.walkforward, "signals"),
    "walkforward.positions": (walkforward.walkforward, "positions"),
    "walkforward.outcomes": (walkforward.walkforward, "outcomes"),
    "coins": (coin.coins, ""),
    "signal.quality": (verdicts.signal_quality, ""),
    "signal.quality.verdict": (verdicts.signal_quality, ""),
    "scorecard": (verdicts.scorecard, ""),
    "coin.lookup": (coin.coin_lookup, ""),
    "coin.by-contract": (coin.coin_lookup, ""),
    "resolve": (coin.resolve, ""),
    "market.prices": (market.market_prices, ""),
    "market.baselines": (market.market_prices, ""),
    "market.global": (market.market_global, ""),
    "rwa.symbol": (rwa.rwa_symbol, ""),
    "rwa.assets": (rwa.rwa_assets, ""),
    "transcripts.highlights": (transcripts.transcripts, "highlights"),
    "transcripts.sources": (transcripts.transcripts, "sources"),
    "wallets.watchlist": (wallets.wallets, "watchlist"),
    "wallets.movements": (wallets.wallets, "movements"),
    "manifest": (account.manifest, ""),
    "billing.tier": (account.billing_tier, ""),
    "receipts.list": (account.receipts_list, ""),
    "receipts.get": (account.receipts_get, ""),
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

    assert steering(lines(hurt(data), hurt(meta), Display(80, colour=False), {"action": action})) == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_narrowest_screen_shows_it_too(name: str) -> None:
    lines, action = SHOWN[name]
    data, meta = given(name)
    assert list(lines(data, meta, Display(20, colour=False), {"action": action}))
