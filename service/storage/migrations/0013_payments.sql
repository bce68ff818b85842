-- Payments: what was signed, what it was claimed for, and what became of it. Times are epoch milliseconds UTC unless they
-- end in `_s` (epoch seconds); money is in atomic units of the token (millionths of a USDC); hashes are SHA-256, hex.

-- One row a payment: EIP-3009 spends a nonce of a payer once, and so does the key. Addresses and nonce are in lower case.
-- claimed → settling → settled → delivered; or released, where nothing was asked of anybody; or failed. `receipt_id` is
-- made anew by each claim of a row that was released. `run_id` is the process that last acted (`usage_runs`). `due_ms` is
-- when somebody has to look at an open row: a claim's lease runs out, a settlement is asked about again, a failure is
-- looked at once more; null where nothing is left to do. `response_hash` is of the answer's body, from `settling` on. `tx`
-- is what settled it, or may have. `settlement` says how it was settled and `event_id` is its paid event of usage: both
-- come with `settled_ms`, in one transaction. (A paid event has bucket 2: no question was taken, and none is ever given
-- back for it.) `reason` is an x402 code, or why it is not known yet.
CREATE TABLE payments (
    id INTEGER PRIMARY KEY,
    receipt_id TEXT NOT NULL UNIQUE CHECK (length(receipt_id) = 26),
    state TEXT NOT NULL CHECK (state IN ('claimed', 'settling', 'settled', 'delivered', 'released', 'failed')),
    version INTEGER NOT NULL CHECK (version IN (1, 2)),
    network TEXT NOT NULL CHECK (network = lower(network)),
    asset TEXT NOT NULL CHECK (length(asset) = 42 AND asset = lower(asset)),
    payer TEXT NOT NULL CHECK (length(payer) = 42 AND payer = lower(payer)),
    pay_to TEXT NOT NULL CHECK (length(pay_to) = 42 AND pay_to = lower(pay_to)),
    value INTEGER NOT NULL CHECK (value > 0),
    valid_after_s INTEGER NOT NULL,
    valid_before_s INTEGER NOT NULL,
    nonce TEXT NOT NULL CHECK (length(nonce) = 66 AND nonce = lower(nonce)),
    signature TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    offer_id TEXT NOT NULL,
    method TEXT NOT NULL,
    resource TEXT NOT NULL,
    request_hash TEXT NOT NULL CHECK (length(request_hash) = 64),
    price INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    claimed_ms INTEGER NOT NULL,
    due_ms INTEGER,
    response_hash TEXT CHECK (length(response_hash) = 64),
    tx TEXT,
    settlement TEXT CHECK (settlement IN ('ledger', 'remote', 'chain')),
    settled_ms INTEGER,
    event_id INTEGER,
    reason TEXT,
    UNIQUE (network, asset, payer, nonce),
    CHECK (value = price),
    CHECK ((state IN ('settled', 'delivered')) = (settled_ms IS NOT NULL)),
    CHECK ((settlement IS NULL) = (settled_ms IS NULL) AND (event_id IS NULL) = (settled_ms IS NULL)),
    CHECK (settled_ms IS NULL OR tx IS NOT NULL),
    CHECK ((state IN ('claimed', 'released')) = (response_hash IS NULL)),
    CHECK (state NOT IN ('claimed', 'settling') OR due_ms IS NOT NULL),
    CHECK (state NOT IN ('settled', 'delivered', 'released') OR due_ms IS NULL)
) STRICT;

-- Rows somebody still has to look at: a handful, however many there are in all.
CREATE INDEX payments_open ON payments (due_ms) WHERE due_ms IS NOT NULL;

-- A user's receipts, by time.
CREATE INDEX payments_of_user ON payments (user_id, settled_ms, id) WHERE settled_ms IS NOT NULL;

-- What can be forgotten once its window has passed.
CREATE INDEX payments_released ON payments (valid_before_s) WHERE state = 'released';

-- Money that has moved stays moved: of a settled payment nothing changes but that its answer has left.
CREATE TRIGGER payments_settled_once BEFORE UPDATE ON payments
WHEN OLD.settled_ms IS NOT NULL
    AND (
        NEW.state <> 'delivered' OR NEW.settled_ms <> OLD.settled_ms OR NEW.tx <> OLD.tx OR NEW.event_id <> OLD.event_id
        OR NEW.receipt_id <> OLD.receipt_id OR NEW.user_id <> OLD.user_id OR NEW.value <> OLD.value
    )
BEGIN
    SELECT RAISE(ABORT, 'a settled payment is never changed');
END;

-- SQLite takes away what an `INSERT OR REPLACE` conflicts with, and tells no trigger of deletion (unless told to).
CREATE TRIGGER payments_once BEFORE INSERT ON payments
WHEN EXISTS (SELECT 1 FROM payments WHERE id = NEW.id OR receipt_id = NEW.receipt_id)
    OR EXISTS (
        SELECT 1 FROM payments
        WHERE network = NEW.network AND asset = NEW.asset AND payer = NEW.payer AND nonce = NEW.nonce
    )
BEGIN
    SELECT RAISE(ABORT, 'a payment is written once');
END;

CREATE TRIGGER payments_kept BEFORE DELETE ON payments
WHEN OLD.state <> 'released'
BEGIN
    SELECT RAISE(ABORT, 'a payment that somebody was asked to settle is never deleted');
END;

-- What was bought, for whoever sends its payment again: the status, header fields and body as MessagePack, deflated
-- (zlib). `kept_ms` is since when, `bytes` the length of `body`.
CREATE TABLE payment_answers (
    payment_id INTEGER PRIMARY KEY REFERENCES payments (id),
    kept_ms INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- All that is needed to find the oldest and to count what is kept, without reading answers.
CREATE INDEX payment_answers_by_age ON payment_answers (kept_ms, bytes);
