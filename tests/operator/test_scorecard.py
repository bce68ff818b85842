"""What `verdict scorecard` shows of ledgers that are empty, young and old."""

import asyncio
import random
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.clients.cli.refusal import RefusalError
from service.clock import DAY_MS
from service.operator.scorecard import show
from service.storage.database import open_database
from service.verdict.ledger import HORIZONS, Head, Ledger
from service.verdict.ruleset import VERSION_1, VERSION_2
from service.verdict.scoring import move_pct
from tests.fakes.clock import START_MS, FakeClock
from tests.operator.conftest import Told, Verdict
from tests.verdict.issuing import LEANS, ORIGIN, judged

Show = Callable[..., Told]
COINS = [f"C{place}" for place in range(25)]


def live_through(data_dir: Path, entries: int, asked: int = 0) -> Head:
    """Issue so many daily verdicts, 25 a day, and so many to somebody, one a day, and have all but the newest turn out.

    The first day's are of version 1 of the rules, which are not counted.
    """
    return asyncio.run(_live_through(data_dir, entries, asked))


async def _live_through(data_dir: Path, entries: int, asked: int) -> Head:
    chance = random.Random(entries)  # noqa: S311 - a made-up past
    async with open_database(data_dir / "verdict.db", FakeClock()) as database:
        ledger = Ledger(database)
        for day in range(-(-entries // len(COINS))):
            coins = COINS[: entries - day * len(COINS)]
            drawn = [(chance.choice([*LEANS]), chance.choice([0.0, 30.0, -15.0])) for _ in coins]
            rules = VERSION_2 if day else VERSION_1
            day_of = [judged(coin, 50.0, *leaning, rules) for coin, leaning in zip(coins, drawn, strict=True)]
            await ledger.issue_day(ORIGIN, day, day_of, START_MS + day * DAY_MS)
        for place in range(asked):
            await ledger.issue(ORIGIN, judged("BTC", 10.0 + place), START_MS + place * DAY_MS)
        await ledger.issue("another", judged("C"), START_MS)
        head = await ledger.issue(ORIGIN, judged("LAST", None), START_MS)
        rows = await database.read(
            "SELECT d.seq, d.days, l.price FROM verdict_due d JOIN verdict_ledger l USING (seq) "
            "WHERE d.origin = ? ORDER BY 1, 2",
            (ORIGIN,),
        )
        outcomes: list[tuple[object, ...]] = []
        for seq, days, entry in rows[: -len(HORIZONS)]:
            price = round(entry * (1 + chance.gauss(0, 4) / 100), 4)
            outcomes.append((1, seq, days, 1, price, move_pct(entry, price), None))
        outcomes += [(1, rows[-1][0], 7, None, None, None, "no such hour")] if rows else []
        await database.write(
            lambda connection: (
                connection.executemany(
                    "INSERT INTO verdict_outcomes (scored_ms, seq, days, price_ms, price, move_pct, void) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    outcomes,
                ).rowcount
            )
        )
        done = [(seq, days) for _, seq, days, *_ in outcomes]
        await database.write(
            lambda connection: (
                connection.executemany("DELETE FROM verdict_due WHERE seq = ? AND days = ?", done).rowcount
            )
        )
        return head


@pytest.fixture
def scorecard(verdict: Verdict, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> Show:
    verdict("keys", "create", "--name", "first")

    def typed(*, json: bool = False) -> Told:
        capsys.readouterr()
        return Told(show(Namespace(json=json), {"VERDICT_DATA_DIR": str(data_dir)}), *capsys.readouterr())

    return typed


def rows_of(told: Told, title: str) -> list[str]:
    """The rows of the table under a title."""
    lines = told.out.split(title)[1].splitlines()[3:]
    return lines[: lines.index("")]


def test_an_empty_ledger_says_when_there_will_be_something(scorecard: Show) -> None:
    told = scorecard()
    assert told.code == 0
    assert told.out.startswith("No verdict has been issued yet.")
    assert max(map(len, told.out.splitlines())) <= 80
    plain = scorecard(json=True).json
    assert plain["origin"] is None
    assert plain["ledger"] == {"entries": 0, "head": "0" * 64}
    assert plain["issued"] == {}
    assert {row["outcomes"] for row in plain["records"]} == {0}


def test_a_young_ledger_says_not_enough_yet_of_everything(scorecard: Show, data_dir: Path) -> None:
    live_through(data_dir, 37)
    told = scorecard()
    assert max(map(len, told.out.splitlines())) <= 80
    rows = rows_of(told, "DAILY")
    assert len(rows) == 15
    assert all(row.endswith("not enough yet") for row in rows)
    assert sum(int(row.split()[3]) for row in rows) == 33
    said = " ".join(told.out.split())
    assert "of verdicts by verdict-rules version 2. Coins move together, so days are what counts: 60 are needed" in said
    assert "37 daily (0 of them abstained), 2025-07-25 to 2025-07-26; 1 asked (1 of them abstained)" in said
    assert "Outcomes still to come: 2; without a price: 1. Of other histories: 1, not counted here." in said


def test_an_old_ledger_shows_figures_by_verdict_and_horizon_asked_ones_apart(scorecard: Show, data_dir: Path) -> None:
    head = live_through(data_dir, 1_600, asked=61)
    told = scorecard()
    assert max(map(len, told.out.splitlines())) <= 80
    assert "\x1b" not in told.out
    plain = scorecard(json=True).json
    assert plain["ledger"] == {"entries": head.entries, "head": head.hash}
    assert plain["issued"]["daily"]["entries"] == 1_600
    assert (plain["waiting"], plain["void"]) == (2, 1)
    for kind, title in (("daily", "DAILY"), ("asked", "ASKED")):
        records = [row for row in plain["records"] if row["kind"] == kind]
        assert rows_of(told, title) == [shown(row) for row in records]
        assert any(row["hit_rate"] is not None for row in records)
    assert sum(row["outcomes"] for row in plain["records"] if row["kind"] == "asked") == 180


def shown(row: dict[str, Any]) -> str:
    begun = f"{row['verdict']:<11}  {row['days']:>5}  {row['days_seen']:>4}  {row['outcomes']:>8}  "
    if row["days_seen"] < 60:
        assert row["hit_rate"] is row["base_rate"] is row["hit_rate_low"] is row["mean_move_pct"] is None
        return begun + f"{'not enough yet':>23}"
    interval = f"{row['hit_rate_low'] * 100:.1f} to {row['hit_rate_high'] * 100:.1f} %"
    rates = f"{row['hit_rate'] * 100:>4.1f} %  {interval:>15}  {row['base_rate'] * 100:>4.1f} %"
    return f"{begun}{rates}  {row['mean_move_pct']:>+7.2f} %"


def test_without_a_data_folder_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="there is no database"):
        show(Namespace(json=False), {"VERDICT_DATA_DIR": str(tmp_path / "nowhere")})
