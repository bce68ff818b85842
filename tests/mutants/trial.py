"""The trial of a room's mutants: a plugin of pytest that, in place of running tests, forks for each mutant."""

import faulthandler
import os
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.mutants.mutations import Mutant, make, mutants_of
from tests.mutants.placing import Functions, NotMadeError, living, place
from tests.mutants.reach import Seen, measure, reaching

ROOT: Final = Path(__file__).resolve().parents[2]
SURVIVED: Final = 0
TIMED_OUT: Final = 1  # the exit code of what faulthandler and pytest-timeout end
KILLED: Final = 2
NOT_MADE: Final = 3
UNREACHED: Final = 4
_SLOWER: Final = 40  # by the clock on the wall, than it was of the processor
_LEAST_S: Final = 20.0
_MEMORY: Final = 8 << 30
_LEFT_OUT: Final = ("_processes.py", "_postgres.py")
_SHM: Final = Path("/dev/shm")  # noqa: S108 - made below, by a name nobody else has


class Trial(NamedTuple):
    """What came of a mutant: one of the outcomes above, and of how many tests."""

    mutant: Mutant
    outcome: int
    tests: int


class Trials:
    """Collects a room's tests, sees what they reach, and tries the mutants that are drawn.

    Args:
        room: A folder of the service.
        seed: Draws the mutants.
        drawn: How many.
        at_once: How many processes.
        tell: Is told of each trial as it ends.

    Attributes:
        every: How many mutants there are.
        trials: What came of those that were drawn.
        excluded: Tests that fail without a mutant.
    """

    def __init__(self, room: str, seed: int, drawn: int, at_once: int, tell: Callable[[Trial], None]) -> None:
        self._folder = ROOT / "service" / room
        self._draw = random.Random(f"{room} {seed}")  # noqa: S311 - it must give the same again
        self._drawn = drawn
        self._at_once = at_once
        self._failed: set[str] = set()
        self._is_mutant = False
        self._tell = tell
        self.every = 0
        self.trials: list[Trial] = []
        self.excluded: list[str] = []

    def pytest_configure(self) -> None:
        """Have hypothesis give the same each time, at any speed, and not look for the smallest example."""
        import hypothesis  # noqa: PLC0415 - pytest wants to be the first who imports it, what it rewrites

        hypothesis.settings.register_profile(
            "mutants",
            derandomize=True,
            database=None,
            deadline=None,
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
            suppress_health_check=[*hypothesis.HealthCheck],
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails ends its mutant."""
        if report.failed:
            if self._is_mutant:
                os._exit(KILLED)
            self._failed.add(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try mutants in place of running tests."""
        items = {item.nodeid: item for item in session.items if not _is_left_out(item)}
        functions = living(ROOT / "service")
        with tempfile.TemporaryDirectory(dir=_SHM if _SHM.is_dir() else None) as folder:
            seen = self._see([*items.values()], Path(folder))
            self.excluded = [name for name, each in seen.items() if not each.passed]
            every = [mutant for path in sorted(self._folder.rglob("*.py")) for mutant in mutants_of(path)]
            self.every = len(every)
            chosen = self._draw.sample(every, min(self._drawn, len(every)))
            jobs = [(mutant, reaching(mutant, seen)) for mutant in chosen]
            work = [
                partial(self._try, mutant, [items[name] for name in names], seen, functions) for mutant, names in jobs
            ]
            for at, outcome in _forked(work, self._at_once, Path(folder)):
                mutant, names = jobs[at]
                self.trials.append(Trial(mutant, outcome or (SURVIVED if names else UNREACHED), len(names)))
                self._tell(self.trials[-1])
        return True

    def _see(self, items: Sequence[pytest.Item], folder: Path) -> dict[str, Seen]:
        modules = sorted({item.path for item in items})
        shares = [
            [item for item in items if modules.index(item.path) % self._at_once == at] for at in range(self._at_once)
        ]
        kept = [folder / f"seen-{at}" for at in range(self._at_once)]
        work = [
            partial(measure, share, self._failed, self._folder, file) for share, file in zip(shares, kept, strict=True)
        ]
        for at, outcome in _forked(work, self._at_once, folder):
            if outcome:
                sys.exit(
                    f"The tests of {[str(item.path) for item in shares[at]][:1]} … cannot be run without a mutant."
                )
        seen: dict[str, Seen] = {}
        for file in kept:
            seen |= pickle.loads(file.read_bytes())  # noqa: S301 - written by a fork of this process
        return seen

    def _try(self, mutant: Mutant, items: Sequence[pytest.Item], seen: dict[str, Seen], functions: Functions) -> None:
        self._is_mutant = True
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        try:
            place(mutant, make(mutant), functions)
        except NotMadeError:
            os._exit(NOT_MADE)
        for item, following in zip(items, [*items[1:], None], strict=True):
            faulthandler.dump_traceback_later(_LEAST_S + _SLOWER * seen[item.nodeid].took_s, exit=True)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)


def _is_left_out(item: pytest.Item) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return parameters.get("store") == "postgres" or item.path.name.endswith(_LEFT_OUT)


def _forked(work: Sequence[Callable[[], None]], at_once: int, folder: Path) -> Iterator[tuple[int, int]]:
    """Do each piece of work in a fork, so many at once, and tell which has ended and how."""
    running: dict[int, int] = {}
    waiting = [*enumerate(work)][::-1]
    while waiting or running:
        while waiting and len(running) < at_once:
            at, each = waiting.pop()
            running[_fork(each, folder / f"work-{at}")] = at
        pid, status = os.wait()
        at = running.pop(pid)
        _end_group(pid)
        shutil.rmtree(folder / f"work-{at}", ignore_errors=True)
        yield at, os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else KILLED


def _fork(work: Callable[[], None], folder: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nothing, standard)
        folder.mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        work()
    except BaseException:  # noqa: BLE001 - a mutant may raise whatever it likes
        os._exit(KILLED)
    os._exit(SURVIVED)


def _end_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
