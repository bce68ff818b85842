"""A stranger keeps the write lock for half a minute: longer than anybody waits."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fakes.serving import serving
from tests.service.attack import RISK, UNBOUNDED
from tests.service.test_faults_process import TIER, counted, locked

pytestmark = pytest.mark.soak

LOCKED_S = 30.0
LONGEST_S = 5.0
CALLERS = 8


def test_half_a_minute_of_a_foreign_lock_is_503_within_five_seconds_each_and_then_over(
    tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a replayable schedule, not a secret
    with serving(tmp_path, **UNBOUNDED) as service:
        key = service.make_key("--tier", "pro")

        def call(pause_s: float) -> tuple[int, float]:
            time.sleep(pause_s)
            begun_s = time.monotonic()
            return service.ask(RISK, key)[0], time.monotonic() - begun_s

        with locked(tmp_path / "verdict.db"), ThreadPoolExecutor(CALLERS) as callers:
            until_s, refused, longest_s = time.monotonic() + LOCKED_S, 0, 0.0
            while time.monotonic() < until_s:
                for status, took_s in callers.map(call, [dice.uniform(0.0, 1.0) for _ in range(CALLERS)]):
                    assert status == 503
                    longest_s, refused = max(longest_s, took_s), refused + 1
                assert service.ask(TIER, key)[0] == 200
        assert longest_s < LONGEST_S
        assert service.ask(RISK, key)[0] == 200
        assert counted(tmp_path) == 1
    record_property("calls refused", refused)
    record_property("longest refusal, s", round(longest_s, 2))
