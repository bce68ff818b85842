"""The store on PostgreSQL, for several machines. Only `service.storage.store` opens it.

- `translate` rewrites SQLite's SQL; migrations named `*.postgres.sql` create the functions that PostgreSQL lacks.
- One writer at a time in the cluster: each transaction increments the row of `store_turn` first. Its lock makes other
  writers wait; its number shows whether another process has committed. A migration takes the same lock.
- Closures are synchronous: the writer thread has its own connection and event loop.
- A transaction without changes is rolled back, so that it needs no disk write.
- Callers get an answer within five seconds. If the connection is lost during `COMMIT`, the outcome is unknown: the
  caller gets 503 and cached state is read again (`foreign_commits`).
- The server ends a session that is silent inside a transaction for three seconds, so a dead machine frees the lock.
- Servers with `synchronous_commit`, `fsync` or `full_page_writes` off, standbys and old versions raise `StorageError`.
  Messages never contain the address, because it may hold a password.
"""
