"""`verdict signal-quality --asset BTC`: the record of one strategy, or of verdicts, on one coin."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.clients.cli.figures import UNKNOWN, change, day, footer, share
from service.clients.cli.prose import facts, flow, heading
from service.clients.cli.screen import Cell, Part, Screen, Style
from service.clients.cli.show.scorecard import of_coin

_TIERS: Final[Mapping[str, tuple[str, Style]]] = {
    "INSUFFICIENT_DATA": ("insufficient data", "warn"),
    "PRELIMINARY": ("preliminary", "warn"),
    "VALIDATED": ("validated", "good"),
}


def lines(data: Any, meta: Any, screen: Screen, _chosen: Mapping[str, object]) -> Iterator[str]:
    """Tier, message, and the figures behind them."""
    tier, style = _TIERS.get(data["reliability_tier"], (data["reliability_tier"], "warn"))
    yield from heading(screen, [Cell(data["asset"], "strong"), Cell(data["signal_type"], "strong"), Cell(tier, style)])
    yield ""
    yield from flow(screen, [data["message"]])
    yield ""
    if "record" in data:
        yield from of_coin(data, screen)
    elif data["validations"]["sampleSize"]:
        yield from facts(screen, _figures(data["validations"]))
        yield ""
    yield from footer(screen, meta)


def _figures(found: Any) -> Iterator[tuple[str, list[Part]]]:
    tested = f"closed from {day(found['firstDay'])} to {day(found['lastDay'])}, out of sample"
    yield "Trades", [Cell(f"{found['sampleSize']:,}", "strong"), tested]
    yield "Won", [Cell(share(found["winRate"]), "strong")]
    yield "Mean of a trade", [change(found["meanReturnPct"]), "after costs and funding"]
    yield "Sharpe of a trade", [UNKNOWN if found["sharpe"] is None else f"{found['sharpe']:.3f}"]
    if found["deflatedSharpe"] is None:
        return
    luck = f"that the true Sharpe ratio is above the best that {found['trials']} trials show by luck"
    yield "P(Sharpe > luck)", [Cell(f"{found['deflatedSharpe']:.3f}", "strong"), luck]
