-- A payment is claimed in the memory of a process, and its row is written when its settlement begins. So the states
-- `claimed` and `released` are not written any more. Nothing was asked of anybody for a payment in one of them: its row
-- goes. (The processes that claimed them are gone: they do not know this schema.)
DROP TRIGGER payments_kept;

DELETE FROM payments WHERE state IN ('claimed', 'released');

CREATE TRIGGER payments_kept BEFORE DELETE ON payments
BEGIN
    SELECT RAISE(ABORT, 'a payment that somebody was asked to settle is never deleted');
END;

DROP INDEX payments_released;

-- Whoever comes second with an authorization writes nothing, and reads what is there. (SQLite takes away what an
-- `INSERT OR REPLACE` conflicts with, and tells no trigger of deletion unless told to.)
DROP TRIGGER payments_once;

CREATE TRIGGER payments_once BEFORE INSERT ON payments
WHEN EXISTS (SELECT 1 FROM payments WHERE id = NEW.id OR receipt_id = NEW.receipt_id)
    OR EXISTS (
        SELECT 1 FROM payments
        WHERE network = NEW.network AND asset = NEW.asset AND payer = NEW.payer AND nonce = NEW.nonce
    )
BEGIN
    SELECT RAISE(IGNORE);
END;
