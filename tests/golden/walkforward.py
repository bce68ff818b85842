"""The walk-forward over four coins: records of the strategies, their summary, the quality of signals."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.golden.answers import Answer
from tests.golden.asking import Request, record
from tests.golden.idle import ManualClock, run
from tests.golden.start import few_coins, service

_COINS: Final = ("BTC", "ETH", "DOGE", "kPEPE")
"""A run over seven coins takes twice as long."""

_TARGETS: Final = (
    "walkforward?limit=200",
    "walkforward?action=positions",
    "walkforward?action=outcomes&limit=200",
    *(f"walkforward?action={action}&symbol=DOGE" for action in ("signals", "positions", "outcomes")),
    "walkforward?symbol=MATIC",
    "walkforward?symbol=NOSUCH",
    *(
        f"signal-quality?asset={coin}&signal_type={kind}"
        for coin in ("BTC", "DOGE", "PEPE")
        for kind in ("mean_reversion", "trend-following", "funding-reversion", "cross-sectional-momentum", "verdict")
    ),
)


def record_walkforward(folder: Path) -> Mapping[str, Sequence[Answer]]:
    """Record the answers about one run."""

    async def work(clock: ManualClock) -> Sequence[Answer]:
        fixtures = str(few_coins(folder / "fixtures", _COINS))
        async with service(folder / "data", clock, walks=True, fixtures_dir=fixtures) as running:
            await clock.advance(60)
            tokens = {"pro": await running.key("pro", "pro")}
            routes = [Request("pro", "GET", f"/api/cli/{target}") for target in _TARGETS]
            return await record(running, [*routes, Request("", "GET", "/walk-forward")], tokens)

    return {"walkforward": run(work)}
