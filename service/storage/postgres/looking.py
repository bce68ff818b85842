"""Long looks at a server: one snapshot, a connection and an event loop of their own."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from service.settings import Secret
from service.storage.engine import Connection
from service.storage.postgres.connection import READING, LookingConnection, dial
from service.storage.postgres.failures import told_as_ours


@contextmanager
def looking(address: Secret) -> Iterator[Connection]:
    """A connection that only reads, at one snapshot. Not on a thread whose event loop runs.

    Args:
        address: The server's address.

    Raises:
        DatabaseError: If the server cannot be read.
    """
    with asyncio.Runner() as runner:
        with told_as_ours():
            dialled = runner.run(dial(address, "look", READING))
        connection = LookingConnection(runner.get_loop(), dialled)
        try:
            connection.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield cast("Connection", connection)
        finally:
            connection.close()
