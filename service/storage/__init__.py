"""Durable storage: one SQLite file with one writer thread, or a PostgreSQL server. May import rank 0 and wire.

Other packages use `port.Database` and give it closures that take a `Connection`; `store` opens SQLite or PostgreSQL.

- A transaction is one closure that runs whole on the writer thread. Closures that wait at the same time share one
  transaction, each in its own savepoint. A caller is answered after `COMMIT` with `synchronous=FULL`.
- `Batcher` also shares the savepoint between steps that raise before they write.
- SQL is written once, for SQLite, and translated for PostgreSQL; a migration `NNNN_name.postgres.sql` is PostgreSQL's.
- Processes that write to one file take turns with `WriteLock`, because SQLite's own back-off starves one of them.
- A busy or full store answers 503 within five seconds. A store that cannot be used at the start raises `StorageError`.
- Reads use a `query_only` connection. `read_now` reads one row on the event loop; `inspect` reads a snapshot.
- Files beside the database: `-wal` and `-shm` (SQLite's), `-turn` (the write lock), `-runs/` (journals of processes).
- POSIX only: locks use `flock`.
"""
