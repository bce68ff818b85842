"""`verdict admin walkforward`: over the data folder, over recordings, and what it prints."""

import asyncio
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import asdict

from service.__main__ import run
from service.client.errors import DONE
from service.clock import SystemClock, day_of
from service.storage.database import DATABASE, open_database
from service.walkforward import engine
from service.walkforward.parameters import Parameters, WalkforwardRequest
from service.walkforward.records import WalkforwardRun
from service.walkforward.store import RunStore
from tests.walkforward.histories import hold_history, wander
from tests.walkforward.runs import TODAY, made, position, summary

LIVE = "live"


def typed(*arguments: str, environment: dict[str, str] | None = None) -> int:
    return run(["admin", "walkforward", *arguments], environment or {})


def write_recordings(folder: Path, days: int = 3) -> None:
    """Rows of two coins as the venue writes them."""
    (folder / "candles-1d").mkdir(parents=True)
    for coin in ("BTC", "ETH"):
        rows = [
            {"t": bar.open_ms, "s": coin, "i": "1d", "o": bar.open, "h": bar.high, "l": bar.low, "c": bar.close,
             "v": bar.volume, "n": 0}
            for bar in wander(coin, range(TODAY - days, TODAY))
        ]  # fmt: skip
        (folder / "candles-1d" / f"{coin}.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_recordings(tmp_path / "recordings")
    return tmp_path / "recordings"


def brings(monkeypatch: pytest.MonkeyPatch, run: WalkforwardRun) -> list[WalkforwardRequest]:
    """Have the engine bring this, and note what it is asked."""
    asked: list[WalkforwardRequest] = []

    def ran(request: WalkforwardRequest, report: Callable[[int, int], None]) -> WalkforwardRun:
        asked.append(request)
        report(0, 0)
        for done in (0, 1, 3, 4, 5, 400):
            report(done, 400)
        return run

    monkeypatch.setattr(engine, "run_walkforward", ran)
    return asked


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, environment: dict[str, str] | None = None) -> str:
    """What a command that cannot be done says."""
    assert typed(*arguments, environment=environment) == 1
    return capsys.readouterr().err


def test_what_a_run_brought_is_printed_in_eighty_columns_beside_doing_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    brings(monkeypatch, made(told=summary(), positions=[position(0)]))
    assert typed("--recordings", str(folder)) == DONE
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert max(len(line) for line in lines if str(folder) not in line) <= 80
    assert printed.err == ""
    assert lines[0].startswith(f"Out of sample from {summary().firstDay} to {summary().lastDay}: 3 anchored folds")
    table = {line[:22].strip(): line[22:].replace(" %", "%").replace(" x", "x").split() for line in lines[3:15]}
    assert table == {
        "": ["ALL", "THREE", "TREND", "MOMENTUM", "FUNDING", "HOLDING"],
        "trades": ["3"] * 4,
        "won": ["66.7%"] * 4,
        "mean of a trade": ["+1.50%"] * 4,
        "return": [*["+4.50%"] * 4, "-8.25%"],
        "Sharpe, annualised": [*["0.500"] * 4, "-"],
        "P(Sharpe > 0)": ["0.700"] * 4,
        "P(Sharpe > luck)": ["0.100"] * 4,
        "deepest drawdown": [*["12.3%"] * 4, "60.0%"],
        "exposure": ["50.0%"] * 4,
        "turnover a year": ["30.0x"] * 4,
        "funding recorded": ["25.0%"] * 4,
    }
    assert "Leakage gate: 1 of 1 checks held." in lines
    text = " ".join(lines)
    assert "fees of 4.5 and slippage of 1 to 150 basis points a fill, by the coin's volume" in text
    assert "Sign-flip surrogates." in lines
    assert "No embargo." in lines
    assert "the best that 162 trials would show by luck" in text
    assert f"run 0123456789abcdef, read from {folder}; nothing was stored" in text


def test_a_refused_strategy_has_no_figures_and_the_reason_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    brings(monkeypatch, made(told=summary(refused="funding-reversion")))
    assert typed("--recordings", str(folder)) == DONE
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if "  refused" in line]
    assert len(rows) == 11
    assert all(line.count("refused") == 1 and line.index("refused") > 50 for line in rows)
    assert "Not published: funding-reversion (sign-flip-surrogates: it earned on chance)." in out


def test_too_short_a_history_is_said_and_is_no_failure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("--recordings", str(folder)) == DONE
    out = capsys.readouterr().out
    assert "3 days are recorded" in out
    assert "nothing was stored" in out


def test_json_holds_the_figures_the_findings_and_the_folds_but_not_the_records(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = brings(monkeypatch, made(told=summary(), positions=[position(0)]))
    assert typed("--recordings", str(folder), "--json", "--scheme", "rolling") == DONE
    told = json.loads(capsys.readouterr().out)
    assert (told["run_id"], told["summary"]["total"], told["summary"]["buyAndHold"]["sharpe"]) == (
        "0123456789abcdef", 3, None,
    )  # fmt: skip
    assert told["records"] == {"signals": 0, "positions": 1, "outcomes": 0}
    assert (told["findings"][0]["check"], told["folds"][0]["trials"]) == ("fills", 9)
    assert not {"signals", "positions", "outcomes"} & told.keys()
    assert asked[0].parameters == Parameters(scheme="rolling")
    assert [history.coin for history in asked[0].histories] == ["BTC", "ETH"]
    assert day_of(asked[0].now_ms) == day_of(SystemClock().now_ms())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_each_per_cent_is_told_once_on_standard_error_and_the_line_is_gone_in_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    brings(monkeypatch, made(told=summary()))
    assert typed("--recordings", str(folder), environment={"TERM": "xterm"}) == DONE
    assert terminal.getvalue().split("\r\x1b[2K") == [
        "", "walking forward: 0 %", "walking forward: 1 %", "walking forward: 100 %", "",
    ]  # fmt: skip
    assert "walking forward" not in capsys.readouterr().out


class Kept:
    """A data folder on which a service has been."""

    def __init__(self, path: Path) -> None:
        self.environment = {"VERDICT_DATA_DIR": str(path), "VERDICT_SOURCE": "live"}
        self._file = path / DATABASE
        path.mkdir(mode=0o700)

    def hold(self, origin: str | None, *, published: bool = True) -> None:
        async def work() -> None:
            async with open_database(self._file, SystemClock()) as database:
                if origin is not None:
                    await hold_history(database, origin)
                if not published:
                    await database.write(lambda connection: connection.execute("DELETE FROM documents").rowcount)

        asyncio.run(work())

    def runs(self) -> list[dict[str, object]]:
        async def work() -> list[dict[str, object]]:
            async with open_database(self._file, SystemClock()) as database:
                numbers = await database.read("SELECT run, origin FROM walkforward_runs ORDER BY run")
                told = [await RunStore(database).load(run, origin) for run, origin in numbers]
                assert await database.read("SELECT count(*) FROM funding_days WHERE hours = 24") == [(4,)]
                return [asdict(run) for run in told if run is not None]

        return asyncio.run(work())


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "data")


def test_over_a_data_folder_the_published_days_of_all_coins_are_walked_and_the_run_is_kept(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.hold(LIVE)
    asked = brings(monkeypatch, made(told=summary(), positions=[position(0)]))
    assert typed(environment=kept.environment) == DONE
    assert "stored as run 1; the service shows its records from now on" in capsys.readouterr().out.replace("\n", " ")
    (request,) = asked
    assert [history.coin for history in request.histories] == ["BTC", "ETH", "MATIC", "PEPE"]
    assert {history.bars[-1][0] for history in request.histories} == {TODAY - 1}
    assert all(history.funding for history in request.histories)
    (run,) = kept.runs()
    assert (run["run"], run["run_id"]) == (1, "0123456789abcdef")


@pytest.mark.parametrize(("origin", "published"), [(None, True), (LIVE, False)])
def test_a_data_folder_without_a_published_day_is_refused_with_what_to_do(
    kept: Kept, origin: str | None, capsys: pytest.CaptureFixture[str], *, published: bool
) -> None:
    kept.hold(origin, published=published)
    assert "no published day yet. Let the service run" in refused(capsys, environment=kept.environment)
