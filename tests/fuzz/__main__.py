"""`python -m tests.fuzz [target …]`: search all targets, or those that are named (`venues` names all of a room).

`FUZZ_SECONDS` is how long each is searched (60), `FUZZ_AT_ONCE` how many at the same time (2). Inputs that reach new
code are kept under `build/fuzz/<target>/inputs` and begun with the next time; what breaks a target is kept beside them,
and its last words in `log`. Exit code 1 where anything was found.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from tests.fuzz.target import Target
from tests.fuzz.targets.watched import WATCHED

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = ROOT / "build" / "fuzz"
HANGS_S: Final = 60
"""By the clock on the wall; an input that takes longer never ends. A second of a processor is told of before."""

MEMORY_MB: Final = 2_048
_STATUS: Final = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)/")
_RUNS: Final = re.compile(r"stat::number_of_executed_units: (\d+)")


class Searched(NamedTuple):
    """What came of a search: inputs thrown, branches reached, inputs worth keeping, and what broke the target."""

    name: str
    runs: int
    branches: int
    kept: int
    found: tuple[Path, ...]


def targets_named(wanted: list[str]) -> list[Target]:
    """The targets of these names, or of these rooms; all of them where none is named."""
    every = [target for room in WATCHED for target in import_module(f"tests.fuzz.targets.{room}").TARGETS]
    named = [target for target in every if not wanted or {target.name, target.name.partition(".")[0]} & {*wanted}]
    if not named:
        sys.exit("No such target. There are: " + ", ".join(target.name for target in every))
    return named


def search(target: Target, seconds: int) -> Searched:
    """Search one target in a process of its own."""
    place = BUILD / target.name
    inputs = place / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    for data in target.inputs():
        (inputs / sha256(data).hexdigest()[:16]).write_bytes(data)
    words = place / "words"  # none is a word too: an empty list is refused
    spelt = ("".join(f"\\x{byte:02x}" for byte in word) for word in target.words or (b"0",))
    words.write_text("".join(f'"{word}"\n' for word in spelt))
    before = set(place.glob("*-*"))
    options = {
        "max_total_time": seconds,
        "max_len": target.most,
        "timeout": HANGS_S,
        "rss_limit_mb": MEMORY_MB,
        "artifact_prefix": f"{place}/",
        "dict": words,
        "print_final_stats": 1,
    }
    with (place / "log").open("w") as log:
        code = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.one", target.name, *(f"-{k}={v}" for k, v in options.items()), inputs],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    said = (place / "log").read_text(errors="replace")
    found = tuple(sorted(set(place.glob("*-*")) - before))
    if code and not found:
        found = (place / "log",)
    reached = [tuple(map(int, line)) for line in _STATUS.findall(said)] or [(0, 0, 0)]
    runs = _RUNS.search(said)
    return Searched(target.name, int(runs[1]) if runs else 0, reached[-1][0], reached[-1][2], found)


def main() -> int:
    """Search, and say what came of it."""
    seconds = int(os.environ.get("FUZZ_SECONDS", "60"))
    targets = targets_named(sys.argv[1:])
    sys.stdout.write(f"{'target':24} {'inputs':>11} {'branches':>9} {'kept':>6}  found\n")
    broken = False
    with ThreadPoolExecutor(int(os.environ.get("FUZZ_AT_ONCE", "2"))) as workers:
        for each in workers.map(lambda target: search(target, seconds), targets):
            found = ", ".join(str(path.relative_to(ROOT)) for path in each.found) or "nothing"
            sys.stdout.write(f"{each.name:24} {each.runs:11,} {each.branches:9,} {each.kept:6,}  {found}\n")
            sys.stdout.flush()
            broken = broken or bool(each.found)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
