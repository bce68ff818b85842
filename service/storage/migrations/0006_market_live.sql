-- The market beyond its first quotes: who was ever listed, which venue told a number, what positions and yesterday's
-- price were, and what funding was paid. Times are epoch milliseconds UTC. All of it is cleared when the origin changes.

-- Every coin that the venue's main market ever listed. `listed` is 0 once it is no longer traded: its bars still count in
-- the past. `settled` is 1 once its bars were asked for after that, and need not be asked for again.
CREATE TABLE market_coins (
    venue_symbol TEXT PRIMARY KEY,
    symbol TEXT NOT NULL,
    listed INTEGER NOT NULL CHECK (listed IN (0, 1)),
    settled INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1))
) STRICT, WITHOUT ROWID;

-- `open_interest` in base units; `prev_price` in USD, 24 hours before; `venue` told the price (the funding, where no
-- price is known); `interval_hours` lies between two payments of funding, `funding` stays the fraction an hour.
ALTER TABLE market_quotes ADD COLUMN open_interest REAL CHECK (open_interest >= 0);
ALTER TABLE market_quotes ADD COLUMN prev_price REAL CHECK (prev_price > 0);
ALTER TABLE market_quotes ADD COLUMN venue TEXT NOT NULL DEFAULT 'hyperliquid';
ALTER TABLE market_quotes ADD COLUMN interval_hours REAL NOT NULL DEFAULT 1 CHECK (interval_hours > 0);

-- Which venue brought the newest quotes; null where the last refresh brought none. `failed_*` are the first venue's.
ALTER TABLE market_state ADD COLUMN venue TEXT;

-- Where a bar was seen. Coins of a builder's market stand under their full names (`xyz:AAPL`).
ALTER TABLE candles ADD COLUMN venue TEXT NOT NULL DEFAULT 'hyperliquid';

-- What was paid at a time (rounded to the minute): `rate` is the fraction an hour, positive where longs paid. A payment
-- never changes.
CREATE TABLE funding_rates (
    venue_symbol TEXT NOT NULL,
    paid_ms INTEGER NOT NULL,
    rate REAL NOT NULL,
    interval_hours REAL NOT NULL CHECK (interval_hours > 0),
    venue TEXT NOT NULL,
    PRIMARY KEY (venue_symbol, paid_ms)
) STRICT, WITHOUT ROWID;
