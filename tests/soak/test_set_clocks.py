"""The clock of a running process is set, by libfaketime: back, ten years ahead, and to right before midnight."""

import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, SystemClock, midnight_after
from tests.fakes.serving import Serving, serving, wait_until
from tests.service.attack import RISK, UNBOUNDED

LIBRARY: Final = [*Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")]

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not LIBRARY, reason="faketime is not installed"),
]

AT_ONCE: Final = 60
CALLERS: Final = 20
EVENING_MS: Final = 4 * MINUTE_MS
TEN_YEARS_MS: Final = 3_650 * DAY_MS
HEALTH: Final = "/healthz"

_HEARD_S: Final = 1.2
"""After which the process has read what its clock is set to: it does once a second."""


class Clock:
    """The wall clock of a process; its monotonic clock is left alone, as the kernel leaves it."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file = file
        self._pause = threading.Event()
        self.by(0)
        monkeypatch.setenv("LD_PRELOAD", str(LIBRARY[0]))
        monkeypatch.setenv("FAKETIME_TIMESTAMP_FILE", str(file))
        monkeypatch.setenv("FAKETIME_CACHE_DURATION", "1")
        monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")

    def by(self, milliseconds: int) -> None:
        """Set it so far ahead of, or behind, the machine's."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{milliseconds / SECOND_MS:+.3f}")
        new.replace(self._file)
        self._pause.wait(_HEARD_S)


def statuses(service: Serving, key: str, calls: int) -> Counter[int]:
    with ThreadPoolExecutor(CALLERS) as callers:
        return Counter(callers.map(lambda _: service.ask(RISK, key)[0], range(calls)))


def has_prices(service: Serving, key: str) -> bool:
    """Whether it answers at this time of its own: prices of another time are of no known age."""
    return service.ask(RISK, key, "HEAD")[0] in {200, 402}


def counted(service: Serving) -> int:
    return sum(row["total"] for row in json.loads(service.verdict("admin", "usage", "--json").stdout)["users"])


def test_a_clock_that_is_set_gives_no_question_twice_and_ten_years_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, record_property: Callable[[str, object], None]
) -> None:
    dice = random.Random(f"{seed} clocks")  # noqa: S311 - a replayable schedule, not a secret
    clock = Clock(tmp_path / "clock", monkeypatch)
    with serving(tmp_path / "data", **UNBOUNDED) as service:
        free, pro = service.make_key(), service.make_key("--tier", "pro")
        assert statuses(service, free, AT_ONCE) == {200: 10, 402: AT_ONCE - 10}
        answered, settings = 10, 0
        for back_ms in (HOUR_MS, dice.randrange(2, 48) * HOUR_MS, 0):
            clock.by(-back_ms)
            settings += 1
            assert statuses(service, free, AT_ONCE).keys() <= {402, 502, 503}
            assert service.ask(HEALTH)[0] == 200
        wait_until(lambda: has_prices(service, pro))
        clock.by(TEN_YEARS_MS)
        wait_until(lambda: service.ask(RISK, free)[0] == 200)
        assert statuses(service, free, AT_ONCE).keys() == {402}
        answered, settings = answered + 1, settings + 1
        assert counted(service) == answered
        assert service.ask(HEALTH)[0] == 200
    with serving(tmp_path / "data", **UNBOUNDED) as service:  # whose clock is ten years ahead from the start
        wait_until(lambda: has_prices(service, pro))
        clock.by(0)
        assert statuses(service, free, AT_ONCE).keys() <= {402, 502, 503}, "a day that has come gives nothing again"
        assert counted(service) == answered
        assert [record for record in service.records if record["level"] == "error"] == []
    record_property("settings of the clock", settings + 2)
    record_property("calls", 7 * AT_ONCE)


def test_over_midnight_who_has_spent_the_day_before_has_one_answer_of_hundreds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    clock = Clock(tmp_path / "clock", monkeypatch)
    machine = SystemClock()

    def to_midnight_ms() -> int:
        return midnight_after(machine.now_ms()) - machine.now_ms()

    ahead_ms = to_midnight_ms() - EVENING_MS
    clock.by(ahead_ms)
    with serving(tmp_path / "data", **UNBOUNDED) as service:
        key = service.make_key()
        wait_until(lambda: has_prices(service, key))
        assert statuses(service, key, 11) == {200: 10, 402: 1}
        ahead_ms = to_midnight_ms() - 4 * SECOND_MS
        clock.by(ahead_ms)
        told: Counter[int] = Counter()
        midnight_ms = midnight_after(machine.now_ms() + ahead_ms)
        while machine.now_ms() + ahead_ms < midnight_ms + 2 * SECOND_MS:
            told += statuses(service, key, AT_ONCE)
        assert told[200] == 1
        assert told.keys() <= {200, 402, 503}
        assert counted(service) == 11
    record_property("calls over midnight", told.total())
