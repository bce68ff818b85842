"""What the file is made of, for those who have to know: CycloneDX, of the wheels inside, by hashes and licences."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from release.staging import ROOT, Wheel


def write(wheels: Sequence[Wheel], target: Path, made_s: int) -> None:
    """Write the bill.

    Args:
        wheels: What is inside.
        target: The file.
        made_s: When it was made, seconds since 1970.

    Raises:
        CalledProcessError: If the list could not be made, or is not valid.
    """
    bill = json.loads(_listed(wheels, made_s))
    licences = {wheel.name: wheel.licences for wheel in wheels}
    for part in bill["components"]:
        part["licenses"] = licences[part["name"]]
    target.write_text(json.dumps(bill, indent=2) + "\n")


def _listed(wheels: Sequence[Wheel], made_s: int) -> str:
    """The bill without licences, which a list of names and hashes does not hold."""
    lines = "".join(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels)
    quietly = ["-W", "ignore::UserWarning"]  # a lock is a list: who asked for whom, which it misses, is not in it
    command = [sys.executable, *quietly, "-m", "cyclonedx_py", "requirements", "--output-reproducible", "--validate"]
    return subprocess.run(  # noqa: S603 - with nothing that is not written here
        [*command, "--pyproject", ROOT / "pyproject.toml", "-"],
        input=lines,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={"SOURCE_DATE_EPOCH": str(made_s)},
    ).stdout
