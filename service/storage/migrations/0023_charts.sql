-- The open of the newest bar that a chart was made with was written for every chart, and read by nobody.
ALTER TABLE market_charts DROP COLUMN inputs_ms;
