"""`verdict admin walkforward`: over the data folder, over recordings, and what it prints."""

import asyncio
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.clock import SystemClock, day_of
from service.storage.database import DATABASE, open_database
from service.walkforward import engine
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.records import WalkforwardRun
from service.walkforward.store import RunStore
from service.wire.walkforward import Strategy
from tests.admin.conftest import Admin
from tests.cli.commanding import typed
from tests.walkforward.histories import hold_history, wander
from tests.walkforward.runs import TODAY, made, position, summary


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three days of two coins as the venue writes them."""
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "candles-1d").mkdir()
    for coin in ("BTC", "ETH"):
        rows = [
            {"t": bar.open_ms, "s": coin, "i": "1d", "o": bar.open, "h": bar.high, "l": bar.low, "c": bar.close,
             "v": bar.volume, "n": 0}
            for bar in wander(coin, range(TODAY - 3, TODAY))
        ]  # fmt: skip
        (folder / "candles-1d" / f"{coin}.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode()))
    return str(folder)


def brings(monkeypatch: pytest.MonkeyPatch, refused: Strategy | None = None) -> list[WalkforwardRequest]:
    """Have the engine bring a run, and note what it is asked."""
    asked: list[WalkforwardRequest] = []

    def ran(request: WalkforwardRequest, report: Callable[[int, int], None]) -> WalkforwardRun:
        asked.append(request)
        report(0, 0)
        for done in (0, 1, 3, 4, 5, 400):
            report(done, 400)
        return made(told=summary(refused=refused), positions=[position(0)])

    monkeypatch.setattr(engine, "run_walkforward", ran)
    return asked


def test_what_a_run_brought_is_printed_in_eighty_columns_beside_doing_nothing(
    admin: Admin, recordings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    brings(monkeypatch, refused="funding-reversion")
    told = admin("walkforward --recordings", recordings)
    lines = told.out.splitlines()
    assert (told.code, told.err) == (0, "")
    assert max(len(line) for line in lines if recordings not in line) <= 80
    assert lines[0].startswith(f"Out of sample from {summary().firstDay} to {summary().lastDay}: 3 anchored folds")
    no, wide = ["refused"], lines[4].index("3")
    assert lines[3].split() == ["ALL", "THREE", "TREND", "MOMENTUM", "FUNDING", "HOLDING"]
    assert {
        line[: wide - 8].strip(): line[wide - 8 :].replace(" %", "%").replace(" x", "x").split() for line in lines[4:15]
    } == {
        "trades": [*["3"] * 3, *no],
        "won": [*["66.7%"] * 3, *no],
        "mean of a trade": [*["+1.50%"] * 3, *no],
        "return": [*["+4.50%"] * 3, *no, "-8.25%"],
        "Sharpe, annualised": [*["0.500"] * 3, *no, "-"],
        "P(Sharpe > 0)": [*["0.700"] * 3, *no],
        "P(Sharpe > luck)": [*["0.100"] * 3, *no],
        "deepest drawdown": [*["12.3%"] * 3, *no, "60.0%"],
        "exposure": [*["50.0%"] * 3, *no],
        "turnover a year": [*["30.0x"] * 3, *no],
        "funding recorded": [*["25.0%"] * 3, *no],
    }
    assert {"Leakage gate: 1 of 1 checks held.", "Sign-flip surrogates.", "No embargo."} <= set(lines)
    text = " ".join(lines)
    assert "fees of 4.5 and slippage of 1 to 150 basis points a fill, by the coin's volume" in text
    assert "Not published: funding-reversion (sign-flip-surrogates: it earned on chance)." in text
    assert "the best that 162 trials would show by luck" in text
    assert f"Run 0123456789abcdef, read from {recordings}. Nothing was stored." in text


def test_too_short_a_history_is_said_and_is_no_failure(admin: Admin, recordings: str) -> None:
    told = admin("walkforward --recordings", recordings)
    assert told.code == 0
    assert "3 days are recorded" in told.out
    assert "Nothing was stored." in told.out


def test_json_holds_the_figures_the_findings_and_the_folds_but_not_the_records(
    admin: Admin, recordings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = brings(monkeypatch)
    told = admin("walkforward --json --scheme rolling --recordings", recordings).json
    figures = told["run_id"], told["summary"]["total"], told["summary"]["buyAndHold"]["sharpe"]
    assert figures == ("0123456789abcdef", 3, None)
    assert told["records"] == {"signals": 0, "positions": 1, "outcomes": 0}
    assert (told["findings"][0]["check"], told["folds"][0]["trials"]) == ("fills", 9)
    assert not {"signals", "positions", "outcomes"} & told.keys()
    assert asked[0].parameters == Parameters(scheme="rolling")
    assert [history.coin for history in asked[0].histories] == ["BTC", "ETH"]
    assert day_of(asked[0].now_ms) == day_of(SystemClock().now_ms())


@pytest.mark.parametrize(
    ("kind", "terminal", "shown"),
    [
        ("xterm", True, ["", *(f"Walking forward: {done} %" for done in (0, 1, 100)), ""]),
        ("dumb", True, [""]),
        ("xterm", False, [""]),
    ],
)
def test_each_per_cent_is_told_once_on_a_terminal_that_can_clear_the_line_and_nowhere_else(
    recordings: str, monkeypatch: pytest.MonkeyPatch, kind: str, terminal: bool, shown: list[str]
) -> None:
    brings(monkeypatch)
    line = ("admin", "walkforward", "--recordings", recordings)
    told = typed(*line, environment={"TERM": kind}, terminal=terminal)
    assert (told.code, told.err.split("\r\x1b[2K")) == (0, shown)
    assert "Walking forward" not in told.out


def test_bars_that_the_engine_refuses_are_named_and_no_progress_stays(
    recordings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> WalkforwardRun:
        raise ValueError("BTC has two bars of one day")

    monkeypatch.setattr(engine, "run_walkforward", refuse)
    told = typed("admin", "walkforward", "--recordings", recordings, terminal=True)
    assert (told.code, told.out) == (1, "")
    assert told.err == "\r\x1b[2Kverdict: The bars cannot be used: BTC has two bars of one day.\n"


def hold(folder: Path, *, history: bool = True, published: bool = True) -> None:
    """Make a data folder, with a history or without, published or not."""

    async def work() -> None:
        async with open_database(folder / DATABASE, SystemClock()) as database:
            if history:
                await hold_history(database, "live")
            if not published:
                await database.write(lambda connection: connection.execute("DELETE FROM documents").rowcount)

    folder.mkdir(mode=0o700)
    asyncio.run(work())


def test_the_published_days_of_all_coins_are_walked_and_the_run_is_kept(
    admin: Admin, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def kept() -> tuple[str, list[Any]]:
        async with open_database(data_dir / DATABASE, SystemClock()) as database:
            run = await RunStore(database).load(1, "live")
            assert run is not None
            return run.run_id, await database.read("SELECT count(*) FROM funding_days WHERE hours = 24")

    hold(data_dir)
    asked = brings(monkeypatch)
    told = admin("walkforward", source="live")
    assert "stored as run 1. The service shows its records from now on." in told.out.replace("\n", " ")
    (request,) = asked
    assert [history.coin for history in request.histories] == ["BTC", "ETH", "MATIC", "PEPE"]
    assert {history.bars[-1][0] for history in request.histories} == {TODAY - 1}
    assert all(history.funding for history in request.histories)
    assert asyncio.run(kept()) == ("0123456789abcdef", [(4,)])


@pytest.mark.parametrize("history", [True, False])
def test_a_data_folder_without_a_published_day_is_refused_with_what_to_do(
    admin: Admin, data_dir: Path, history: bool
) -> None:
    hold(data_dir, history=history, published=False)
    told = admin("walkforward", source="live")
    assert (told.code, "no published day yet. Let the service run" in told.err) == (1, True)
