import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from service.wiring.process import LAST_CALL_S

RELEASE = Path(__file__).parents[2] / "release"
UNIT = RELEASE / "verdict.service"
OPERATOR = RELEASE / "verdict-operator"


@pytest.mark.machine
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


def settings(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#")


def test_the_service_may_end_in_its_own_time_before_it_is_killed() -> None:
    assert float(settings(UNIT.read_text())["TimeoutStopSec"]) > LAST_CALL_S


def test_the_start_itself_fails_where_the_file_is_not_there() -> None:
    assert settings(UNIT.read_text())["Type"] == "exec"


def test_an_operators_commands_run_as_the_service_does_and_leave_its_folders_as_they_are() -> None:
    unit, text = settings(UNIT.read_text()), OPERATOR.read_text()
    given = dict(re.findall(r"--property='?(\w+)=([^'\n]*?)'? \\\n", text))
    shared = {"DynamicUser", "User", "StateDirectory", "StateDirectoryMode", "CacheDirectory", "CacheDirectoryMode"}
    assert set(given) == shared | {"UMask", "Environment", "EnvironmentFile"}
    assert given == {name: unit[name] for name in given}
    assert f'{unit["ExecStart"].removesuffix(" serve")} "$@"' in text


@pytest.mark.process
def test_what_is_asked_of_the_operators_script_reaches_systemd_word_by_word(tmp_path: Path) -> None:
    stand_in = tmp_path / "systemd-run"
    stand_in.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\nexit 3\n')
    stand_in.chmod(0o755)
    asked = ["admin", "keys", "create", "--name", "a name of two"]
    environ = {"PATH": f"{tmp_path}{os.pathsep}/bin"}
    told = subprocess.run([OPERATOR, *asked], env=environ, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert told.returncode == 3
    words = told.stdout.splitlines()
    assert words[-5:] == ["/usr/local/bin/verdict", *asked]
    assert {"--pipe", "--wait", "--property=Environment=" + settings(UNIT.read_text())["Environment"]} <= set(words)
