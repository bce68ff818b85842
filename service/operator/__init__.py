"""The operator's commands: start the service, and act on its data folder. May import everything below `__main__`.

Decided here:
- The commands work on the data folder directly, also while the service runs: there is no admin API to guard. What a
  command changes is seen by a running service within a second (it watches an epoch in the same store).
- `rows` are the operator's part of the table of commands (`service.clients.cli`), which is read, explained and run like
  the clients'; a command's own module, and what it needs, is imported when the command runs.
- A refusal is one line on stderr that says what to do, with the exit codes of the clients: 1 for a mistake in the
  command line or the settings, for what cannot be done as asked, and for a finding; 4 where a file is not what could
  be verified, which is no finding. Only a defect prints a traceback, and is 7.
- `--json` prints one JSON document on stdout; without it, output is aligned text of at most 80 columns.
- `verdict serve` is one process unless `--workers` says otherwise: on one SQLite file one process is the fast shape.
  With several, a parent holds the listening socket and keeps the workers alive; it touches no data itself.
- `verdict payments` reads the ledger as it is; `reconcile` alone asks somebody, beside a service that may ask too, and
  enters what it learns once, as the service would. `verify` needs no folder: a receipt proves itself, and whose
  signature it must carry says the manifest of whoever is believed to have signed.
- `verdict migrate-store` writes to an empty store alone, in one transaction, and reads every row back: one that is half
  of another cannot come about. It holds the lead of both meanwhile, so a service that runs on either is noticed.
- `verdict doctor` looks over whichever store is set, on one snapshot, and never migrates it.
- `verdict doctor` tries the way that payments take without paying: what is asked changes nothing anywhere.
"""
