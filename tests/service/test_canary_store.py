"""The password in a store's address: searched for in all that a service says on a server, that it loses, and at last
does not reach any more.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from service.__main__ import run
from tests.fakes.postgres import LOCKED, Server, locked_database, own_server, postgres_server
from tests.fakes.serving import Serving, environment, run_verdict, wait_until
from tests.service.canaries import RISK, Said, fetch, find_none, search

pytestmark = pytest.mark.process

PASSWORD = "store-Canary-7Tf3qLw9ZxR2"
HIDDEN = {"password": PASSWORD, "half of it": PASSWORD.partition("-")[2]}


def rows_of(server: Server, database: str) -> Said:
    """All that a database holds, as text."""
    for (table,) in server.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", database=database):
        rows = server.ask(f"SELECT row_to_json({table})::TEXT FROM {table}", database=database)  # noqa: S608 - a name
        yield table, "\n".join(text for (text,) in rows)


def losing(server: Server, address: str, service: Serving) -> Said:
    """What is said while the server is away, and when it is back and takes the password no more."""
    yield from rows_of(server, address.rpartition("/")[2])
    key = service.make_key("--tier", "pro")
    for way in (False, True):
        server.stop(politely=way)
        wait_until(lambda: service.ask(RISK, key)[0] == 503)
        yield from said_by(service, key)
        server.start()
        wait_until(lambda: service.ask(RISK, key)[0] == 200)
    server.ask(f"ALTER USER {LOCKED} PASSWORD 'another'")
    server.stop()
    server.start()
    wait_until(lambda: service.ask(RISK, key)[0] == 503)
    yield from said_by(service, key)


def said_by(service: Serving, key: str) -> Said:
    """An answer, as programs and as people are given it, and what commands say meanwhile."""
    for path in (RISK, "/api/keys", "/account", "/readyz"):
        for accept in ("application/json", "text/html"):
            yield path, fetch(service.port, "GET", path, Accept=accept, Authorization=f"Bearer {key}")
    for command in (("doctor",), ("doctor", "--json"), ("usage",)):
        done = run_verdict("admin", *command, **service.settings)
        yield " ".join(command), done.stdout + done.stderr


@pytest.mark.soak
@pytest.mark.promise("errors.upstream-redacted")
def test_what_opens_the_store_is_told_nobody_also_when_it_is_lost(tmp_path: Path) -> None:
    with own_server() as server, locked_database(server, PASSWORD, PASSWORD) as address:
        search(tmp_path / "data", HIDDEN, {"store": address}, partial(losing, server, address))


@pytest.fixture
def wrong() -> Iterator[str]:
    """An address whose password is refused."""
    with locked_database(postgres_server(), "another", PASSWORD) as address:
        yield address


NOWHERE = f"postgres://verdict:{PASSWORD}@127.0.0.1:1/verdict"
BROKEN = (
    f"postgres://verdict@127.0.0.1:1/verdict?password={PASSWORD}",
    f"postgres://verdict:a?{PASSWORD}@127.0.0.1:1/verdict",
    f"postgres://verdict:a#{PASSWORD}@127.0.0.1:1/verdict",
    f"postgres://verdict:1/{PASSWORD}@127.0.0.1:1/verdict",
    f"postgres://verdict:[{PASSWORD}@127.0.0.1:1/verdict",
    f"postgres://verdict:a@{PASSWORD}@127.0.0.1:1/verdict",
)


def commands(address: str, folder: Path) -> Iterator[tuple[str, ...]]:
    """Commands that open a store."""
    yield from (("doctor",), ("doctor", "--json"), ("doctor", "--repair"), ("usage",), ("backup", str(folder / "copy")))
    yield from (("keys", "list", "--json"), ("keys", "create", "--name", "a"), ("payments", "reconcile"))
    yield from (("migrate", address, str(folder / "to")), ("migrate", str(folder), address))
    yield ("migrate", address, address)


@pytest.fixture
def said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[str], Said]:
    """What those commands say of an address that nobody opens."""

    def ask(address: str) -> Said:
        settings = {"store": address, "data_dir": str(tmp_path), "source": "fixtures", "port": "0"}
        for command in commands(address, tmp_path):
            assert run(("admin", *command), environment(settings)) != 0, command
            yield " ".join(command[:2]), "".join(capfd.readouterr())
        # Not here: a service gives up what its process may do.
        done = run_verdict("serve", **settings)
        assert done.returncode != 0
        yield "serve", done.stdout + done.stderr

    return ask


def test_a_server_that_refuses_a_password_has_it_told_nobody(said: Callable[[str], Said], wrong: str) -> None:
    find_none(HIDDEN, said(wrong))


@pytest.mark.parametrize("address", [NOWHERE, *BROKEN], ids=lambda address: address.partition("//")[2][:16])
def test_a_server_that_is_not_there_or_not_well_named_has_its_password_told_nobody(
    said: Callable[[str], Said], address: str
) -> None:
    find_none(HIDDEN, said(address))
