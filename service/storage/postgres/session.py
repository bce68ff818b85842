"""The writer's transactions on a PostgreSQL server."""

import asyncio
from typing import Final, TypeVar

from service.settings import Secret
from service.storage.engine import DatabaseError, error_name, is_store_failing
from service.storage.postgres.connection import WRITING, ServerConnection, dial
from service.storage.postgres.errors import as_database_errors, lost
from service.storage.postgres.schema import TURN
from service.storage.writer import TransactionError, Work

T = TypeVar("T")

_BEGIN_S: Final = 1.0
"""How long a server may take to begin a transaction, before it is asked over a new connection."""

_FIRST_PAUSE_S: Final = 0.05
_MAX_PAUSE_S: Final = 1.0


class ServerSession:
    """Transactions on one connection; it reconnects when the connection is lost.

    Args:
        address: The server's address.

    Attributes:
        foreign_commits: Grows whenever cached contents of the database may be outdated.
    """

    def __init__(self, address: Secret) -> None:
        self.foreign_commits = 0
        self._address = address
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._connection: ServerConnection | None = None
        self._open: ServerConnection  # of the transaction that was begun
        self._turn = 0
        self._known: int | None = None  # the last turn after which nothing has happened that we have not seen
        self._saved = False
        self._pause_s = 0.0
        self._not_before_s = 0.0

    @property
    def changes(self) -> int:
        """Rows that the connection of the open transaction has changed so far."""
        return self._open.total_changes

    def begin(self) -> None:
        """Begin a transaction when it is this process's turn."""
        self._saved = False
        try:
            connection = self._begun()
            turn = connection.execute(TURN).fetchone()
        except DatabaseError as error:
            self._let_go()
            raise TransactionError("No transaction could be started.", error_name(error)) from error
        if turn is None:
            self._let_go()
            raise TransactionError("The table store_turn has no row.", "02000")
        (self._turn,) = turn
        connection.has_written = False
        self._open = connection
        if self._known != self._turn - 1:
            self.foreign_commits += 1

    def attempt(self, work: Work[T], *, alone: bool) -> T:
        """Run one closure; in a savepoint, if others share the transaction."""
        connection = self._open
        try:
            if not alone:
                connection.command("RELEASE closure; SAVEPOINT closure" if self._saved else "SAVEPOINT closure")
                self._saved = True
            value = work(connection)
        except BaseException as error:
            self._undo(connection, error, alone=alone)
            raise
        return value

    def commit(self) -> None:
        """Make the transaction durable; where nothing was changed, the turn is given back."""
        connection = self._open
        wanted = "COMMIT" if connection.has_written else "ROLLBACK"
        try:
            if not connection.in_transaction:
                raise TransactionError("A closure ended the transaction.", "25P01")
            done = connection.command(wanted)
        except DatabaseError as error:
            raise TransactionError("The transaction could not be committed.", error_name(error)) from error
        if done != wanted:
            raise TransactionError("A closure went on after a statement had failed.", "25P02")
        self._known = self._turn if connection.has_written else self._turn - 1

    def roll_back(self) -> None:
        """Discard the transaction and its connection, whose state is unknown."""
        self._let_go()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
        self._runner.close()

    def _begun(self) -> ServerConnection:
        """A connection in a transaction; a new one where the old one turns out to be dead.

        Only `BEGIN` was sent over the dead one, so no work is done twice.
        """
        if self._connection is not None:
            try:
                self._connection.command("BEGIN", _BEGIN_S)
            except DatabaseError:
                self._let_go()
            else:
                return self._connection
        connection = self._connection = self._dial()
        connection.command("BEGIN", _BEGIN_S)
        return connection

    def _dial(self) -> ServerConnection:
        now_s = self._loop.time()
        if now_s < self._not_before_s:
            raise lost("the server did not answer a moment ago")
        try:
            with as_database_errors():
                dialled = self._loop.run_until_complete(dial(self._address, "writer", WRITING))
        except DatabaseError:
            self._pause_s = min(max(2 * self._pause_s, _FIRST_PAUSE_S), _MAX_PAUSE_S)
            self._not_before_s = self._loop.time() + self._pause_s
            raise
        self._pause_s = 0.0
        return ServerConnection(self._loop, dialled)

    def _undo(self, connection: ServerConnection, error: BaseException, *, alone: bool) -> None:
        if is_store_failing(error) or not connection.in_transaction:
            raise TransactionError("A closure lost the transaction.", error_name(error)) from error
        self.foreign_commits += 1
        if alone:
            connection.has_written = False
            return
        try:
            connection.command("ROLLBACK TO closure")
        except DatabaseError as failed:
            raise TransactionError("A closure could not be rolled back.", error_name(failed)) from failed

    def _let_go(self) -> None:
        self.foreign_commits += 1
        self._known = None
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None
