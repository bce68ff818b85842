import shutil
import subprocess
from pathlib import Path

import pytest

from service.wiring.process import LAST_CALL_S

UNIT = Path(__file__).parents[2] / "release" / "verdict.service"

pytestmark = pytest.mark.unmeasured


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_finds_little_that_the_service_is_exposed_by() -> None:
    told = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15", UNIT],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Overall exposure level for verdict.service" in told.stdout


def test_the_service_may_end_in_its_own_time_before_it_is_killed() -> None:
    settings = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line and line[0] != "#")
    assert float(settings["TimeoutStopSec"]) > LAST_CALL_S
