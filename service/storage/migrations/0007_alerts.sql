-- What the service has watched itself: figures the venue shows but keeps no history of, and funding that left the ordinary.
-- Times are epoch milliseconds UTC, coins are the venue's symbols.

-- One row for each thing watched (`samples`, `funding`): of which history what it has recorded tells (cleared when that
-- changes), and up to when it has looked.
CREATE TABLE market_watches (
    name TEXT PRIMARY KEY,
    origin TEXT NOT NULL,
    through_ms INTEGER
) STRICT, WITHOUT ROWID;

-- What was shown of a coin in the first minutes of an hour, in USD: open interest and what was traded in the 24 hours
-- before on the venue, market cap and what was traded in those 24 hours of the coin itself (CoinGecko's). Kept hourly for
-- as long as hours can be asked for, daily (00:00) for as long as days can.
CREATE TABLE market_samples (
    hour_ms INTEGER NOT NULL,
    venue_symbol TEXT NOT NULL,
    open_interest_usd REAL,
    futures_volume_usd REAL NOT NULL,
    market_cap REAL,
    volume_usd REAL,
    PRIMARY KEY (hour_ms, venue_symbol)
) STRICT, WITHOUT ROWID;

-- The coins whose funding is watched, and the zone each is in (null: none).
CREATE TABLE funding_watch (
    venue_symbol TEXT PRIMARY KEY,
    zone TEXT CHECK (zone IN ('hot', 'very-hot', 'cold', 'very-cold'))
) STRICT, WITHOUT ROWID;

-- A coin's funding entered a zone. `id` is a digest of coin, zone and time: the same wherever it is found. `apr` in percent
-- a year, `percentile` 0 to 100, `price` in USD (null until it is known), `cleared_ms` when it left the zone again.
CREATE TABLE funding_events (
    id INTEGER PRIMARY KEY,
    venue_symbol TEXT NOT NULL,
    zone TEXT NOT NULL CHECK (zone IN ('hot', 'very-hot', 'cold', 'very-cold')),
    fired_ms INTEGER NOT NULL,
    cleared_ms INTEGER CHECK (cleared_ms >= fired_ms),
    apr REAL NOT NULL,
    percentile REAL NOT NULL CHECK (percentile BETWEEN 0 AND 100),
    interval_hours REAL NOT NULL,
    price REAL CHECK (price > 0)
) STRICT;

CREATE INDEX funding_events_by_time ON funding_events (fired_ms);
CREATE INDEX funding_events_of_coin ON funding_events (venue_symbol, fired_ms);
CREATE INDEX funding_events_open ON funding_events (venue_symbol) WHERE cleared_ms IS NULL;
CREATE INDEX funding_events_unpriced ON funding_events (fired_ms) WHERE price IS NULL;
