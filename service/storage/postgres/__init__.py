"""The same store on PostgreSQL, for several machines. Only `service.storage.store` opens it.

Decided here:
- Rooms write their statements once, as SQLite takes them; `translate` makes them PostgreSQL's, and the functions SQLite
  has and PostgreSQL has not are made on the server by the migrations whose names end in `.postgres.sql`.
- There is one writer at a time in the whole cluster, as on SQLite: every transaction begins by counting up the one row
  of `store_turn`, whose lock makes the others wait, and whose number tells whether somebody else has committed. So
  whatever a room concludes inside a closure holds, on however many machines. A migration takes the turn too.
- A closure is synchronous here too. The writer's thread owns a connection and an event loop of its own, on which it
  waits for each answer; the service's loop is never held up.
- A transaction that has changed nothing is rolled back: its turn is not counted, and no disk is waited for.
- Whoever waits is told within five seconds: the turn is waited for as long as SQLite's lock, and a server that does not
  answer is left. Where the connection is lost at `COMMIT`, nobody knows whether it was kept: it is a 503, never
  reported as done, and what was remembered is read again (`foreign_commits`).
- A machine that dies or stands still with the turn in its hand loses it: the server ends a session that has been silent
  inside a transaction for three seconds.
- A `COMMIT` whose outcome is not known has no answer of its own: whoever was told 503 gives back what it asked for, and
  the turn decides for it, since nothing is looked at before the old transaction has ended.
- What an operator wants to know of a server (`standing`) is asked of it in one look; its pages are `pg_amcheck`'s.
- A server that forgets what it has acknowledged (`synchronous_commit`, `fsync` or `full_page_writes` off), that only
  reads (a standby) or that is too old is refused with a `StorageError`. The address holds a password: it is not shown.
"""
