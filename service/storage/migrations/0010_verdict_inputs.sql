-- What was known of every listed coin when it was written down, so that a verdict can be recomputed from what was known
-- then. One row a quarter of an hour, kept for 100 days. `recorded_ms` is when it was written (epoch milliseconds UTC);
-- when each fact was observed stands in the body: a JSON array of inputs of verdicts, by ticker, deflated (zlib). `origin`
-- is the history it tells of (live, or a recording and its shift in time); what another one told is kept and not read.
CREATE TABLE verdict_inputs (
    id INTEGER PRIMARY KEY,
    recorded_ms INTEGER NOT NULL,
    origin TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE INDEX verdict_inputs_by_time ON verdict_inputs (origin, recorded_ms);
CREATE INDEX verdict_inputs_by_age ON verdict_inputs (recorded_ms);
