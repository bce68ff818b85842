-- Prices are those of one coin from now on. What the venue trades by the thousand (`kPEPE`) was stored as `KPEPE`, at the
-- price of a thousand. A quotient is cut to 12 decimals, as far as the venue's prices reach. The ledger of verdicts is
-- never changed: its entries keep their ticker and price, and are read as a thousand coins.
CREATE TABLE thousands (venue_symbol TEXT PRIMARY KEY, former TEXT NOT NULL, symbol TEXT NOT NULL) STRICT;
INSERT INTO thousands
SELECT venue_symbol, symbol, substr(venue_symbol, 2) FROM market_coins
WHERE substr(venue_symbol, 1, 1) = 'k' AND length(venue_symbol) > 1
    AND substr(venue_symbol, 2) = upper(substr(venue_symbol, 2));

-- A ticker that another traded coin has stays with that coin.
DELETE FROM market_quotes WHERE venue_symbol IN (
    SELECT t.venue_symbol FROM thousands t JOIN market_quotes q ON q.symbol = t.symbol
);
UPDATE market_quotes SET
    symbol = substr(venue_symbol, 2), price = round(price * 1000000000) / 1000000000000,
    prev_price = round(prev_price * 1000000000) / 1000000000000, open_interest = open_interest * 1000
WHERE venue_symbol IN (SELECT venue_symbol FROM thousands);
UPDATE market_coins SET symbol = substr(venue_symbol, 2) WHERE venue_symbol IN (SELECT venue_symbol FROM thousands);
UPDATE candles SET
    open = round(open * 1000000000) / 1000000000000, high = round(high * 1000000000) / 1000000000000,
    low = round(low * 1000000000) / 1000000000000, close = round(close * 1000000000) / 1000000000000,
    volume = volume * 1000
WHERE venue_symbol IN (SELECT venue_symbol FROM thousands);
UPDATE funding_events SET price = round(price * 1000000000) / 1000000000000
WHERE venue_symbol IN (SELECT venue_symbol FROM thousands);

-- What was concluded is concluded again, by another name of the history until then.
UPDATE documents SET origin = '', revision = revision + 1
WHERE name IN ('market.conclusions', 'market.momentum', 'market.gecko.coins', 'sentiment.conclusions', 'verdict.backtest')
    AND EXISTS (SELECT 1 FROM thousands);
UPDATE walkforward_runs SET origin = '' WHERE EXISTS (SELECT 1 FROM thousands);
DELETE FROM stream_states WHERE EXISTS (SELECT 1 FROM thousands);

-- Headlines and passages name the coins that the venue has traded by the thousand so far.
UPDATE news_items SET coins =
    replace(replace(replace(replace(replace(replace(replace(coins,
        '"KPEPE"', '"PEPE"'), '"KSHIB"', '"SHIB"'), '"KBONK"', '"BONK"'), '"KFLOKI"', '"FLOKI"'),
        '"KLUNC"', '"LUNC"'), '"KNEIRO"', '"NEIRO"'), '"KDOGS"', '"DOGS"');
UPDATE transcript_highlights SET coins =
    replace(replace(replace(replace(replace(replace(replace(coins,
        '"KPEPE"', '"PEPE"'), '"KSHIB"', '"SHIB"'), '"KBONK"', '"BONK"'), '"KFLOKI"', '"FLOKI"'),
        '"KLUNC"', '"LUNC"'), '"KNEIRO"', '"NEIRO"'), '"KDOGS"', '"DOGS"');
UPDATE stream_told SET id = substr(id, 2)
WHERE stream = 'alerts' AND EXISTS (
    SELECT 1 FROM thousands t WHERE substr(stream_told.id, 1, length(t.former) + 1) = t.former || '-'
);
DROP TABLE thousands;
