"""Days go by, and what verdicts claimed is held against what came: in the answers, in the ledger, by the command."""

import gzip
import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.clock import DAY_MS, HOUR_MS
from service.verdict import scorecard
from tests.fakes.handful import COINS
from tests.market.recordings import price_of_one
from tests.service.indoors import Indoors, Kept
from tests.service.verdicts import SYMBOLS, entries, is_sound, select

ENOUGH = 1
"""Days that figures take here; sixty would take two months."""

FLAT_PCT = 2.0
VENUE_SYMBOLS = dict(zip(SYMBOLS, COINS, strict=True))
_OUTCOMES = """
    SELECT l.kind, l.symbol, l.verdict, l.price, l.issued_ms, o.days, o.price_ms, o.price, o.move_pct
    FROM verdict_outcomes o JOIN verdict_ledger l USING (seq)
"""


class Claim(NamedTuple):
    """A daily verdict and what came of it a day later: what it said, and the move in percent."""

    symbol: str
    verdict: str
    move_pct: float


def true_of(verdict: str, move_pct: float) -> bool:
    """Whether what a verdict says is what a move a day later was."""
    if verdict == "neutral":
        return abs(move_pct) <= FLAT_PCT
    return move_pct > 0 if verdict.endswith("bull") else move_pct < 0


def opens(fixtures: Path, coin: str) -> dict[int, float]:
    """Recorded opens of hours, by when these began."""
    packed = json.loads(gzip.decompress((fixtures / "hyperliquid" / "candles-1h" / f"{coin}.json.gz").read_bytes()))
    return dict(zip(accumulate(packed["t"]), (price_of_one(coin, price) for price in packed["o"]), strict=True))


def scored(data_dir: Path, fixtures: Path) -> list[Claim]:
    """The outcomes, each recomputed from the recording; the daily ones."""
    recorded = {symbol: opens(fixtures, coin) for symbol, coin in VENUE_SYMBOLS.items()}
    claims = []
    for kind, symbol, verdict, entry, issued_ms, days, at_ms, price, move in select(data_dir, _OUTCOMES):
        assert (days, at_ms) == (1, (issued_ms + DAY_MS) // HOUR_MS * HOUR_MS + HOUR_MS)
        assert price == recorded[symbol][at_ms]
        assert move == pytest.approx((price / entry - 1) * 100, abs=5.1e-5)
        if kind == "daily":
            claims.append(Claim(symbol, verdict, move))
    return claims


def asked(data_dir: Path) -> list[Any]:
    """The outcomes of verdicts that somebody asked for."""
    return [row for row in select(data_dir, _OUTCOMES) if row[0] == "asked"]


def check_record(said: Any, claims: list[Claim]) -> None:
    """What an answer says of verdicts like it, counted once more: a day later, of all coins and of its own."""
    for told_of, pool in (
        ("all_coins", claims),
        ("this_coin", [claim for claim in claims if claim.symbol == said["symbol"]]),
    ):
        own = [claim for claim in pool if claim.verdict == said["verdict"]]
        assert len(own) >= ENOUGH
        record = said["record"]["live"][told_of][0]
        assert (record["days"], record["outcomes"]) == (1, len(own))
        assert record["hit_rate"] == share([true_of(said["verdict"], claim.move_pct) for claim in own])
        assert record["base_rate"] == share([true_of(said["verdict"], claim.move_pct) for claim in pool])
        assert record["mean_move_pct"] == share([claim.move_pct for claim in own])
        assert record["hit_rate_low"] <= record["hit_rate"] <= record["hit_rate_high"]
        assert f"of {len(own)} {said['verdict']} verdicts" in record["says"]
    assert [record["outcomes"] for record in said["record"]["live"]["all_coins"][1:]] == [0, 0]
    assert {claim["probability"] for claim in said["claims"]} == {None}


def share(values: Sequence[float]) -> Any:
    return pytest.approx(sum(values) / len(values), abs=5.1e-5)


async def next_day(house: Indoors) -> None:
    """Let a day pass at once, and then as much of it as loops need to see that."""
    house.clock.set_wall(house.clock.at_ms + DAY_MS)
    await house.pass_time(400, 20)


async def told(house: Indoors, key: str, coin: str = "BTC") -> Any:
    reply = await house.ask(f"/api/cli/signal/{coin}", key=key)
    assert reply.status == 200, reply
    return reply.json["data"]


async def recorded(house: Indoors, key: str) -> Any:
    """What `verdict scorecard` asks for: the record of all verdicts."""
    reply = await house.ask("/api/cli/signal-quality?asset=BTC&signal_type=verdict", key=key)
    assert reply.status == 200, reply
    return reply.json["data"]["record"]


@pytest.mark.slow
@pytest.mark.promise("signal.payload", "record.http")
async def test_after_three_days_what_became_of_the_first_is_in_every_answer_and_in_the_scorecard(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorecard, "LEAST_DAYS", ENOUGH)
    async with kept.reopened(tmp_path / "data") as house:
        first = await told(house, kept.key)
        assert [record["outcomes"] for record in first["record"]["live"]["all_coins"]] == [0, 0, 0]
        assert "Not enough yet" in first["record"]["live"]["all_coins"][0]["says"]
        for _ in range(3):
            await next_day(house)
        claims = scored(house.data_dir, kept.fixtures_dir)
        assert len(claims) == sum(
            entry.verdict != "insufficient-evidence"
            for entry in entries(house.data_dir)
            if entry.day is not None and entry.issued_ms < house.clock.at_ms - 2 * DAY_MS + HOUR_MS
        )
        last = await told(house, kept.key)
        check_record(last, claims)
        record = await recorded(house, kept.key)
        assert (record["entries"], record["head"]) == (last["record"]["entries"], last["record"]["head"])
        assert {row["days"] for row in record["live"]["all_coins"]} == {1}
        assert {row["verdict"]: row["outcomes"] for row in record["live"]["all_coins"]} == {
            verdict: sum(claim.verdict == verdict for claim in claims)
            for verdict in {claim.verdict for claim in claims}
        }
        assert sum(row["outcomes"] for row in record["live"]["asked"]) == len(asked(house.data_dir)), "told apart"
        assert sum(row["outcomes"] for row in record["live"]["this_coin"]) == sum(one.symbol == "BTC" for one in claims)
        assert is_sound(house.data_dir)
