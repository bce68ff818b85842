"""Where everything durable lives: one SQLite file, one writer; or a PostgreSQL server. May import rank 0 and wire.

Decided here:
- Rooms know the store as `port.Database` and their closures a `Connection` of either kind; `store` picks by the
  settings. What is said below is of SQLite's file, which is the default; of the server `postgres` says it.
- Statements are written once, in words that both take: `ON CONFLICT`, `RETURNING`, `IS DISTINCT FROM`, the order of
  nulls and of rows said, types cast where nothing else tells them. The suites of access and payments run on both.
- A migration is written for SQLite and translated; its number, its digest and its refusals are the same on both. A
  file `NNNN_name.postgres.sql` is of the server alone.
- The newer of `pysqlite3` and the standard library's SQLite is used; before 3.51.3 a WAL reset can corrupt the file, so
  such an engine is refused.
- A transaction is one closure, run whole on the one writer thread. Nothing awaits inside a transaction, so a
  cancelled caller can neither leave one open nor take a stranger's rows with it.
- Group commit: closures that wait at the same time share one transaction, each in a savepoint of its own, and nobody
  is answered before its `COMMIT` at `synchronous=FULL` (WAL with NORMAL lost acknowledged rows in 31 of 40 power cuts).
- Steps that raise before they write can share a savepoint too (`gathering`): each step of a paid call has two or three
  statements, and a savepoint of its own is two more. One that fails halfway is undone with its neighbours, which are
  then taken anew, each by itself.
- Statements on the hot path insert many rows each. `executemany` gives up the interpreter lock once a row, and against
  a busy thread each time costs up to a switch interval: measured p99 of 64 rows 3.9 s, against 9 ms in one statement.
- Between processes the write lock is taken in turn (`turnstile`): SQLite's own back-off starves one of two.
- A writer that cannot get the lock, or a disk that is full, is a 503 within five seconds for everyone who waits, and
  never a hang. What cannot be right at the start (corrupt, newer than the code, read-only, unsafe engine) is refused
  with a `StorageError` whose message says what to do.
- Reads of other rooms go through a second, `query_only` connection (aiosqlite) and see only what is committed. Long
  looks (integrity, sums over all events) have a connection of their own, so that they hold nobody up.
- One row can be read at once, on the event loop (`glance`), by a third connection that waits for no lock: two to four
  microseconds where going through a thread takes two hundred. It is for rows that are looked at again and again, by
  their key, so that their pages are at hand; the loop waits for whatever disk it may still take.
- Files beside the database: `-wal` and `-shm` (SQLite's), `-turn` (the turnstile's lock), `-runs/` (journals of the
  processes that are alive). They are made readable by their owner alone.
- POSIX only: the turnstile and the journals' liveness rest on `flock`.
"""
