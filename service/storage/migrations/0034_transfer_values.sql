-- A transfer is valued at the price of its block's time from now on. Stored values were at the price of when it was first
-- seen; the next round values those transfers again.
UPDATE wallet_movements SET amount_usd = NULL WHERE amount_usd IS NOT NULL;
