"""OpenBB's API server, in an environment of its own: its dependencies are none of ours."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.serving import HOST, ROOT, Contender, serving

PYTHON = ROOT / ".venv" / "openbb" / "bin" / "python"
NAME = "OpenBB's API server, nothing metered"
_ENTRY_POINTS = "[openbb_core_extension]\nbench = openbb_stack:router\n"
_METADATA = "Metadata-Version: 2.1\nName: openbb-bench\nVersion: 1\n"


def missing() -> str | None:
    """Why it cannot be measured; None where it can."""
    if (PYTHON.parent / "openbb-build").exists():
        return None
    return "`openbb-core` is not in `.venv/openbb` (`make bench` installs `bench/openbb.lock` there)"


@contextmanager
def openbb(folder: Path) -> Iterator[Contender]:
    """Start it with one route of ours: laid beside a description that says it is an extension."""
    home = folder / "openbb"
    described = home / "openbb_bench-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(_METADATA)
    (described / "entry_points.txt").write_text(_ENTRY_POINTS)
    module = shutil.copy(Path(__file__).with_name("openbb_stack.py"), home)
    environ = {"HOME": str(home), "PYTHONPATH": str(home)}
    asked = f"GET /api/v1/bench/risk?symbol=BTC HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
    with serving([str(module)], environ, python=PYTHON) as server:
        yield Contender(NAME, server.port, asked)
