"""How well spoken words are tagged: `python -m tests.transcripts.evaluate [--show]` (`make eval`)."""

import argparse
import sys
from collections.abc import Iterator, Sequence

from service.transcripts.tagging import Tagger
from tests.transcripts.evaluation import (
    HALVES,
    PRACTICE,
    STRANGER,
    Counts,
    Result,
    categories,
    judge,
    known,
    segments,
)

TUNED = ("dev", "practice")
"""What may be tuned on; misses of anything else are never looked at."""


def ours(half: str) -> Result:
    return judge(segments(half), Tagger(known(), categories()).tag)


def report(half: str, *, show: bool) -> Iterator[str]:
    result = ours(half)
    yield f"{half}: {len(segments(half))} segments of talk"
    yield from (line(kind, counts) for kind, counts in (("all tags", result.all), *result.of.items()))
    if show and half in TUNED:
        for miss in result.misses:
            yield f"    {miss.kind}: wrong {sorted(miss.wrong)}, missing {sorted(miss.missing)}: {miss.text}"


def line(kind: str, counts: Counts) -> str:
    return (
        f"  {kind:<9} precision {counts.precision:6.1%}   recall {counts.recall:6.1%}"
        f"   right {counts.right:3}   wrong {counts.wrong:3}   missing {counts.missing:3}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.transcripts.evaluate", description=__doc__)
    parser.add_argument("--show", action="store_true", help="list the misses of what may be tuned on")
    show = parser.parse_args(arguments).show
    for half in (*HALVES, PRACTICE, STRANGER):
        sys.stdout.write("\n".join(report(half, show=show)) + "\n\n")


if __name__ == "__main__":
    main()
