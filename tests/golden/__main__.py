"""Records the answers anew and prints how they differ from those recorded before: `make golden`."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes.inline import run_inline
from tests.golden.answers import difference, path_of, recorded, written
from tests.golden.parts import PARTS


def main(names: Sequence[str]) -> int:
    """Record parts by name, or all of them; return 1 if anything differs."""
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"There is no part {', '.join(sorted(unknown))}. There are: {', '.join(PARTS)}.", file=sys.stderr)  # noqa: T201
        return 2
    run_inline()
    logging.disable()
    differs = False
    for part in names or PARTS:
        with TemporaryDirectory() as folder:
            for name, answers in PARTS[part](Path(folder)).items():
                before, after = recorded(name), written(answers)
                changed = difference(before, after)
                differs |= before != after
                print(f"{name}: {len(answers)} answers, {'changed' if before != after else 'as before'}")  # noqa: T201
                if before != after:
                    print(changed)  # noqa: T201
                    path_of(name).write_text(after, "utf-8")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
