-- What was fetched or concluded as one whole, by name (`market.conclusions`): the newest, as JSON. `origin` says of which
-- history it tells (live, or a recording and its shift in time); `revision` grows with every change, for the processes
-- that only read; `observed_ms` is the time of the data, epoch milliseconds UTC; `failed_*` describe the last attempt to
-- refresh it if that failed, and are null if it did not. All of it can be fetched or concluded again.
CREATE TABLE documents (
    name TEXT PRIMARY KEY,
    origin TEXT NOT NULL,
    revision INTEGER NOT NULL,
    observed_ms INTEGER,
    body BLOB,
    failed_ms INTEGER,
    failed_status INTEGER,
    failed_body TEXT
) STRICT, WITHOUT ROWID;
