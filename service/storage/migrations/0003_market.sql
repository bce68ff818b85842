-- What is known of the market: the newest quotes, closed bars, and what was concluded from them. Times are epoch
-- milliseconds UTC. All of it can be fetched again, and all of it is cleared when the origin changes.

-- One row. `origin` says which history this is (live, or a recording and its shift in time); `revision` grows with every
-- change, for the processes that only read; `quotes_ms` is when the venue last told prices; `history_ms` is when history
-- was first tried; `failed_*` describe the last refresh of quotes if it failed, and are null if it did not.
CREATE TABLE market_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    origin TEXT NOT NULL,
    revision INTEGER NOT NULL,
    quotes_ms INTEGER,
    history_ms INTEGER,
    failed_ms INTEGER,
    failed_status INTEGER,
    failed_body TEXT
) STRICT;

-- The newest value of each field and when the venue showed it: `price` in USD, `funding` the fraction paid an hour.
-- A value that a later answer lacks stays, with its own older time.
CREATE TABLE market_quotes (
    venue_symbol TEXT PRIMARY KEY,
    symbol TEXT NOT NULL UNIQUE,
    volume_usd REAL NOT NULL,
    price REAL CHECK (price > 0),
    price_ms INTEGER,
    funding REAL,
    funding_ms INTEGER,
    CHECK ((price IS NULL) = (price_ms IS NULL)),
    CHECK ((funding IS NULL) = (funding_ms IS NULL))
) STRICT, WITHOUT ROWID;

-- A bar with `final` 1 was closed when it was read and never changes again; the open bar is replaced each time.
CREATE TABLE candles (
    venue_symbol TEXT NOT NULL,
    interval TEXT NOT NULL CHECK (interval IN ('1h', '1d')),
    open_ms INTEGER NOT NULL,
    open REAL NOT NULL,
    high REAL NOT NULL,
    low REAL NOT NULL,
    close REAL NOT NULL,
    volume REAL NOT NULL,
    trades INTEGER NOT NULL,
    final INTEGER NOT NULL CHECK (final IN (0, 1)),
    PRIMARY KEY (venue_symbol, interval, open_ms),
    CHECK (0 < low AND low <= min(open, close) AND max(open, close) <= high)
) STRICT, WITHOUT ROWID;

-- What the charts of a coin said. `inputs_ms` is the open of the newest bar that the coin, BTC and ETH all had reached;
-- `through_ms` is the close of the last day that entered.
CREATE TABLE market_charts (
    venue_symbol TEXT PRIMARY KEY,
    inputs_ms INTEGER NOT NULL,
    through_ms INTEGER,
    trend_daily TEXT CHECK (trend_daily IN ('UP', 'HODL', 'DOWN')),
    trend_daily_since_ms INTEGER,
    trend_weekly TEXT CHECK (trend_weekly IN ('UP', 'HODL', 'DOWN')),
    trend_weekly_since_ms INTEGER,
    btc_correlation REAL CHECK (btc_correlation BETWEEN -1 AND 1)
) STRICT, WITHOUT ROWID;
