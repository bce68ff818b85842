-- Alert rules of users, and the messages that they caused. Times are epoch milliseconds UTC.

-- `rule` is its text (`BTC > 120000`), `target` the URL that messages go to; it may hold a credential of the user's.
-- `state` is what the last evaluation found (null: not evaluated yet), of the dataset `origin`.
CREATE TABLE alert_rules (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    rule TEXT NOT NULL,
    target TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    state TEXT
) STRICT;

CREATE INDEX alert_rules_of_user ON alert_rules (user_id);

-- One message: inserted in the transaction that records what caused it, and kept for a week after its end. `next_ms` is
-- when it is sent next, null once it was delivered (`error` is null) or given up (`error` says why).
CREATE TABLE alert_deliveries (
    id TEXT PRIMARY KEY,
    rule_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users (id),
    target TEXT NOT NULL,
    body BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_ms INTEGER,
    finished_ms INTEGER,
    error TEXT,
    CHECK ((next_ms IS NULL) = (finished_ms IS NOT NULL))
) STRICT;

CREATE INDEX alert_deliveries_due ON alert_deliveries (next_ms) WHERE next_ms IS NOT NULL;
CREATE INDEX alert_deliveries_finished ON alert_deliveries (finished_ms) WHERE finished_ms IS NOT NULL;
CREATE INDEX alert_deliveries_of_user ON alert_deliveries (user_id, created_ms);
