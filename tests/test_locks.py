"""Locks: complete, by hash, and without known vulnerabilities. Resolved against the packages they installed."""

import re
import sys
import sysconfig
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
OWN = Path(sysconfig.get_path("purelib"))
ENVIRONMENTS = {
    "requirements.lock": "",
    "requirements-dev.lock": "",
    "requirements-tools.lock": "",
    "requirements-docs.lock": "site",
    "bench/openbb.lock": "openbb",
    "tests/chain/clients/python_v1.lock": "x402-v1",
}
"""Lock → the environment below `.venv` that it is installed in."""


def entries(lock: str) -> list[str]:
    text = re.sub(r"^\s*#.*\n", "", (ROOT / lock).read_text(), flags=re.MULTILINE)
    return re.split(r"^(?=[A-Za-z0-9])", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]


def pins(lock: str) -> dict[str, str]:
    """Name → version of the packages that this machine installs."""
    requirements = [Requirement(entry.partition("--hash")[0]) for entry in entries(lock)]
    assert all(re.fullmatch(r"==[^*,]+", str(each.specifier)) for each in requirements)
    chosen = [each for each in requirements if each.marker is None or each.marker.evaluate()]
    return {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in chosen}


def packages(environment: str) -> dict[str, Distribution]:
    folder = Path(sys.prefix) / environment
    paths = [OWN] if not environment else [*folder.glob("lib/python*/site-packages")]
    return {canonicalize_name(each.name): each for each in distributions(path=[str(path) for path in paths])}


def declared_extras() -> Iterator[tuple[str, str]]:
    """Extras that `pyproject.toml` asks for."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for group in (project["project"]["dependencies"], *project["dependency-groups"].values()):
        for requirement in map(Requirement, group):
            yield from ((canonicalize_name(requirement.name), extra) for extra in requirement.extras)


def unmet(pinned: Mapping[str, str], installed: Mapping[str, Distribution]) -> list[str]:
    """Requirements of pinned packages, and of the extras they use, that no pin meets."""
    found = []
    wanted = [(name, "") for name in pinned] + [pair for pair in declared_extras() if pair[0] in pinned]
    seen = {*wanted}
    while wanted:
        name, extra = wanted.pop()
        for requirement in map(Requirement, installed[name].requires or ()):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            needed = canonicalize_name(requirement.name)
            if needed not in pinned or not requirement.specifier.contains(pinned[needed], prereleases=True):
                found.append(f"{name}[{extra}] needs {requirement}, pinned is {pinned.get(needed)}")
                continue
            further = {(needed, each) for each in requirement.extras} - seen
            wanted += further
            seen |= further
    return found


@pytest.mark.parametrize("lock", ENVIRONMENTS)
def test_every_requirement_of_a_locked_package_is_met_by_the_same_lock(lock: str) -> None:
    pinned, installed = pins(lock), packages(ENVIRONMENTS[lock])
    if {name: installed[name].version for name in pinned if name in installed} != pinned:
        assert lock not in {"requirements.lock", "requirements-dev.lock"}, "make lint installs the development packages"
        pytest.skip(f"{lock} is not installed")
    around = pins("requirements-dev.lock") if lock == "requirements-tools.lock" else {}
    assert unmet({**around, **pinned}, installed) == []


def test_a_pin_that_is_missing_or_out_of_range_is_found() -> None:
    pinned, installed = pins("requirements-dev.lock"), packages("")
    assert unmet({**pinned, "yarl": "0.1"}, installed)
    del pinned["multidict"]
    assert any("needs multidict" in line for line in unmet(pinned, installed))


@pytest.mark.parametrize("lock", ENVIRONMENTS)
def test_every_package_is_locked_by_hash(lock: str) -> None:
    assert entries(lock)
    assert all("--hash=sha256:" in entry for entry in entries(lock))


def test_packages_are_installed_as_the_lock_says_without_resolving_again() -> None:
    recipe = (ROOT / "Makefile").read_text()
    assert "--no-deps --require-hashes --requirement" in recipe
    others = [*ROOT.glob("*.sh"), ROOT / "Makefile", ROOT / ".ci" / "run", ROOT / "release" / "Containerfile"]
    for line in (line for path in others for line in path.read_text().splitlines() if "pip install" in line):
        assert "--no-deps" in line and "--require-hashes" in line, line  # noqa: PT018 - one rule


def test_the_test_environment_has_the_versions_that_make_run_installs() -> None:
    run, dev = pins("requirements.lock"), pins("requirements-dev.lock")
    assert {name: dev.get(name) for name in run} == run
