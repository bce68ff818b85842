-- What coins were worth: CoinGecko's market caps and the USD traded for cash in the 24 hours before, by CoinGecko's own id,
-- since tickers are shared and what a ticker means may change. Hourly for the last 42 days, daily (at 00:00 UTC) for a
-- year; times are epoch milliseconds UTC. All of it can be fetched again.

-- When each coin's past was last read, and of which history it tells (live, or a recording and its shift in time).
CREATE TABLE market_cap_charts (
    gecko_id TEXT PRIMARY KEY,
    origin TEXT NOT NULL,
    read_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE market_caps (
    gecko_id TEXT NOT NULL REFERENCES market_cap_charts ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    market_cap REAL,
    volume_usd REAL,
    PRIMARY KEY (gecko_id, at_ms)
) STRICT, WITHOUT ROWID;
