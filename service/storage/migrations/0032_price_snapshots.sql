-- The last accepted price of every coin and asset, once a minute, for 48 hours: what changes over a span are measured
-- from. `minute_ms` is the first whole minute after the snapshot was taken, `price_ms` when the venue showed the price,
-- USD (epoch milliseconds UTC). Older prices are the closes of bars.
CREATE TABLE price_snapshots (
    minute_ms INTEGER NOT NULL,
    venue_symbol TEXT NOT NULL,
    price REAL NOT NULL CHECK (price > 0),
    price_ms INTEGER NOT NULL CHECK (price_ms <= minute_ms),
    PRIMARY KEY (minute_ms, venue_symbol)
) STRICT, WITHOUT ROWID;
