"""At random instants of a replayed day, every surface tells the same change of the same coin over the same span."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from tests.golden.asking import Request, ask
from tests.golden.idle import ManualClock, run
from tests.golden.start import Running, few_coins, service

_START_MS: Final = 1_753_228_800_000
"""2025-07-23T00:00:00Z. The day ends with a midnight, so days of both sides of it are passed."""

_DAY_S: Final = 30 * 3_600
_INSTANTS: Final = 200
_TRADED: Final = ("BTC", "ETH", "SOL", "DOGE", "kPEPE")
_SPANS: Final = {"1h": (1, "h"), "24h": (24, "h"), "7d": (7, "d"), "30d": (30, "d")}


@pytest.mark.gate
@pytest.mark.slow
@pytest.mark.timeout(300)  # one service, a day of it
@pytest.mark.promise("coins.changes", "coins.agree")
def test_every_surface_tells_the_same_change_at_random_instants_of_a_day(tmp_path: Path) -> None:
    async def work(clock: ManualClock) -> None:
        fixtures = few_coins(tmp_path / "fixtures", _TRADED)
        async with service(tmp_path / "data", clock, fixtures_dir=str(fixtures)) as running:
            await clock.advance(60)
            surfaces = Surfaces(running, {"pro": await running.key("reader", "pro")})
            random = Random(200)  # noqa: S311 - the same instants in every run
            told = 0
            for second in sorted(random.sample(range(60_000, _DAY_S * 1_000), _INSTANTS)):
                await clock.jump((_START_MS + second - clock.now_ms()) / 1_000)
                told += await surfaces.agree(random.choice(("BTC", "ETH", "SOL", "PEPE")), random.choice((*_SPANS,)))
            assert told >= _INSTANTS * 0.9, "nearly all changes are known"

    run(work, _START_MS, frozen=False)


class Surfaces:
    """What a running service tells of changes.

    Args:
        running: The service.
        tokens: Of a caller without a limit.
    """

    def __init__(self, running: Running, tokens: dict[str, str]) -> None:
        self._running = running
        self._tokens = tokens

    async def agree(self, coin: str, span: str) -> bool:
        """Compare all surfaces for a coin and a span; whether the change is known."""
        row = next(row for row in (await self._data("coins?limit=1000"))["coins"] if row["symbol"] == coin)
        change, price = row[f"change_{span}"], row["price"]
        count, unit = _SPANS[span]
        history = await self._data(f"coin/historical/{coin}?count={count}&unit={unit}")
        assert history["change_pct"] == change, (coin, span)
        accepted = {one: at for one, at in row["changes_from"].items() if one == span}
        assert history["at"]["as_of"] == row["changes_from"].get(span)
        if span == "24h":
            found = await self._data(f"coin/lookup?symbol={coin}")
            assert (found["coin"]["change_24h_pct"], found["changes_from"]) == (change, accepted)
            listed = (await self._data("category/info/Layer%201%20(L1)"))["coins"]
            told = [(one["change_24h"], one["changes_from"]) for one in listed if one["symbol"] == coin]
            assert told in ([(change, accepted)], [])
        if span in {"24h", "7d"}:
            past = await self._data(f"market/prices?symbols={coin}&baselines=1")
            (before,) = past["baselines"].values()
            assert before[f"b{span}"] == history["at"]["priceUSD"]
            (when,) = past["changes_from"].values()
            assert when.get(span) == accepted.get(span)
        if change is None:
            return False
        assert change == round((price / history["at"]["priceUSD"] - 1) * 100, 4) + 0.0
        shown = f"{abs(change):.2f} %"
        asked = f"How much has {coin} changed over {count} {'hours' if unit == 'h' else 'days'}?"
        body = json.dumps({"messages": [{"role": "user", "content": asked}], "archetype": "base"})
        answer = (await self._ask("POST", "/api/cli", body)).decode()
        assert shown in answer, (coin, span, shown, answer)
        page = (await self._ask("GET", f"/coin/{coin}")).decode()
        if span == "24h":
            assert shown in _text(page), (coin, shown)
        return True

    async def _data(self, path: str) -> Any:
        return json.loads(await self._ask("GET", f"/api/cli/{path}"))["data"]

    async def _ask(self, method: str, target: str, body: str = "") -> bytes:
        page = (("accept", "text/html"),)
        headers = (("content-type", "application/json"), ("accept", "application/json")) if body else page
        reply = await ask(self._running, Request("pro", method, target, body, headers), self._tokens)
        assert reply.status == 200, (target, reply.status, reply.body)
        return reply.body


def _text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))
