-- Requests that carry an Idempotency-Key, and the answers they got: for whoever sends one again. Times are epoch
-- milliseconds UTC.

-- `owner` is `user` and its id, or `device` and its keyed hash; `key` is SHA-256 of the key, `request_hash` of the body and
-- the form it is to be answered in. Whoever works on the answer holds `claim`, made anew by each claim: one that was lost
-- cannot be acted on. `run_id` is its process (`usage_runs`). `answered_ms` is null until the answer is there; `body` is the
-- answer (status, header fields and body as MessagePack, deflated), `bytes` the length of that; null and 0 where it was too
-- large to be kept, or is not kept any more: the key stays used all the same, and nothing is charged twice.
CREATE TABLE repeats (
    owner TEXT NOT NULL,
    key BLOB NOT NULL CHECK (length(key) = 32),
    request_hash BLOB NOT NULL CHECK (length(request_hash) = 32),
    claim BLOB NOT NULL UNIQUE CHECK (length(claim) = 16),
    run_id INTEGER NOT NULL,
    claimed_ms INTEGER NOT NULL,
    answered_ms INTEGER,
    bytes INTEGER NOT NULL DEFAULT 0,
    body BLOB,
    UNIQUE (owner, key),
    CHECK (body IS NULL OR answered_ms IS NOT NULL),
    CHECK ((body IS NULL) = (bytes = 0))
) STRICT;

-- All that is needed to find the oldest and to count what is kept, without reading answers.
CREATE INDEX repeats_by_age ON repeats (answered_ms, bytes);
