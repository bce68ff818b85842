"""The bench itself: it runs, asks every contender the same, and writes down what it saw."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.serving import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent


def rows_of(section: str) -> list[tuple[str, str, str]]:
    """Name, answers a second and ratio of every server in a table."""
    return re.findall(r"^\| ([a-zA-Z].*?) \| (\d+) .*? \| (\d+\.\d+) ", section, re.MULTILINE)


@pytest.mark.soak
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="server and load need a processor each")
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be pinned here")
def test_a_short_bench_measures_every_contender_and_writes_ratios_formed_within_a_round(tmp_path: Path) -> None:
    report = tmp_path / "BENCHMARKS.md"
    options = ["--rounds", "1", "--seconds", "0.3", "--connections", "4", "--out", str(report)]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    metered, unpaid, paid, questions, followed, started, numbers, quotes = re.split(
        r"^## (?=Calls that are (?:not|paid)|Questions|Live streams|Starting a command|The numbers|A refresh)",
        report.read_text(),
        flags=re.MULTILINE,
    )
    rows = rows_of(metered)
    assert [name.split()[0] for name, _, _ in rows] == ["bare", "verdict,", "FastAPI"]
    rates = [int(rate) for _, rate, _ in rows]
    assert [float(ratio) for _, _, ratio in rows] == pytest.approx([rate / rates[0] for rate in rates], abs=0.002)
    assert [name.split()[0] for name, _, _ in rows_of(unpaid)] == ["bare", "verdict", "official"]
    assert [name.split()[0] for name, _, _ in rows_of(paid)] == ["verdict", "official", "official"]
    ours, theirs, _ = (int(rate) for _, rate, _ in rows_of(paid))
    assert float(rows_of(paid)[0][2]) == pytest.approx(ours / theirs, abs=0.02)
    assert [name.split()[0] for name, _, _ in rows_of(questions)] == ["the", "one", "questions"]
    assert re.findall(r"^\| the (first byte|whole answer) .*? \| < (50|150) ms \|$", questions, re.MULTILINE) == [
        ("first byte", "50"),
        ("whole answer", "150"),
    ]
    told, plain = rows_of(followed)
    assert (told[0], plain[0]) == ("verdict", "Starlette, a queue a reader")
    assert float(told[2]) == pytest.approx(int(told[1]) / int(plain[1]), abs=0.1)
    assert "| asked for | | ≥ 10 | | < 2 | < 20 | < 50 |" in followed
    assert [name.split()[0] for name in re.findall(r"^\| ([a-z`].*?) \| [0-9.]+ \(", started, re.MULTILINE)] == [
        "an",
        "`verdict",
        "`verdict",
        "`verdict",
        "help",
    ]
    assert re.findall(r"\| ≤ (\d) \|$", started, re.MULTILINE) == ["2", "2", "8"]
    assert re.findall(r"^\| (all anew|one day more), .*? \| < (40|2) ms \|$", numbers, re.MULTILINE) == [
        ("all anew", "40"),
        ("one day more", "2"),
    ]
    assert len(re.findall(r"^\| quotes of all coins, .*? \| < 5 ms \|", quotes, re.MULTILINE)) == 2
