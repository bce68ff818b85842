"""Whether the service lives with what `verdict.service` leaves it, seen from what it asks the kernel for."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.serving import Serving, ended, wait_until
from tests.service.walking import walkers

UNIT = Path(__file__).parents[2] / "release" / "verdict.service"
RISK = "/api/cli/coin/risk/BTC"

HARMLESS = {"capset", "setrlimit", "chown", "fchown", "lchown", "mbind"}
"""Refused with an error that nobody looks at: nothing is left to drop, owners and memory are right as they are."""

WALK_S = 150.0
"""Longest wait for a walk-forward, which begins a minute after the start, and for its end."""

MAPPING = {"mmap", "mprotect"}
"""Refused where memory would be both written and executed."""

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(400),
    pytest.mark.skipif(
        shutil.which("strace") is None or shutil.which("systemd-analyze") is None, reason="no strace or no systemd here"
    ),
    pytest.mark.machine,
    pytest.mark.wall,
]


def members(*names: str) -> set[str]:
    """The system calls of groups, groups in them opened."""
    if not names:  # which would list all there are
        return set()
    told = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", *names],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = {line.strip() for line in told.stdout.splitlines() if re.match(r"\s+[@_a-z]", line)}
    groups = {name for name in found if name.startswith("@")}
    return (found - groups) | members(*groups)


def denied() -> set[str]:
    """What the unit's filters leave out."""
    allowed: set[str] = set()
    for taken, listed in re.findall(r"^SystemCallFilter=(~?)(.*)$", UNIT.read_text(), re.MULTILINE):
        words = listed.split()
        named = {word for word in words if word[0] != "@"} | members(*(word for word in words if word[0] == "@"))
        allowed = allowed - named if taken else allowed | named
    return members("@known") - allowed


class Watched(Serving):
    """The service, with what it is not to ask the kernel for written down."""

    def command(self) -> list[str]:
        calls = ",".join(f"?{name}" for name in sorted(denied() | MAPPING))
        into = self.settings["data_dir"] + ".calls"
        return [
            "strace",
            "--daemonize",
            "--follow-forks",
            "--seccomp-bpf",
            f"--output={into}",
            f"--trace={calls}",
            sys.executable,
            "-m",
            "service",
        ]


def test_serving_and_walking_forward_need_no_call_that_the_unit_refuses(tmp_path: Path) -> None:
    data, told = tmp_path / "data", tmp_path / "data.calls"
    assert {"mount", "ptrace", "reboot", "setuid", "bpf"} <= denied()
    with ended(running := Watched(data_dir=str(data))):
        running.wait_for("ready")
        key = running.make_key("--tier", "pro")
        assert running.ask(RISK, key)[0] == 200
        service = running.process.pid
        wait_until(lambda: walkers(service) != set(), WALK_S)
        wait_until(lambda: walkers(service) == set(), WALK_S)
        running.wait_for("Walk-forward finished")
        assert running.stop() == 0
        wait_until(lambda: re.search(rf"^{service} +\+\+\+ exited", told.read_text(), re.MULTILINE) is not None)
    asked = re.findall(r"^\d+ +(\w+)\((.*)", told.read_text(), re.MULTILINE)
    assert {call for call, _ in asked} - MAPPING <= HARMLESS
    assert [given for call, given in asked if call == "mmap" and "PROT_WRITE|PROT_EXEC" in given] == []
    assert [given for call, given in asked if call == "mprotect" and "PROT_EXEC" in given] == []
