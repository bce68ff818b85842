-- The Idempotency-Key that a payment came with: SHA-256, hex, of the key and of the request it was sent with; null where there
-- was none. What a payment has bought, or may have, is the key's answer: nobody is asked to pay for it once more.
ALTER TABLE payments ADD COLUMN key_hash TEXT CHECK (length(key_hash) = 64);

CREATE INDEX payments_of_key ON payments (user_id, key_hash) WHERE key_hash IS NOT NULL;
