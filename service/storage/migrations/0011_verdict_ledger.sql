-- Verdicts as they were issued, and what became of them. Nothing here is ever changed or deleted: not by the service, and
-- not when the origin changes. Times are epoch milliseconds UTC, prices USD.

-- One row a verdict, chained: `hash` is SHA-256 (hex) over `previous`, the row before's hash (64 zeros for the first), and
-- the RFC 8785 form of the other columns by their names, where `body` stands as the SHA-256 of what it holds. `kind` says
-- who wanted the verdict: somebody who asked (`asked`, once for each verdict), or the service, for every listed coin on
-- each published `day` (`daily`; counted from 1970-01-01 UTC). `origin` is the history it was made from. `score` is -4 to
-- 4, `probability_up` what that claims (0 to 1), `price` the coin's in the verdict's inputs. `body` is the whole verdict:
-- its canonical JSON, deflated (zlib).
CREATE TABLE verdict_ledger (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('asked', 'daily')),
    day INTEGER,
    origin TEXT NOT NULL,
    symbol TEXT NOT NULL,
    issued_ms INTEGER NOT NULL,
    verdict_id TEXT NOT NULL CHECK (length(verdict_id) = 64),
    verdict TEXT NOT NULL
        CHECK (verdict IN ('strong-bull', 'bull', 'neutral', 'bear', 'strong-bear', 'insufficient-evidence')),
    score REAL NOT NULL CHECK (score BETWEEN -4 AND 4),
    confidence TEXT NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    probability_up REAL NOT NULL CHECK (probability_up BETWEEN 0 AND 1),
    price REAL CHECK (price > 0),
    body BLOB NOT NULL,
    previous TEXT NOT NULL CHECK (length(previous) = 64),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    CHECK ((kind = 'daily') = (day IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX verdict_ledger_asked ON verdict_ledger (origin, verdict_id) WHERE kind = 'asked';
CREATE UNIQUE INDEX verdict_ledger_daily ON verdict_ledger (origin, day, symbol) WHERE kind = 'daily';
CREATE INDEX verdict_ledger_of_coin ON verdict_ledger (origin, symbol, issued_ms);
-- All that is counted, so that counting reads no bodies: a sixth of the time.
CREATE INDEX verdict_ledger_counted ON verdict_ledger (origin, kind, symbol, verdict, probability_up, issued_ms);

-- SQLite takes away what an `INSERT OR REPLACE` conflicts with, and tells no trigger of deletion (unless told to): an
-- entry at the head that is one already written must not get as far as that.
CREATE TRIGGER verdict_ledger_once BEFORE INSERT ON verdict_ledger
WHEN EXISTS (
        SELECT 1 FROM verdict_ledger
        WHERE kind = 'asked' AND NEW.kind = 'asked' AND origin = NEW.origin AND verdict_id = NEW.verdict_id
    )
    OR EXISTS (
        SELECT 1 FROM verdict_ledger
        WHERE kind = 'daily' AND NEW.kind = 'daily' AND origin = NEW.origin AND day = NEW.day AND symbol = NEW.symbol
    )
BEGIN
    SELECT RAISE(ABORT, 'an entry of the ledger is written once');
END;

-- Whoever appends must have read the head.
CREATE TRIGGER verdict_ledger_follows BEFORE INSERT ON verdict_ledger
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM verdict_ledger)
    OR NEW.previous IS NOT coalesce(
        (SELECT hash FROM verdict_ledger ORDER BY seq DESC LIMIT 1), printf('%064d', 0)
    )
BEGIN
    SELECT RAISE(ABORT, 'an entry of the ledger follows its head');
END;

CREATE TRIGGER verdict_ledger_unchanged BEFORE UPDATE ON verdict_ledger
BEGIN
    SELECT RAISE(ABORT, 'an entry of the ledger is never changed');
END;

CREATE TRIGGER verdict_ledger_kept BEFORE DELETE ON verdict_ledger
BEGIN
    SELECT RAISE(ABORT, 'an entry of the ledger is never deleted');
END;

-- What a verdict waits for: one row for each horizon (`days`), gone once that has its outcome. Abstentions and verdicts
-- without a price wait for nothing.
CREATE TABLE verdict_due (
    origin TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    seq INTEGER NOT NULL REFERENCES verdict_ledger,
    days INTEGER NOT NULL,
    PRIMARY KEY (origin, due_ms, seq, days)
) STRICT, WITHOUT ROWID;

-- What the coin's price was so many `days` later: the open of the hourly bar that opened at `price_ms`, and by how many
-- percent it had moved (4 decimals). Where there was no such bar `void` says why, and the rest is null.
CREATE TABLE verdict_outcomes (
    seq INTEGER NOT NULL REFERENCES verdict_ledger,
    days INTEGER NOT NULL CHECK (days IN (1, 3, 7)),
    price_ms INTEGER,
    price REAL CHECK (price > 0),
    move_pct REAL,
    scored_ms INTEGER NOT NULL,
    void TEXT,
    PRIMARY KEY (seq, days),
    CHECK ((price IS NULL) = (void IS NOT NULL)),
    CHECK ((price IS NULL) = (price_ms IS NULL) AND (price IS NULL) = (move_pct IS NULL))
) STRICT, WITHOUT ROWID;

-- The first outcome stands: another is left out, whichever way it is written.
CREATE TRIGGER verdict_outcomes_once BEFORE INSERT ON verdict_outcomes
WHEN EXISTS (SELECT 1 FROM verdict_outcomes WHERE seq = NEW.seq AND days = NEW.days)
BEGIN
    SELECT RAISE(IGNORE);
END;

CREATE TRIGGER verdict_outcomes_unchanged BEFORE UPDATE ON verdict_outcomes
BEGIN
    SELECT RAISE(ABORT, 'an outcome is never changed');
END;

CREATE TRIGGER verdict_outcomes_kept BEFORE DELETE ON verdict_outcomes
BEGIN
    SELECT RAISE(ABORT, 'an outcome is never deleted');
END;
