"""The file, on a machine that has a Python and nothing else."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from service.settings import Settings
from service.upstream.fixture_set import read_set
from tests.fakes.serving import PATIENCE_S, Serving, ended, wait_until
from tests.release.conftest import Machine
from tests.release.elsewhere import Elsewhere, type_in
from tests.service.walking import walkers

RISK = "/api/cli/coin/risk/BTC"
ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600), pytest.mark.process]


@contextmanager
def started(machine: Machine, data_dir: Path, *arguments: str) -> Iterator[Serving]:
    assert type_in([str(machine.file), "--help"], machine.environ).returncode == 0  # it unpacks in its own time
    running = Elsewhere([str(machine.file)], machine.environ, *arguments, data_dir=str(data_dir))
    with ended(running):
        running.wait_for("ready")
        yield running


def test_the_file_helps_serves_what_is_recorded_in_it_and_answers_for_a_key(machine: Machine, tmp_path: Path) -> None:
    helped = type_in([str(machine.file), "--help"], machine.environ)
    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.startswith("Usage: verdict")
    with started(machine, tmp_path / "data") as running:
        assert running.ask("/readyz")[0] == 200
        assert running.ask(RISK)[0] == 403
        status, headers, answer = running.ask(RISK, running.make_key("--tier", "pro"))
        assert (status, headers["x-data-source"]) == (200, "fixtures")
        assert answer["data"]["symbol"] == "BTC"
        assert running.stop() == 0
    kept = [path.relative_to(machine.home).parts[:2] for path in machine.home.rglob("*")]
    assert {parts for parts in kept if len(parts) > 1} == {(".cache", "verdict")}


def test_the_wheel_holds_the_service_and_the_recorded_data(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob("verdict-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    look = (
        "from service.settings import Settings; from service.upstream.fixture_set import read_set; "
        "folder = Settings().fixtures_dir; print(folder, len(read_set(folder)[1]))"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", look],
        cwd="/",
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    folder, count = done.stdout.split()
    assert Path(folder) == tmp_path / "fixtures" / "upstream"
    assert int(count) == len(read_set(Settings().fixtures_dir)[1])
    (points,) = tmp_path.glob("verdict-*.dist-info/entry_points.txt")
    assert "verdict = service.__main__:main" in points.read_text()
    kept = {path.relative_to(ROOT) for path in (ROOT / "service").rglob("*") if path.is_file()}
    kept = {path for path in kept if "__pycache__" not in path.parts}
    assert kept == {path.relative_to(tmp_path) for path in (tmp_path / "service").rglob("*") if path.is_file()}


async def test_an_agent_asks_it_over_standard_input_and_output(machine: Machine, tmp_path: Path) -> None:
    with started(machine, tmp_path / "data") as running:
        key = running.make_key("--tier", "pro")
        person = {"VERDICT_URL": f"http://127.0.0.1:{running.port}", "VERDICT_TOKEN": key}
        server = StdioServerParameters(
            command=str(machine.file), args=["mcp"], env={**machine.environ, **person}, cwd="/"
        )
        async with Client(stdio_client(server), mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
            listed = (await client.list_tools()).tools
            called = await client.call_tool("coin_risk", {"symbol": "BTC"})
    assert len(listed) == 13
    assert not called.is_error


def test_workers_and_walk_forwards_run_out_of_the_same_file(machine: Machine, tmp_path: Path) -> None:
    with started(machine, tmp_path / "data", "--workers", "2") as running:
        leads = int(running.wait_for("This process is the leader and fetches from upstreams.")["process_id"])
        wait_until(lambda: walkers(leads) != set(), 300)  # a walk-forward begins a minute after the start
        running.wait_for("listening", 2)
        running.wait_for("ready", 2)
        assert running.ask("/readyz")[0] == 200
        assert [line for line in running.lines if "Traceback" in line or "No module" in line] == []
        assert running.stop() == 0


def test_two_first_starts_at_once_unpack_it_once(machine: Machine) -> None:
    command = [str(machine.file), "coin", "risk", "--help"]
    both = [subprocess.Popen(command, env=dict(machine.environ), stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait(2 * PATIENCE_S) for one in both] == [0, 0]
    cache = machine.home / ".cache" / "verdict"
    assert len([path for path in cache.iterdir() if path.is_dir()]) == 1


def is_killed_while_it_unpacks(machine: Machine, cache: Path) -> bool:
    """Start it, and kill it at its first files; whether that was before it had unpacked all of them."""
    with subprocess.Popen([str(machine.file), "--help"], env=dict(machine.environ), stdout=subprocess.DEVNULL) as first:
        while first.poll() is None and not list(cache.glob("*.tmp/site-packages/a*")):
            pass
        first.kill()
    return first.returncode == -signal.SIGKILL


def test_what_a_killed_start_left_half_unpacked_is_unpacked_again(machine: Machine) -> None:
    cache = machine.home / ".cache" / "verdict"
    while not is_killed_while_it_unpacks(machine, cache):
        shutil.rmtree(cache)
    assert type_in([str(machine.file), "--help"], machine.environ).returncode == 0


def test_another_python_and_a_folder_that_takes_nothing_are_refused_in_a_line(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "no folder").touch()
    refused = type_in([str(machine.file)], {**machine.environ, "SHIV_ROOT": str(tmp_path / "no folder" / "x")})
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"verdict: cannot unpack into {tmp_path / 'no folder' / 'x'} (Not a directory)")
    other = "import importlib.machinery, runpy, sys; importlib.machinery.EXTENSION_SUFFIXES[:] = ['.cpython-399.so']; "
    run = f"sys.argv = [{str(machine.file)!r}]; sys.path[0] = sys.argv[0]; runpy.run_path(sys.argv[0])"
    refused = type_in([sys.executable, "-c", other + run], machine.environ)
    assert refused.returncode == 1
    assert refused.stderr.startswith("verdict: this file is for Python 3.")


AS_SOMEBODY = ["setpriv", "--reuid=10001", "--regid=10001", "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
NEEDED = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/"}
PYTHON = [f"python{sys.version_info.major}.{sys.version_info.minor}", "-c", ""]


def root_for_everybody() -> bool:
    """Whether this is root, and there is a Python like this one that others may start."""
    if os.geteuid() or not shutil.which("setpriv"):
        return False
    return (
        subprocess.run(["env", *AS_SOMEBODY, *PYTHON], env=NEEDED, stderr=subprocess.DEVNULL, check=False).returncode
        == 0
    )


@pytest.mark.skipif("not root_for_everybody()", reason="needs root, setpriv, and this Python where others may start it")
def test_what_the_container_unpacks_as_root_is_run_by_its_user_who_may_write_nothing_but_data(dist: Path) -> None:
    text = (LOCK.parent / "release" / "Containerfile").read_text()
    steps = [json.loads(line) for line in re.findall(r"^RUN (.*)$", text, re.MULTILINE)]
    with TemporaryDirectory(prefix="verdict-container-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        shutil.copy2(dist / "verdict", root)
        here = {"/usr/local/bin/verdict": f"{root}/verdict", "/opt/verdict": f"{root}/opt", "/data": f"{root}/data"}
        environ = {**NEEDED, "SHIV_ROOT": here["/opt/verdict"]}
        for step in steps:
            assert type_in([here.get(word, word) for word in step], environ).returncode == 0
        unpacked = {path: path.stat().st_mtime_ns for path in (root / "opt").rglob("*")}
        running = Elsewhere([*AS_SOMEBODY, here["/usr/local/bin/verdict"]], environ, data_dir=here["/data"])
        with ended(running):
            running.wait_for("ready")
            assert running.ask(RISK, running.make_key("--tier", "pro"))[0] == 200
            assert running.stop() == 0
        assert {path: path.stat().st_mtime_ns for path in (root / "opt").rglob("*")} == unpacked
        assert {path.stat().st_uid for path in (root / "data").rglob("*")} == {10001}
        (root / "opt").chmod(0o700)
        refused = type_in([*AS_SOMEBODY, here["/usr/local/bin/verdict"], "--help"], environ)
    assert (refused.returncode, refused.stderr.split(":")[0]) == (1, "verdict")
    assert f"cannot unpack into {root}/opt (Permission denied)" in refused.stderr


def test_the_same_commit_makes_the_same_bytes_and_sums_and_bill_name_them(dist: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "release.build", tmp_path], timeout=540, check=True, capture_output=True)
    made = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir()}
    again = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    assert made == again
    sums = [line.split() for line in (dist / "SHA256SUMS").read_text().splitlines()]
    assert {name: digest for digest, name in sums} == {
        name: digest for name, digest in made.items() if name != "SHA256SUMS"
    }
    assert len(sums) == 3
    told = (dist / "verdict.cdx.json").read_text()
    bill = json.loads(told)
    lock = LOCK.read_text()
    assert len(bill["components"]) > 50
    schema = pytest.importorskip("cyclonedx.schema").SchemaVersion.from_version(bill["specVersion"])
    assert pytest.importorskip("cyclonedx.validation.json").JsonStrictValidator(schema).validate_str(told) is None
    for part in bill["components"]:
        assert [entry.get("expression") or entry["license"] for entry in part["licenses"]], part["name"]
        assert f"{part['name']}=={part['version']}" in lock
        hashes = [entry["content"] for found in part["externalReferences"] for entry in found.get("hashes", [])]
        assert hashes
        assert all(f"sha256:{digest}" in lock for digest in hashes)


def test_nothing_of_the_machine_that_made_it_is_in_it(dist: Path, machine: Machine) -> None:
    assert type_in([str(machine.file), "--help"], machine.environ).returncode == 0
    here = os.fsencode(Path.cwd())
    for path in (machine.home / ".cache").rglob("*"):
        if path.is_file() and path.suffix in {".py", ".pyc", ".json", ""}:
            assert here not in path.read_bytes(), path
