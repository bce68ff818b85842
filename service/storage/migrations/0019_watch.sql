-- What the live streams told: their states, and the happenings among them. Times are epoch milliseconds UTC. Which history
-- they tell of, and since when, is the row `streams` of `market_watches`: when that changes, all but the numbers is cleared.

-- The number of each stream's newest state. It counts up by one for ever, so that no two states ever share a cursor.
CREATE TABLE stream_heads (
    stream TEXT PRIMARY KEY,
    seq INTEGER NOT NULL CHECK (seq > 0)
) STRICT, WITHOUT ROWID;

-- The newest states: when each was taken, when the oldest of its inputs was observed, and what it says (JSON); null where
-- that is what the state before it says. The oldest state kept of a stream is never null.
CREATE TABLE stream_states (
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    as_of_ms INTEGER NOT NULL,
    data BLOB,
    PRIMARY KEY (stream, seq)
) STRICT;

-- Happenings that were told, by their stream and their own id, and when each happened. Those from before the row `streams`
-- began to look, or that are old by now, are told no more and need not be remembered.
CREATE TABLE stream_told (
    stream TEXT NOT NULL,
    id TEXT NOT NULL,
    happened_ms INTEGER NOT NULL,
    PRIMARY KEY (stream, id)
) STRICT, WITHOUT ROWID;
