"""Runs in the database: all of them by name, the records of the last ones."""

import logging
from typing import Final

import msgspec

from service.storage.database import Database
from service.storage.engine import Connection
from service.walkforward.parameters import Parameters
from service.walkforward.records import Packed, Told, kinds_of, unpack, written

RUNS_KEPT: Final = 30
"""Runs whose records are kept: a month, some ten megabytes."""

_PUT: Final = """
    INSERT INTO walkforward_runs (origin, run_id, engine, parameters, parameters_hash, through_day, ran_ms, head)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING run
"""
_FORGET: Final = """
    DELETE FROM walkforward_records
    WHERE run NOT IN (SELECT run FROM walkforward_runs ORDER BY run DESC LIMIT ?)
"""
_NEWEST: Final = "SELECT max(run) FROM walkforward_runs WHERE origin = ?"
_DONE: Final = """
    SELECT EXISTS (
        SELECT 1 FROM walkforward_runs
        WHERE origin = ? AND engine = ? AND parameters = ? AND through_day = ?
    )
"""
_RUN: Final = """
    SELECT run_id, engine, parameters, parameters_hash, through_day, ran_ms, head FROM walkforward_runs
    WHERE run = ? AND origin = ?
"""
_RECORDS: Final = "SELECT kind, records FROM walkforward_records WHERE run = ?"

_log: Final = logging.getLogger("verdict.walkforward")


class RunStore:
    """The room's tables.

    Args:
        database: Where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, origin: str, packed: Packed) -> int:
        """Keep a run, and forget the records of old ones.

        Args:
            origin: The history that it walked.
            packed: What it brought.

        Returns:
            Its number; every later one has a higher.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """

        def work(connection: Connection) -> int:
            run: int = connection.execute(
                _PUT,
                (
                    origin,
                    packed.run_id,
                    packed.engine,
                    packed.parameters,
                    packed.parameters_hash,
                    packed.through_day,
                    packed.ran_ms,
                    packed.head,
                ),
            ).fetchone()[0]
            for kind, records in kinds_of(packed).items():
                connection.execute("INSERT INTO walkforward_records VALUES (?, ?, ?)", (run, kind, records))
            connection.execute(_FORGET, (RUNS_KEPT,))
            return run

        return await self._database.write(work)

    async def newest(self, origin: str) -> int | None:
        """The number of a history's last run; null where there is none."""
        ((run,),) = await self._database.read(_NEWEST, (origin,))
        return None if run is None else int(run)

    async def is_done(self, origin: str, engine: str, parameters: Parameters, through_day: int) -> bool:
        """Whether a day of a history has been walked so, whatever the strategies were."""
        ((done,),) = await self._database.read(_DONE, (origin, engine, written(parameters), through_day))
        return bool(done)

    async def load(self, run: int, origin: str) -> Told | None:
        """Read a run whole, on a thread of its own.

        Returns:
            The run; null where it is not of this history, its records are not kept any more, or another version of the
            service wrote them differently.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """

        def look(connection: Connection) -> Told | None:
            row = connection.execute(_RUN, (run, origin)).fetchone()
            records = dict(connection.execute(_RECORDS, (run,)).fetchall())
            if row is None or not records:
                return None
            run_id, engine, parameters, parameters_hash, through_day, ran_ms, head = row
            packed = Packed(
                run_id=run_id,
                engine=engine,
                parameters=parameters,
                parameters_hash=parameters_hash,
                through_day=through_day,
                ran_ms=ran_ms,
                head=head,
                **records,
            )
            try:
                return unpack(run, packed)
            except msgspec.MsgspecError:
                _log.warning("a run of another version is not read", extra={"run": run})
                return None

        return await self._database.inspect(look)
