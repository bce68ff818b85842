"""How long a command takes from its start to its end, beside an interpreter that does nothing and beside Typer's help.

Every contender is started once a round, in turn; ratios are those of medians. What Python compiles once is kept, as it
is for anybody who runs a command twice.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.asked import below, short
from bench.serving import HOST, ROOT, create_key, service, spread


@dataclass(frozen=True)
class Start:
    """A command, what is asked of it (times an interpreter's start), and how long it took, milliseconds."""

    name: str
    arguments: Sequence[str]
    most: float | None
    took_ms: list[float] = field(default_factory=list)


def starts() -> list[Start]:
    """What is started; the first is what the others are measured by."""
    return [
        Start("an interpreter that does nothing", ["-c", "pass"], None),
        Start("`verdict --help`", ["-m", "service", "--help"], 6),
        Start("`verdict completions bash`", ["-m", "service", "completions", "bash"], 8),
        Start("`verdict coin risk BTC`, answered", ["-m", "service", "coin", "risk", "BTC"], 12),
        Start("help of the same commands by Typer", ["-m", "bench.typer_commands", "--help"], None),
    ]


def measure(rounds: int) -> list[Start]:
    """Start each in turn, round after round; the first round is thrown away."""
    contenders = starts()
    with tempfile.TemporaryDirectory(prefix="verdict-bench-") as folder, service(Path(folder)) as (port, environ):
        asking = {
            "VERDICT_URL": f"http://{HOST}:{port}",
            "VERDICT_TOKEN": create_key(environ, "pro"),
            "XDG_CONFIG_HOME": folder,
            "XDG_STATE_HOME": folder,
        }
        outer = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        for number in range(rounds + 1):
            for start in contenders:
                took_ms = run(start.arguments, outer | asking)
                if number:
                    start.took_ms.append(took_ms)
    return contenders


def run(arguments: Sequence[str], environ: Mapping[str, str]) -> float:
    """Milliseconds from the start of a command to its end."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environ, check=True, stdout=subprocess.DEVNULL)
    return 1_000 * (time.perf_counter() - begun)


def report(rounds: int) -> str:
    """The section of BENCHMARKS.md."""
    bare, *others = measured = measure(rounds)
    rows = ["| command | ms, median (min to max) | times an interpreter | asked for |", "|---|---|---|---|"]
    for start in measured:
        ratio = statistics.median(start.took_ms) / statistics.median(bare.took_ms)
        wanted = f"≤ {start.most:g}" if start.most else ""
        rows.append(f"| {start.name} | {spread(start.took_ms, 1)} | {ratio:.2f} | {wanted} |")
    table = "\n".join(rows)
    middle_ms = statistics.median(bare.took_ms)
    told = [
        below(f"{one.name}, times an interpreter", [ms / middle_ms for ms in one.took_ms], one.most)
        for one in others
        if one.most
    ]
    return f"""## Starting a command

From the start of the process to its end, output included, {rounds} interleaved rounds; ratios are those of medians. The
answered command asks a running service, as a script does: connects, is answered, prints. All {len(others)} are started
as modules of one interpreter, with what Python compiles kept.

{table}

{short(*told)}
"""


if __name__ == "__main__":
    print(report(30))
