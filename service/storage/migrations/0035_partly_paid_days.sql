-- Days with missing payments are kept too, with the hours that were paid: a mean over a week counts them. They are added
-- as far as payments are stored; the first stored day is left out, because older payments of it may be deleted. Days after
-- the last kept one are added up by the service.
INSERT INTO funding_days (venue_symbol, day, paid, hours)
SELECT paid.venue_symbol, (paid.paid_ms - 1) / 86400000, sum(paid.rate * paid.interval_hours), sum(paid.interval_hours)
FROM funding_rates AS paid
JOIN (
    SELECT venue_symbol, (min(paid_ms) - 1) / 86400000 AS first_day FROM funding_rates GROUP BY venue_symbol
) AS oldest ON oldest.venue_symbol = paid.venue_symbol
JOIN (
    SELECT venue_symbol, max(day) AS last_day FROM funding_days GROUP BY venue_symbol
) AS newest ON newest.venue_symbol = paid.venue_symbol
WHERE (paid.paid_ms - 1) / 86400000 > oldest.first_day AND (paid.paid_ms - 1) / 86400000 < newest.last_day
    AND NOT EXISTS (
        SELECT 1 FROM funding_days AS kept
        WHERE kept.venue_symbol = paid.venue_symbol AND kept.day = (paid.paid_ms - 1) / 86400000
    )
GROUP BY paid.venue_symbol, (paid.paid_ms - 1) / 86400000;
