"""`kill -9` at random moments under load: what was answered is counted, what is counted was answered.

No order of a mark in memory and a write to a socket is proof against a kill between the two. The mark comes first, so
that an answered call is never uncounted; one call a kill may then be counted although its answer never left.
"""

import asyncio
import json
import os
import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fakes.calls import call_until_it_dies
from tests.fakes.serving import run_verdict, serving

pytestmark = pytest.mark.process

RISK = "/api/cli/coin/risk/BTC"
FAST = {"rate_per_minute": "1000000000", "rate_burst": "1000000000"}
CONNECTIONS = 16
LATEST_KILL = 1_000
"""Answers before the latest kill."""


def kill_under_load(data_dir: Path, key: str, after: int, later_s: float) -> int:
    """Start, load, kill that much later than so many answers; return how many answers came whole."""
    with serving(data_dir, **FAST) as service:
        kill = threading.Timer(later_s, os.kill, (service.process.pid, signal.SIGKILL))
        answered = asyncio.run(call_until_it_dies(service.port, RISK, key, CONNECTIONS, after, kill.start))
        kill.join()
    assert answered >= after
    return answered


class Toll(NamedTuple):
    """What so many kills have come to."""

    answered: int
    unanswered: int


def check_kills(data_dir: Path, kills: int, seed: int) -> Toll:
    moments = random.Random(seed)  # noqa: S311 -- a replayable schedule, not a secret
    made = run_verdict("admin", "keys", "create", "--name", "k", "--tier", "pro", "--json", data_dir=str(data_dir))
    key = json.loads(made.stdout)["key"]
    answered = unanswered = 0
    for kill in range(kills):
        answered += kill_under_load(data_dir, key, moments.randrange(1, LATEST_KILL), moments.uniform(0, 0.01))
        with serving(data_dir) as service:
            usage = json.loads(service.verdict("admin", "usage", "--json").stdout)
            counted = sum(row["total"] for row in usage["users"])
        between = counted - answered - unanswered
        assert between in {0, 1}, f"seed {seed}, kill {kill}: counted {counted}, answered {answered}"
        unanswered += between
    doctor = run_verdict("admin", "doctor", data_dir=str(data_dir))
    assert doctor.returncode == 0, doctor.stdout
    return Toll(answered, unanswered)


@pytest.mark.gate
def test_a_process_killed_under_load_has_counted_what_it_answered_and_nothing_else(tmp_path: Path) -> None:
    check_kills(tmp_path, kills=3, seed=20261120)


@pytest.mark.promise("meter.durable", "meter.once")
@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_hundred_kills_at_random_moments_leave_every_answer_counted_and_nothing_else(
    tmp_path: Path, seed: int, patience: int, record_property: Callable[[str, object], None]
) -> None:
    toll = check_kills(tmp_path, patience, seed)
    record_property("kills", patience)
    record_property("calls answered and counted", toll.answered)
    record_property("counted, killed between mark and answer", toll.unanswered)
