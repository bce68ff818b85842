-- What the walk-forward engine wrote, and the daily funding that it reads. Times are epoch milliseconds UTC, days count
-- from 1970-01-01 UTC.

-- Every run there ever was, by number; of runs of the present history the one with the highest number is the one told.
-- `origin` says of which history it tells (live, or a recording and its shift in time); `through_day` is the last day that
-- entered. `parameters` is JSON, what was asked; `parameters_hash` is of the strategies and their grids too. `head` is JSON:
-- summary, folds and the findings of the leakage gate.
CREATE TABLE walkforward_runs (
    run INTEGER PRIMARY KEY,
    origin TEXT NOT NULL,
    run_id TEXT NOT NULL,
    engine TEXT NOT NULL,
    parameters TEXT NOT NULL,
    parameters_hash TEXT NOT NULL,
    through_day INTEGER NOT NULL,
    ran_ms INTEGER NOT NULL,
    head BLOB NOT NULL
) STRICT;

CREATE INDEX walkforward_runs_of_origin ON walkforward_runs (origin, run);

-- The records of the last runs, one row a kind: zlib over a JSON array, newest first. A page is counted in it. In rows of
-- their own they would take ten times the room and hold up every other write for tens of milliseconds.
CREATE TABLE walkforward_records (
    run INTEGER NOT NULL REFERENCES walkforward_runs (run),
    kind TEXT NOT NULL CHECK (kind IN ('signals', 'positions', 'outcomes')),
    records BLOB NOT NULL,
    UNIQUE (run, kind)
) STRICT;

-- What a long paid over a day, as a fraction of its notional: the sum of the payments after 00:00 up to the 00:00 that
-- ends it, of days whose payments are all there (one of 24 hours may lack). Hourly payments are forgotten after a hundred
-- days; these are not, so that a day of the past is never told differently. All of it is cleared when the origin changes.
CREATE TABLE funding_days (
    venue_symbol TEXT NOT NULL,
    day INTEGER NOT NULL,
    paid REAL NOT NULL,
    PRIMARY KEY (venue_symbol, day)
) STRICT, WITHOUT ROWID;
