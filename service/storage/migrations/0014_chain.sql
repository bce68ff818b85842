-- Transactions by which this service settles payments itself. Each stands here before it is sent, so that one that may be
-- under way is never forgotten: it is looked for, or sent again. Rows are never changed.

-- A payment has one nonce of the operator's account; its transactions are replacements of each other, and at most one of
-- them is ever mined. `sender` is in lower case, `tip` and `max_fee` are wei a gas, `raw` is what is sent, `data` the call
-- in it. `made_ms` is epoch milliseconds.
CREATE TABLE chain_transactions (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 66),
    payment_id INTEGER NOT NULL REFERENCES payments (id),
    chain_id INTEGER NOT NULL,
    sender TEXT NOT NULL CHECK (length(sender) = 42 AND sender = lower(sender)),
    nonce INTEGER NOT NULL,
    tip INTEGER NOT NULL,
    max_fee INTEGER NOT NULL,
    gas INTEGER NOT NULL,
    data BLOB NOT NULL,
    raw BLOB NOT NULL,
    made_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX chain_transactions_of_payment ON chain_transactions (payment_id, id);

CREATE INDEX chain_transactions_by_nonce ON chain_transactions (chain_id, sender, nonce, id);
