"""The bench itself: its parts run, ask every contender the same, and write down what they saw."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import field, growth, nginx, openbb, stores
from bench.__main__ import replace_sections
from bench.effort import Effort
from bench.footprint import measure, table
from tests.fakes.serving import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent
BRIEF = Effort(rounds=1, seconds=1.0, connections=4)

pytestmark = [
    pytest.mark.soak,
    pytest.mark.process,
    pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="server and load need a processor each"),
    pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be pinned here"),
]


def bench(*arguments: str) -> str:
    """What a brief run of it prints."""
    options = ["--rounds", "1", "--seconds", "0.3", "--connections", "4"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"bench: {arguments[0]} \.\.\. \d+ s\n", done.stderr)
    assert "alls short of what was asked for" in done.stdout
    return done.stdout


def rows_of(section: str) -> list[tuple[str, str, str]]:
    """Name, answers a second and ratio of every server in a table."""
    return re.findall(r"^\| ([a-zA-Z].*?) \| (\d+) .*? \| (\d+\.\d+) ", section, re.MULTILINE)


def test_a_metered_call_is_measured_beside_everybody_who_is_installed_with_ratios_formed_within_a_round() -> None:
    rows = rows_of(bench("field"))
    there = [part.NAME for part in (nginx, openbb) if part.missing() is None]
    ours = [field.OURS, field.FREE, field.TIER]
    assert [name for name, _, _ in rows] == [
        field.BARE, *ours, field.FASTAPI, field.LITESTAR, field.SLOWAPI, *there
    ]  # fmt: skip
    rates = [int(rate) for _, rate, _ in rows]
    assert [float(ratio) for _, _, ratio in rows] == pytest.approx([rate / rates[0] for rate in rates], abs=0.002)


def test_calls_unpaid_and_paid_are_measured_beside_the_official_middleware() -> None:
    unpaid, paid = bench("payments").split("## Calls that are paid for")
    assert [name.split()[0] for name, _, _ in rows_of(unpaid)] == ["bare", "verdict", "official"]
    assert [name.split()[0] for name, _, _ in rows_of(paid)] == ["verdict", "official", "official"]
    ours, theirs, _ = (int(rate) for _, rate, _ in rows_of(paid))
    assert float(rows_of(paid)[0][2]) == pytest.approx(ours / theirs, rel=1 / theirs, abs=0.02)


def test_questions_are_measured_beside_the_risk_route_and_alone() -> None:
    questions = bench("questions")
    assert [name.split()[0] for name, _, _ in rows_of(questions)] == ["the", "one", "questions"]
    assert re.findall(r"^\| the (first byte|whole answer) .*? \| < (50|150) ms \|$", questions, re.MULTILINE) == [
        ("first byte", "50"),
        ("whole answer", "150"),
    ]


def test_streams_are_measured_beside_a_queue_a_reader() -> None:
    followed = bench("streams")
    told, plain = rows_of(followed)
    assert (told[0], plain[0]) == ("verdict", "Starlette, a queue a reader")
    assert float(told[2]) == pytest.approx(int(told[1]) / int(plain[1]), abs=0.1)
    assert "| asked for | | ≥ 10 | | < 2 | < 20 | < 50 |" in followed


def test_commands_are_started_beside_an_interpreter_that_does_nothing() -> None:
    started = bench("startup")
    assert [name.split()[0] for name in re.findall(r"^\| ([a-z`].*?) \| [0-9.]+ \(", started, re.MULTILINE)] == [
        "an",
        "`verdict",
        "`verdict",
        "`verdict",
        "help",
    ]
    assert re.findall(r"\| ≤ (\d+) \|$", started, re.MULTILINE) == ["6", "8", "12"]


def test_numbers_and_refreshes_are_measured_against_what_was_asked_for() -> None:
    assert len(re.findall(r"^\| all anew, .*? \| < 40 ms \|$", bench("analytics"), re.MULTILINE)) == 1
    assert len(re.findall(r"^\| quotes of all coins, .*? \| < 5 ms \|", bench("tick"), re.MULTILINE)) == 2


def test_a_store_that_grows_keeps_exact_counts_and_is_measured_at_each_size() -> None:
    by_coins, by_store, audited_s = growth.measure((10,), (1, 1_000), 10_000, BRIEF)
    assert [one.what for one in by_store] == ["1 users", "1,000 users", "1,000 users, 10,000 calls more"]
    assert [one.what for one in by_coins] == ["10 coins"]
    sizes = [one.stored_mb for one in by_store]
    assert sizes == sorted(sizes)
    assert audited_s > 0
    assert growth.store_table(by_store).count("\n") == 4
    assert growth.coin_table(by_coins).count("\n") == 2


def test_both_stores_are_measured_side_by_side() -> None:
    section = stores.report(BRIEF)
    if "Not measured here" in section:
        pytest.skip(section)
    rates = dict(re.findall(r"^\| (SQLite|PostgreSQL) \| (\d+) ", section, re.MULTILINE))
    assert list(rates) == [stores.SQLITE, stores.POSTGRES]
    gives = float(section.rpartition("PostgreSQL gives ")[2].split()[0])
    assert gives == pytest.approx(int(rates[stores.POSTGRES]) / int(rates[stores.SQLITE]), abs=0.02)


def test_the_start_of_a_service_and_its_memory_are_measured_live_and_on_fixtures() -> None:
    rows = table(measure(starts=1, coins=10, settled_s=0.0)).splitlines()[2:]
    assert len(rows) == 5
    assert all(float(row.split("|")[3].split()[0]) > 0 for row in rows[:4])
    assert rows[-1] == "| asked for | | < 1 | | | | < 150 | |"


def test_a_part_measured_alone_replaces_its_own_sections_and_no_others() -> None:
    report = "# Benchmarks\n\nHead.\n\n## One\n\nold\n\n## Two\n\nold\n\n## Three\n\nold\n"
    written = replace_sections(report, "## Two\n\nnew\n\n## One\n\nnewer\n")
    assert written == "# Benchmarks\n\nHead.\n\n## One\n\nnewer\n\n## Two\n\nnew\n\n## Three\n\nold\n"
    with pytest.raises(LookupError, match="## Four"):
        replace_sections(report, "## Four\n")
