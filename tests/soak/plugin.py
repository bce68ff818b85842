"""What soak tests have in common: how long, from which seed, and a line of JSON for each that is kept.

`--soak long|short` and `--seed N` are given by `make soak`; with them, each test that holds a row of `rows.py` leaves a
line in `build/soak/figures.jsonl`: what it has counted (`record_property`), or what went wrong.
"""

import subprocess
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from service.clock import SystemClock, iso
from tests.soak.rows import rows_of

ROOT: Final = Path(__file__).resolve().parents[2]
FIGURES: Final = ROOT / "build" / "soak" / "figures.jsonl"
SEED: Final = 8402

_LONGEST_COMPLAINT: Final = 300


class Figure(msgspec.Struct, frozen=True):
    """How one test ended.

    Attributes:
        counts: What it has counted, by name.
        violation: The first line of what went wrong; empty where nothing did.
    """

    test: str
    rows: Sequence[str]
    at: str
    commit: str
    soak: str
    seed: int
    outcome: str
    seconds: float
    counts: dict[str, Any]
    violation: str


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make soak SOAK=short SEED=1`."""
    parser.addoption("--soak", choices=["long", "short"], help="how long the soak tests go on; figures are kept")
    parser.addoption("--seed", type=int, default=SEED, help="of all that is left to chance in soak tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fault: holds a row of tests/soak/rows.py, run by `make soak` too")


def pytest_report_header(config: pytest.Config) -> str:
    return f"soak: {config.getoption('--soak') or 'long'}, seed {config.getoption('--seed')}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what holds a row, so that `-m "soak or fault"` finds it wherever it lives."""
    for item in items:
        if rows_of(item.nodeid):
            item.add_marker("fault")


@pytest.fixture
def patience(request: pytest.FixtureRequest) -> int:
    """Per cent of its full length that a soak test is to last."""
    return 5 if request.config.getoption("--soak") == "short" else 100


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """What chance is drawn from."""
    chosen: int = request.config.getoption("--seed")
    return chosen


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if item.config.getoption("--soak") and rows_of(item.nodeid) and (report.when == "call" or not report.passed):
        keep(figure_of(item, report))
    return report


def figure_of(item: pytest.Item, report: pytest.TestReport) -> Figure:
    """What a test's report says."""
    crash = getattr(report.longrepr, "reprcrash", None)
    complaint = "" if report.passed else str(crash.message if crash else report.longrepr).partition("\n")[0]
    return Figure(
        test=item.nodeid,
        rows=rows_of(item.nodeid),
        at=iso(SystemClock().now_ms()),
        commit=commit(),
        soak=item.config.getoption("--soak"),
        seed=item.config.getoption("--seed"),
        outcome=report.outcome,
        seconds=round(report.duration, 1),
        counts=dict(item.user_properties),
        violation=complaint[:_LONGEST_COMPLAINT],
    )


def commit() -> str:
    """What is tested, as far as it has a name."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip()


def keep(figure: Figure) -> None:
    """Add a line."""
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    with FIGURES.open("ab") as file:
        file.write(msgspec.json.encode(figure) + b"\n")
