"""Runs in the database: all of them by name, and the records of the newest ones."""

import logging
from typing import Final

import msgspec

from service.storage.database import Database
from service.storage.engine import Connection
from service.walkforward.parameters import Parameters
from service.walkforward.records import PackedRun, StoredRun, parameters_json, records_by_kind, unpack_run

RUNS_KEPT: Final = 30
"""Runs whose records are kept: a month, about ten megabytes."""

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
    """The tables of runs.

    Args:
        database: Holds the tables.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, origin: str, packed: PackedRun) -> int:
        """Store a run and delete the records of old ones.

        Args:
            origin: The dataset of the run.
            packed: The packed run.

        Returns:
            Its number; later runs have higher numbers.

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
            for kind, records in records_by_kind(packed).items():
                connection.execute("INSERT INTO walkforward_records VALUES (?, ?, ?)", (run, kind, records))
            connection.execute(_FORGET, (RUNS_KEPT,))
            return run

        return await self._database.write(work)

    async def newest(self, origin: str) -> int | None:
        """Number of the newest run of a dataset; null if there is none."""
        ((run,),) = await self._database.read(_NEWEST, (origin,))
        return None if run is None else int(run)

    async def is_done(self, origin: str, engine: str, parameters: Parameters, through_day: int) -> bool:
        """Whether there is a run of a dataset through a day with these parameters, whatever the strategies."""
        ((done,),) = await self._database.read(_DONE, (origin, engine, parameters_json(parameters), through_day))
        return bool(done)

    async def load(self, run: int, origin: str) -> StoredRun | None:
        """Read a whole run on a worker thread.

        Returns:
            The run; null if it belongs to another dataset, its records were deleted, or another version of the service
            wrote them in another form.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """

        def look(connection: Connection) -> StoredRun | None:
            row = connection.execute(_RUN, (run, origin)).fetchone()
            records = dict(connection.execute(_RECORDS, (run,)).fetchall())
            if row is None or not records:
                return None
            run_id, engine, parameters, parameters_hash, through_day, ran_ms, head = row
            packed = PackedRun(
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
                return unpack_run(run, packed)
            except msgspec.MsgspecError:
                _log.warning("A run of another version was skipped", extra={"run": run})
                return None

        return await self._database.inspect(look)
