"""The operator's commands: start the service, and administer its data folder. May import everything below `__main__`.

- Commands work on the data folder or the PostgreSQL store directly, also while the service runs, so there is no admin
  API to protect. A running service notices changes within a second.
- `commands` is the operator's part of the command table of `service.cli`. A command's module is imported when
  it runs.
- A refused command prints one line on stderr that says what to do. Exit codes are those of the clients: 1 for a wrong
  command line or setting, a request that cannot be done, or a finding; 4 for a file that cannot be verified; 7 for a
  defect, with a traceback.
- `--json` prints one JSON document on stdout; the default is aligned text of at most 80 columns.
- `verdict serve` is one process by default, the fastest shape for one SQLite file. With `--workers`, a parent holds the
  listening socket and restarts workers.
- `verdict admin payments` reads the ledger; only `reconcile` calls facilitators and records results, like the service.
- `verdict verify` and `verdict receipt` need no data folder.
- `verdict admin migrate` copies to an empty store in one transaction and compares every row. It holds the leader claim
  of both stores meanwhile.
- `verdict admin doctor` checks one snapshot of the store and changes nothing without `--repair`.
"""
