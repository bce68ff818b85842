"""What a newcomer types."""

import http.client
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.serving import PATIENCE_S, environment

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.skipif(shutil.which("make") is None, reason="no make here"), pytest.mark.process]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a clone holds that `make` reads."""
    copy = tmp_path / "clone"
    copy.mkdir()
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock")):
        shutil.copy2(path, copy)
    return copy


@pytest.fixture
def installed(clone: Path) -> Iterator[Path]:
    """The same after `pip` has done its part."""
    for name in ("service", "fixtures"):
        (clone / name).symlink_to(ROOT / name)
    venv = clone / ".venv"
    venv.mkdir()
    for inner in Path(sys.prefix).iterdir():
        if inner.name in {"bin", "lib", "lib64", "pyvenv.cfg"}:
            (venv / inner.name).symlink_to(inner)
    (venv / "run").touch()
    yield clone
    shutil.rmtree(clone / ".data", ignore_errors=True)


def make(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    outer = {name: value for name, value in environment(settings).items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=outer, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_make_alone_lists_every_target_with_what_it_does(clone: Path) -> None:
    listed = make(clone)
    targets = re.findall(r"^([a-z-]+):.*## (.*)$", (clone / "Makefile").read_text(), re.MULTILINE)
    assert listed.returncode == 0
    assert [tuple(line.split(None, 2)[1:]) for line in listed.stdout.splitlines()] == targets
    assert {"help", "run", "test", "lint", "coverage", "bench", "soak"} <= {name for name, _ in targets}


@pytest.mark.promise("run.make-run")
def test_make_run_in_a_bare_clone_makes_the_environment_and_installs_the_lock_by_hash(clone: Path) -> None:
    steps = make(clone, "-n", "run").stdout
    order = [r"-m venv \.venv", r"--require-hashes --requirement requirements\.lock", r"-m service serve --first-key"]
    found = [re.search(step, steps) for step in order]
    assert all(found), steps
    assert [match.start() for match in found if match] == sorted(match.start() for match in found if match)
    assert "VERDICT_SOURCE='fixtures'" in steps
    assert f"VERDICT_DATA_DIR='{clone}/.data'" in steps
    assert "://" not in re.sub(r"echo '.*'", "", steps)


@pytest.mark.promise("run.make-test")
def test_make_test_in_a_bare_clone_installs_the_development_lock_and_runs_tests(clone: Path) -> None:
    steps = make(clone, "-n", "test").stdout
    for step in ("--requirement requirements-dev.lock", "-m pytest"):
        assert step in steps


def test_make_lint_checks_style_format_and_types(clone: Path) -> None:
    steps = make(clone, "-n", "lint").stdout
    for step in ("--requirement requirements-dev.lock", "ruff check", "ruff format --check", "mypy"):
        assert step in steps


def test_the_command_runs_from_a_clone_wherever_one_stands_and_whatever_the_clone_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "a clone"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (folder / ".venv" / "lib").symlink_to(Path(sys.prefix) / "lib")
    shutil.copy2(Path(sys.prefix) / "pyvenv.cfg", folder / ".venv")
    (folder / "service").symlink_to(ROOT / "service")
    shutil.copy2(ROOT / "Makefile", folder)
    assert make(folder, ".venv/bin/verdict").returncode == 0
    (tmp_path / "verdict").symlink_to(folder / ".venv" / "bin" / "verdict")
    for command in (folder / ".venv" / "bin" / "verdict", tmp_path / "verdict"):
        done = subprocess.run(
            [command, "coin", "risk", "--help"],
            cwd=tmp_path,
            env=environment({}),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Usage: verdict coin risk")


def test_make_soak_is_long_and_tells_of_it_unless_it_is_asked_to_be_short(clone: Path) -> None:
    long, short = make(clone, "-n", "soak", "SEED=5").stdout, make(clone, "-n", "soak", "SOAK=short").stdout
    assert "-m 'soak or fault' --soak long --seed 5" in long
    assert "tests.soak.report" in long
    assert "-m 'soak' --soak short" in short
    assert "tests.soak.report" not in short


def test_make_chain_installs_what_the_official_clients_need_from_locks_and_pays_with_them(clone: Path) -> None:
    clients = clone / "tests" / "chain" / "clients"
    clients.mkdir(parents=True)
    for name in ("python_v1.lock", "package-lock.json"):
        shutil.copy2(ROOT / "tests" / "chain" / "clients" / name, clients)
    steps = make(clone, "-n", "chain").stdout
    for step in ("--require-hashes --requirement tests/chain/clients/python_v1.lock", "npm ci", "-m chain tests/chain"):
        assert step in steps


def test_make_browser_installs_what_it_needs_from_a_lock_and_drives_the_pages(clone: Path) -> None:
    browser = clone / "tests" / "browser"
    browser.mkdir(parents=True)
    shutil.copy2(ROOT / "tests" / "browser" / "package-lock.json", browser)
    steps = make(clone, "-n", "browser").stdout
    for step in ("cd tests/browser && npm ci", "-m browser tests/browser"):
        assert step in steps


def test_a_landing_is_checked_by_lint_tests_gate_and_site() -> None:
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-4:] == ["make lint", "make test", "make gate", "make docs"]


def test_every_marker_belongs_to_one_target(clone: Path) -> None:
    apart, system = "chain or browser or soak", "process or wall or machine"
    recipes = {target: make(clone, "-n", target).stdout for target in ("test", "slow", "system", "gate")}
    assert f"-m 'not ({apart} or {system} or slow or recorded)'" in recipes["test"]
    assert f"-m '(slow or recorded) and not ({apart} or {system})'" in recipes["slow"]
    assert f"-m '({system}) and not ({apart})'" in recipes["system"]
    assert "-m gate" in recipes["gate"]


def test_make_check_names_a_tool_that_is_missing(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    refused = make(clone, "tools-present", f"SHELL={tmp_path / 'sh'}", PATH=str(tmp_path))
    assert refused.returncode != 0
    assert "make check needs chromium. Install it" in refused.stderr


def test_make_docs_installs_its_lock_by_hash_and_fails_on_any_broken_link(clone: Path) -> None:
    steps = make(clone, "-n", "docs").stdout
    for step in ("--require-hashes --requirement requirements-docs.lock", "mkdocs build --strict"):
        assert step in steps


def test_a_python_that_is_too_old_or_missing_is_refused_with_what_to_do(clone: Path) -> None:
    refused = make(clone, "run", "PYTHON=")
    assert refused.returncode != 0
    assert "Verdict needs Python 3.11 or newer" in refused.stderr
    assert not (clone / ".venv").exists()


def test_a_python_without_venv_is_refused_with_the_package_to_install(clone: Path) -> None:
    (clone / "python-without-venv").write_text("#!/bin/sh\nexit 1\n")
    (clone / "python-without-venv").chmod(0o755)
    refused = make(clone, "run", "PYTHON=./python-without-venv")
    assert refused.returncode != 0
    assert "sudo apt install python3-venv" in refused.stderr
    assert not (clone / ".venv").exists()


@pytest.mark.promise("run.make-run")
def test_make_run_prints_a_key_and_a_line_that_is_answered_and_stops_on_a_signal(installed: Path) -> None:
    outer = {name: value for name, value in environment({"port": "0"}).items() if not name.startswith("MAKE")}
    with subprocess.Popen(
        ["make", "run"], cwd=installed, env=outer, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        said = ""
        try:
            while "\nReady: " not in said and running.poll() is None:
                said += running.stdout.readline()
            found = re.search(r"curl -s -H 'Authorization: (Bearer \S+)' http://(127\.0\.0\.1:\d+)(/\S+)", said)
            assert found, said
            connection = http.client.HTTPConnection(found[2], timeout=PATIENCE_S)
            connection.request("GET", found[3], headers={"Authorization": found[1]})
            assert connection.getresponse().status == 200
            connection.close()
        finally:
            running.send_signal(signal.SIGTERM)
            running.communicate(timeout=PATIENCE_S)


@pytest.mark.promise("run.quiet")
def test_an_install_that_fails_shows_the_error_and_what_to_do_and_no_warning(installed: Path) -> None:
    (installed / ".venv" / "run").unlink()
    (installed / "requirements.lock").write_text(f"verdict-not-published==1 --hash=sha256:{'0' * 64}\n")
    outer = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(installed / "missing"), "PIP_ROOT_USER_ACTION": "warn"}
    done = subprocess.run(
        ["make", ".venv/run"],
        cwd=installed,
        env={**environment({}), **outer},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode != 0
    assert "No matching distribution found for verdict-not-published" in done.stderr
    assert "Installing requirements.lock failed (the reason is above). Check the connection" in done.stderr
    assert "WARNING" not in done.stdout + done.stderr
