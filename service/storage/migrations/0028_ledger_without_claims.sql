-- `probability_up` may be null: from version 2 of the rules on, a verdict claims no probability by its score alone. Entries
-- keep the value that they were written and hashed with. The column is made again, for SQLite cannot drop `NOT NULL`; the
-- trigger that forbids changes is off for this transaction only.
DROP TRIGGER verdict_ledger_unchanged;
DROP INDEX verdict_ledger_counted;

ALTER TABLE verdict_ledger ADD COLUMN claimed REAL CHECK (claimed BETWEEN 0 AND 1);
UPDATE verdict_ledger SET claimed = probability_up;
ALTER TABLE verdict_ledger DROP COLUMN probability_up;
ALTER TABLE verdict_ledger RENAME COLUMN claimed TO probability_up;

CREATE INDEX verdict_ledger_counted ON verdict_ledger (origin, kind, symbol, verdict, probability_up, issued_ms);

CREATE TRIGGER verdict_ledger_unchanged BEFORE UPDATE ON verdict_ledger
BEGIN
    SELECT RAISE(ABORT, 'an entry of the ledger is never changed');
END;
