-- Free questions are not given to every account: a network may make a few accounts with free questions on a UTC day.

-- 0: the account was made by a sign-in beyond that limit. It may sign in and pay, and has no free questions.
ALTER TABLE users ADD COLUMN free INTEGER NOT NULL DEFAULT 1;

-- How many accounts with free questions a network made on a UTC day (days since 1970-01-01). `network` is a keyed hash
-- (HMAC-SHA256) of the network and the day. Rows are deleted two days later.
CREATE TABLE free_accounts (
    network BLOB PRIMARY KEY CHECK (length(network) = 32),
    day INTEGER NOT NULL,
    accounts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
