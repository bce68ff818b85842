"""`python -m tests.mutants [room …]`: try mutants of all rooms, or of those that are named.

`MUTANTS_DRAWN` is how many are drawn for each room (300), `MUTANTS_SEED` what draws them (1), `MUTANTS_AT_ONCE` how
many are tried at the same time (4). What has survived is told with its change in `build/mutants/<room>.txt`. Exit code
1 where fewer than nine in ten were noticed.
"""

import os
import sys
import time
from collections import Counter
from math import sqrt
from typing import Final

import pytest

from tests.mutants.mutations import make
from tests.mutants.trial import KILLED, NOT_MADE, ROOT, SURVIVED, TIMED_OUT, UNREACHED, Trial, Trials

ROOMS: Final = {
    "access": ["tests/access"],
    "payments": ["tests/payments", "tests/chain"],
    "verdict": ["tests/verdict"],
}
WANTED: Final = 0.9
_BUILD: Final = ROOT / "build" / "mutants"
_AROUND: Final = 120
_Z: Final = 1.959964  # of 95 % of the normal distribution
_ROW: Final = "{:10} {:>6} {:>6} {:>7} {:>10} {:>9} {:>10} {:>7}  {:>14} {:>6}\n"


def interval(noticed: int, tried: int) -> tuple[float, float]:
    """The 95 % interval of a rate, by Wilson."""
    rate, spread = noticed / tried, _Z * _Z / tried
    middle = (rate + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * sqrt(rate * (1 - rate) / tried + spread / (4 * tried))
    return middle - half, middle + half


def told(trial: Trial) -> str:
    """A mutant that nobody noticed: where it is, how many tests ran through it, and what was changed."""
    made = make(trial.mutant)
    changed = (at for at, (old, new) in enumerate(zip(made.before, made.after, strict=False)) if old != new)
    same = next(changed, 0)
    word = "timed out" if trial.outcome == TIMED_OUT else f"survived {trial.tests} tests"
    where = f"{trial.mutant.path.relative_to(ROOT)}:{trial.mutant.line} [{trial.mutant.node}.{trial.mutant.variant}]"
    cut = slice(max(0, same - _AROUND), same + _AROUND)
    return "\n".join([f"{where} {word}", *_after("- ", made.before[cut]), *_after("+ ", made.after[cut])]) + "\n\n"


def _after(sign: str, text: str) -> list[str]:
    return [sign + line for line in text.splitlines()]


def try_room(room: str, seed: int, drawn: int, at_once: int) -> bool:
    """Try a room's mutants and say what came of them.

    Returns:
        Whether as many were noticed as are wanted.
    """
    began = time.monotonic()
    report = _BUILD / f"{room}.txt"
    report.write_text("")

    def tell(trial: Trial) -> None:
        if trial.outcome in {SURVIVED, UNREACHED, TIMED_OUT}:
            with report.open("a") as file:
                file.write(told(trial))

    trials = Trials(room, seed, drawn, at_once, tell)
    marked = "not soak and not chain and not browser"
    quiet = ["-o", "addopts=", *(f"-pno:{name}" for name in ("terminal", "cacheprovider", "schemathesis"))]
    code = pytest.main([*ROOMS[room], *quiet, "-s", "-m", marked], [trials])
    if code:
        sys.exit(f"The tests of {room} cannot be collected: {code!r}")
    of = Counter(each.outcome for each in trials.trials)
    survived, tried = of[SURVIVED] + of[UNREACHED], len(trials.trials) - of[NOT_MADE]
    rate = 1 - survived / tried
    low, high = interval(tried - survived, tried)
    minutes = (time.monotonic() - began) / 60
    spread = f"{low:.1%} - {high:.1%}"
    sys.stdout.write(
        _ROW.format(
            room,
            trials.every,
            tried,
            of[KILLED],
            of[TIMED_OUT],
            survived,
            of[UNREACHED],
            f"{rate:.1%}",
            spread,
            f"{minutes:.1f}",
        )
    )
    for name in trials.excluded:
        sys.stdout.write(f"  left out, for it fails without a mutant: {name}\n")
    sys.stdout.flush()
    return rate >= WANTED


def main() -> int:
    """Try every room in a process of its own, for a process collects tests once."""
    seed = int(os.environ.get("MUTANTS_SEED", "1"))
    drawn = int(os.environ.get("MUTANTS_DRAWN", "300"))
    at_once = int(os.environ.get("MUTANTS_AT_ONCE", "4"))
    _BUILD.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"seed {seed}\n")
    heads = ("room", "all", "tried", "killed", "timed out", "survived", "no test", "rate", "95 %", "min")
    sys.stdout.write(_ROW.format(*heads))
    sys.stdout.flush()
    good = True
    for room in sys.argv[1:] or ROOMS:
        pid = os.fork()
        if not pid:
            os._exit(0 if try_room(room, seed, drawn, at_once) else 1)
        good &= os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
