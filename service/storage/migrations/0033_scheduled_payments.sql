-- Payments of funding stand at the full hour that they were made for, and each covers the hour before it: that is the
-- venue's schedule. Until now they stood at the minute of the venue's stamp, and where payments were missed the others
-- were spread over more hours. Stamps between the hours (20 minutes from both) are no payments; of two in an hour the
-- first stays.
CREATE TABLE misdated (venue_symbol TEXT PRIMARY KEY, first_day INTEGER NOT NULL) STRICT;
INSERT INTO misdated
SELECT venue_symbol, min((paid_ms - 1) / 86400000) FROM funding_rates
GROUP BY venue_symbol
HAVING sum(CASE WHEN paid_ms % 3600000 <> 0 OR interval_hours <> 1 THEN 1 ELSE 0 END) > 0;

DELETE FROM funding_rates WHERE paid_ms % 3600000 > 1200000 AND paid_ms % 3600000 < 2400000;
DELETE FROM funding_rates WHERE EXISTS (
    SELECT 1 FROM funding_rates AS earlier
    WHERE earlier.venue_symbol = funding_rates.venue_symbol AND earlier.paid_ms < funding_rates.paid_ms
        AND earlier.paid_ms >= (funding_rates.paid_ms + 1800000) / 3600000 * 3600000 - 1200000
);
UPDATE funding_rates SET
    paid_ms = (paid_ms + 1800000) / 3600000 * 3600000, rate = rate * interval_hours, interval_hours = 1
WHERE paid_ms % 3600000 <> 0 OR interval_hours <> 1;

-- Sums of days are taken again from the payments, but for the day that the first payment lies in: older payments may
-- have been deleted since. What was concluded from them is concluded again.
DELETE FROM funding_days WHERE day > (
    SELECT first_day FROM misdated WHERE misdated.venue_symbol = funding_days.venue_symbol
);
UPDATE documents SET origin = '', revision = revision + 1
WHERE name IN ('market.momentum', 'verdict.backtest') AND EXISTS (SELECT 1 FROM misdated);
UPDATE walkforward_runs SET origin = '' WHERE EXISTS (SELECT 1 FROM misdated);
DROP TABLE misdated;

-- How many of a day's 24 hours its sum covers; of days whose payments are deleted it is not known which lack one.
ALTER TABLE funding_days ADD COLUMN hours REAL NOT NULL DEFAULT 24;
UPDATE funding_days SET hours = 23 WHERE 23 = (
    SELECT count(*) FROM funding_rates AS paid
    WHERE paid.venue_symbol = funding_days.venue_symbol AND paid.paid_ms > funding_days.day * 86400000
        AND paid.paid_ms <= (funding_days.day + 1) * 86400000
);
