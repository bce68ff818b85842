-- Open streams, so that the limit of streams a credential holds over all processes. A row is deleted when its stream ends.
-- `run_id` is the process that serves it (`usage_runs`). That process renews `lease_until_ms` (epoch milliseconds); a row
-- whose lease has run out counts no more.
CREATE TABLE stream_leases (
    id INTEGER PRIMARY KEY,
    credential_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    lease_until_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX stream_leases_of_credential ON stream_leases (credential_id);
