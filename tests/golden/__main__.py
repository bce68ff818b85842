"""Record the golden answers again and print the difference: `make golden`."""

import logging
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes.inline import run_inline
from tests.golden.answers import difference, path_of, recorded, written
from tests.golden.parts import PARTS


def main(names: Sequence[str]) -> int:
    """Record parts by name, or all of them, two at a time."""
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"There is no part {', '.join(sorted(unknown))}. There are: {', '.join(PARTS)}.", file=sys.stderr)  # noqa: T201
        return 2
    with ProcessPoolExecutor(2, initializer=_prepare) as pool:
        for texts in pool.map(_record, names or PARTS):
            for name, (count, after) in texts.items():
                before = recorded(name)
                print(f"{name}: {count} answers, {'as before' if before == after else 'changed'}")  # noqa: T201
                if before != after:
                    print(difference(before, after))  # noqa: T201
                    path_of(name).write_text(after, "utf-8")
    return 0


def _prepare() -> None:
    run_inline()
    logging.disable()


def _record(part: str) -> Mapping[str, tuple[int, str]]:
    """Number and text of the answers of each file."""
    with TemporaryDirectory() as folder:
        made = PARTS[part](Path(folder))
    return {name: (len(answers), written(answers)) for name, answers in made.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
