"""Whatever a service answers is read on a narrow terminal too: only what is to be copied whole runs out of it."""

import json
from collections.abc import Iterator

import pytest

from service.cli.calling import view_of
from service.cli.commands import CatalogueRow, load
from service.cli.terminal import Display, cells
from tests.cli.recorded import ANSWERS

_VIEWS = {
    **{name: name.replace(".", "_") for name in ("coin.risk", "coin.historical", "signal", "rwa.assets", "rwa.symbol")},
    **{name: name.replace(".", "_") for name in ("category.info", "category.sentiment", "market.crossing", "manifest")},
    **{name: name.replace(".", "_") for name in ("billing.tier", "funding.alerts", "signal.quality")},
    **{f"regime.{action}": "regime" for action in ("active", "signals", "confidence", "history")},
    **{f"walkforward.{action}": "walkforward" for action in ("signals", "positions", "outcomes")},
    **{f"transcripts.{action}": "transcripts" for action in ("highlights", "sources")},
    **{f"wallets.{action}": "wallets" for action in ("watchlist", "movements")},
    "coin.lookup": "coin_lookup",
    "coin.by-contract": "coin_lookup",
    "resolve": "resolve",
    "market.prices": "market_prices",
    "market.baselines": "market_prices",
    "market.global": "market_global",
    "market.health.context": "market_health",
    "signal.quality.verdict": "scorecard",
}
_OFFERS = {"market.health.context": "market.health", "signal.quality.verdict": "signal.quality"}
_COPIED = ("0x", "https://", "--cursor")


def shown(name: str, width: int) -> Iterator[str]:
    document = json.loads((ANSWERS / f"{name}.json").read_text())
    view = load(view_of(CatalogueRow("", "", "", _OFFERS.get(name, name), "", (), view=_VIEWS[name])))
    lines: Iterator[str] = view(
        document["data"], document["meta"], Display(width, colour=False), {"action": name.rpartition(".")[2]}
    )
    return lines


@pytest.mark.parametrize("width", [40, 60])
@pytest.mark.parametrize("name", _VIEWS)
def test_no_line_runs_out_of_a_narrow_terminal(name: str, width: int) -> None:
    over = [line for line in shown(name, width) if cells(line) > width]
    assert [line for line in over if not any(mark in line for mark in _COPIED)] == []


def test_no_figure_is_cut_on_a_narrow_terminal() -> None:
    text = "\n".join(shown("regime.active", 40))
    position = json.loads((ANSWERS / "regime.active.json").read_text())["data"]["positions"][0]
    assert f"FROM   {position['entryPrice']:,}".rstrip("0") in text
    assert "…" not in text
