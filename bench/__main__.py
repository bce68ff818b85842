"""Run the benches and write BENCHMARKS.md, or run one of them: print it, or write its sections with `--write`."""

import argparse
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Final

from bench import analytics, field, footprint, growth, payments, questions, startup, stores, streams, tick, walkforward
from bench.effort import Effort
from bench.serving import LOAD_CPU, ROOT, machine

REPORT: Final = ROOT / "BENCHMARKS.md"

PARTS: Final[dict[str, Callable[[Effort], str]]] = {
    "field": field.report,
    "payments": lambda effort: payments.report(
        rounds=effort.rounds, seconds=effort.seconds, connections=effort.connections
    ),
    "questions": lambda effort: questions.report(
        rounds=effort.rounds, seconds=effort.seconds, connections=effort.connections
    ),
    "streams": lambda effort: streams.report((effort.rounds + 1) // 2, effort.seconds),
    "footprint": footprint.report,
    "growth": growth.report,
    "stores": stores.report,
    "startup": lambda effort: startup.report(4 * effort.rounds + 1),
    "analytics": lambda effort: analytics.report(2 * effort.rounds + 1),
    "tick": lambda effort: tick.report(8 * effort.rounds),
    "walkforward": lambda effort: walkforward.report((effort.rounds + 1) // 2),
}
"""What there is to measure, in the order of BENCHMARKS.md."""


NAMED: Final = (
    "uvicorn", "uvloop", "httptools", "starlette", "fastapi", "sqlalchemy", "aiosqlite", "slowapi", "litestar", "x402"
)  # fmt: skip
OPENBB: Final = ROOT / "bench" / "openbb.lock"


def versions() -> str:
    """Which versions are measured."""
    openbb = re.findall(r"^openbb-core==(\S+)", OPENBB.read_text(), re.MULTILINE)
    return ", ".join([*(f"{name} {version(name)}" for name in NAMED), *(f"openbb-core {found}" for found in openbb)])


def heading(before: str, effort: Effort) -> str:
    return f"""# Benchmarks

Written by `make bench`. Ratios are formed within a round and are what counts; absolute figures drift with the machine.

{before}.
{versions()}.

Where a section does not say otherwise: server and load generator pinned to a processor each, no walk-forward beside;
{effort.connections} keep-alive connections, one request under way on each; {effort.rounds} interleaved rounds of
{effort.seconds:g} s after a warm-up round. Every answer was read whole, and had the status that was asked for. Where
something was asked for, a section says at its end what falls short of it.
"""


def fill(text: str) -> str:
    """Wrap the paragraphs that have lines of over 120 characters; tables and code stay."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        textwrap.fill(paragraph, 120, break_long_words=False, break_on_hyphens=False)
        if max(map(len, paragraph.split("\n"))) > 120 and not paragraph.startswith(("|", "```", "#"))
        else paragraph
        for paragraph in paragraphs
    )


def run(name: str, effort: Effort) -> str:
    """Run a part, and say on stderr which and how long it takes."""
    sys.stderr.write(f"bench: {name} ... ")
    sys.stderr.flush()
    began_s = time.monotonic()
    section = fill(PARTS[name](effort))
    sys.stderr.write(f"{time.monotonic() - began_s:.0f} s\n")
    return section


def replace_sections(report: str, part: str) -> str:
    """Put the sections of one part in the place of those with the same headings.

    Args:
        report: BENCHMARKS.md.
        part: What the part has written: one section or more, each with its heading of level two.

    Returns:
        The report.

    Raises:
        LookupError: If the report has no such section.
    """
    fresh = {_heading(section): section.rstrip("\n") + "\n" for section in _sections(part)}
    old = _sections(report)
    missing = fresh.keys() - {_heading(section) for section in old}
    if missing:
        raise LookupError(f"The report has no section {', '.join(sorted(missing))}. Run all parts once.")
    return "\n".join(fresh.get(_heading(section), section).rstrip("\n") + "\n" for section in old)


def _sections(text: str) -> list[str]:
    return [section for section in re.split(r"^(?=## )", text, flags=re.MULTILINE) if section.strip()]


def _heading(section: str) -> str:
    return section.partition("\n")[0]


def main() -> None:
    options = argparse.ArgumentParser(prog="bench")
    options.add_argument("part", nargs="?", choices=PARTS, help="run this alone and print it")
    options.add_argument("--write", action="store_true", help="with a part: write its sections into the report too")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=2.0)
    options.add_argument("--connections", type=int, default=64)
    options.add_argument("--out", type=Path, default=REPORT)
    chosen = options.parse_args()
    effort, before = Effort(chosen.rounds, chosen.seconds, chosen.connections), machine()
    os.sched_setaffinity(0, {LOAD_CPU})
    if chosen.part:
        section = run(chosen.part, effort)
        print(section)
        if chosen.write:
            measured = section.replace("\n\n", f"\n\nMeasured alone: {before}.\n\n", 1)
            chosen.out.write_text(replace_sections(chosen.out.read_text(), measured))
        return
    sections = [fill(heading(before, effort))]
    for name in PARTS:
        sections.append(run(name, effort))
        print(sections[-1], flush=True)  # what was measured is not lost where a later part fails
    chosen.out.write_text("\n".join(sections))


if __name__ == "__main__":
    main()
