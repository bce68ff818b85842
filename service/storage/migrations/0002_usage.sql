-- Who has used how much. Counters in `quota` always equal the sum of the events that are not released.

-- A process that meters. What a dead one left open is settled by the next to start.
CREATE TABLE usage_runs (
    id INTEGER PRIMARY KEY,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER
) STRICT;

-- One counted call. No index by user: a row's place in one would be a page written per call, and the price of a call is
-- the pages it dirties. bucket: 0 starter, 1 day. state: 0 reserved, 1 committed, 2 released. `day` is the UTC day the
-- call was reserved in, counted from 1970-01-01, and never before the user's last one.
CREATE TABLE usage_events (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL,
    offer_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    day INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
    run_id INTEGER NOT NULL,
    lease_until_ms INTEGER
) STRICT;

CREATE INDEX usage_events_reserved ON usage_events (lease_until_ms) WHERE state = 0;

-- A user's counters, made on first use. `starter_day` is the day the last starter question went; `day_used` counts the
-- questions of `day`, the last day the user was seen in; `counted` is all questions ever.
CREATE TABLE quota (
    user_id INTEGER PRIMARY KEY,
    starter_used INTEGER NOT NULL,
    starter_day INTEGER NOT NULL,
    day INTEGER NOT NULL,
    day_used INTEGER NOT NULL,
    counted INTEGER NOT NULL
) STRICT;
