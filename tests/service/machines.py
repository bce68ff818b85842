"""Three machines, as far as one can be three: a process and a data folder each, one server that keeps for them all."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copy

from service.access.secrets import FILE_NAME, open_secrets
from tests.fakes.serving import Serving, ended, run_verdict, wait_until
from tests.service.asking import Still

RISK = "/api/cli/coin/risk/BTC"
FAST = {"rate_per_minute": "1000000", "rate_burst": "1000000"}
LEADS = "This process is the leader and fetches from upstreams."


@contextmanager
def machines(folder: Path, address: str, count: int = 3) -> Iterator[list[Serving]]:
    """Services that are ready; their secrets are copied by hand, as the README says."""
    (folder / "secrets").mkdir()
    open_secrets(folder / "secrets")
    with ExitStack() as stack:
        running = [stack.enter_context(machine(folder, address, number)) for number in range(count)]
        for service in running:
            service.wait_for("ready")
        yield running


@contextmanager
def machine(folder: Path, address: str, number: int) -> Iterator[Serving]:
    """One of them, as it starts; a second time, it is started again."""
    data_dir = folder / f"machine-{number}"
    data_dir.mkdir(exist_ok=True)
    copy(folder / "secrets" / FILE_NAME, data_dir)
    with ended(service := Still(data_dir=str(data_dir), store=address, **FAST)):
        yield service


def key_on(service: Serving, *arguments: str) -> str:
    """Make a key there; again, where a start that fills the store kept it waiting for too long."""
    made: list[str] = []

    def make() -> bool:
        done = run_verdict("admin", "keys", "create", "--name", "test", "--json", *arguments, **service.settings)
        made.append(done.stdout)
        return done.returncode == 0

    wait_until(make)
    return str(json.loads(made[-1])["key"])


def leaders(running: list[Serving]) -> list[Serving]:
    """Those that have said that they fetch."""
    return [service for service in running if any(record["message"] == LEADS for record in service.records)]


def counted(service: Serving) -> int:
    """The questions of all users, as an operator sees them on any machine."""
    usage = json.loads(service.verdict("admin", "usage", "--json").stdout)
    return sum(row["total"] for row in usage["users"])
