"""`python -m tests.soak.report [FIGURES]`: write into RELIABILITY.md what soak tests have counted.

The part of the page between two marks is made anew from the figures; what stands around it is left alone. Runs in
pieces add up: numbers of the same test are summed, over the seeds it was run with.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from tests.soak.plugin import FIGURES, ROOT, Figure
from tests.soak.rows import ROWS, Row

PAGE: Final = ROOT / "RELIABILITY.md"
BEGIN: Final = "<!-- made by `python -m tests.soak.report` from here -->"
END: Final = "<!-- to here -->"
HEAD: Final = "| Fault | What must be so | Counted | Tests | Violations |\n| --- | --- | --- | ---: | ---: |"
UNRUN: Final = "in `make check` alone"


def read_figures(path: Path) -> list[Figure]:
    """Every line that was kept."""
    return [msgspec.json.decode(line, type=Figure) for line in path.read_bytes().splitlines()]


def written(figures: Sequence[Figure]) -> str:
    """The part of the page that is made."""
    lines = [ran(figures), "", HEAD, *(row_line(row, of_row(figures, row)) for row in ROWS)]
    failed = [figure for figure in figures if figure.outcome == "failed"]
    lines += ["", *(f"- `{each.test}`, seed {each.seed}, {each.at}: {each.violation}" for each in failed)]
    return "\n".join(lines).strip()


def ran(figures: Sequence[Figure]) -> str:
    """When, of what and from which seeds the figures are."""
    if not figures:
        return "Not run yet."
    first, last = min(figure.at for figure in figures), max(figure.at for figure in figures)
    commits, seeds = ({getattr(figure, name) for figure in figures} for name in ("commit", "seed"))
    hours = sum(figure.seconds for figure in figures) / 3_600
    return (
        f"Figures of {first[:16]}Z to {last[:16]}Z, commit {', '.join(sorted(commits))}, "
        f"seeds {', '.join(map(str, sorted(seeds)))}; {hours:.1f} hours of tests."
    )


def of_row(figures: Iterable[Figure], row: Row) -> list[Figure]:
    return [figure for figure in figures if row.id in figure.rows and figure.outcome != "skipped"]


def row_line(row: Row, figures: Sequence[Figure]) -> str:
    """A row of the table."""
    told = "; ".join(f"{number(count)} {name}" for name, count in counted(figures).items()) or UNRUN
    if figures and told == UNRUN:
        told = "-"
    tests = len({figure.test for figure in figures}) or ""
    violations = sum(figure.outcome == "failed" for figure in figures) if figures else ""
    return f"| {row.fault} | {row.invariant} | {told} | {tests} | {violations} |".replace("  |", " |")


def counted(figures: Iterable[Figure]) -> dict[str, float]:
    """What tests of a row have counted together; of what is longest, the longest."""
    together: Counter[str] = Counter()
    longest: dict[str, float] = {}
    for figure in figures:
        for name, count in figure.counts.items():
            if name.startswith("longest"):
                longest[name] = max(count, longest.get(name, 0))
            else:
                together[name] += count
    return dict(together) | longest


def number(count: float) -> str:
    return f"{count:,}"


def main(figures: Path = FIGURES, page: Path = PAGE) -> None:
    """Write the page."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, mark, after = rest.partition(END)
    assert mark, f"{page.name} has lost its marks"
    page.write_text(f"{before}{BEGIN}\n\n{written(read_figures(figures))}\n\n{END}{after}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
