-- Settlements that a remote facilitator has reported and that have not been found on the chain yet. `look_ms` is when to
-- look (epoch milliseconds UTC). The row goes when the transfer is found, or when the payment has failed.
CREATE TABLE unchecked_settlements (
    payment_id INTEGER PRIMARY KEY REFERENCES payments (id),
    look_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX unchecked_settlements_by_time ON unchecked_settlements (look_ms);

-- Facilitators (host and port) that reported a settlement which is not on the chain. No payment goes through one until the
-- operator removes its row (`verdict payments resume`). `receipt_id` and `tx` are of the false report.
CREATE TABLE payment_stops (
    facilitator TEXT PRIMARY KEY,
    stopped_ms INTEGER NOT NULL,
    receipt_id TEXT NOT NULL,
    tx TEXT
) STRICT;

-- A settled payment is never changed, except while its settlement is unchecked: then it may turn out to have failed, or to
-- have been settled by another transaction.
DROP TRIGGER payments_settled_once;

CREATE TRIGGER payments_settled_once BEFORE UPDATE ON payments
WHEN OLD.settled_ms IS NOT NULL
    AND (
        NEW.state <> 'delivered' OR NEW.settled_ms <> OLD.settled_ms OR NEW.tx <> OLD.tx OR NEW.event_id <> OLD.event_id
        OR NEW.receipt_id <> OLD.receipt_id OR NEW.user_id <> OLD.user_id OR NEW.value <> OLD.value
    )
    AND (
        NEW.receipt_id <> OLD.receipt_id OR NEW.user_id <> OLD.user_id OR NEW.value <> OLD.value
        OR NOT EXISTS (SELECT 1 FROM unchecked_settlements WHERE payment_id = OLD.id)
    )
BEGIN
    SELECT RAISE(ABORT, 'a settled payment is never changed');
END;
