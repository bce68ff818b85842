-- When the first venue first called a listed coin delisted, epoch milliseconds; null while it does not. A coin is
-- delisted once that has been so for an hour.
ALTER TABLE market_coins ADD COLUMN flagged_ms INTEGER;
