-- Who may call: users, the wallets they have proven, their credentials, and what was granted to them.
-- Times are epoch milliseconds UTC. Rows are never deleted (spent nonces excepted), so an id always means the same thing.

CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    created_ms INTEGER NOT NULL
) STRICT;

-- A wallet belongs to one user; the address is written as EIP-55 does, so that equal addresses are equal text.
CREATE TABLE wallets (
    address TEXT PRIMARY KEY CHECK (length(address) = 42),
    user_id INTEGER NOT NULL REFERENCES users (id),
    proven_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX wallets_of_user ON wallets (user_id);

-- API keys and sessions. `fingerprint` is HMAC-SHA256 of a key under the pepper, or a session's `jti`.
-- A rotated key keeps `rotated_ms` and dies at `expires_ms`, or at once through `revoked_ms` where there is no grace.
CREATE TABLE credentials (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('api_key', 'session')),
    user_id INTEGER NOT NULL REFERENCES users (id),
    wallet TEXT REFERENCES wallets (address),
    fingerprint BLOB NOT NULL UNIQUE,
    prefix TEXT UNIQUE,
    name TEXT,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    rotated_ms INTEGER,
    revoked_ms INTEGER,
    last_used_ms INTEGER,
    CHECK ((kind = 'api_key') = (prefix IS NOT NULL AND name IS NOT NULL)),
    CHECK (kind = 'api_key' OR expires_ms IS NOT NULL)
) STRICT;

CREATE INDEX credentials_of_user ON credentials (user_id, kind);

-- A tier given to a user, or to whoever proves a wallet.
CREATE TABLE grants (
    id INTEGER PRIMARY KEY,
    user_id INTEGER REFERENCES users (id),
    wallet TEXT CHECK (length(wallet) = 42),
    tier TEXT NOT NULL CHECK (tier IN ('access', 'pro')),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER,
    CHECK ((user_id IS NULL) <> (wallet IS NULL))
) STRICT;

CREATE INDEX grants_of_user ON grants (user_id);
CREATE INDEX grants_of_wallet ON grants (wallet);

-- Nonces are self-certifying (random, expiry, MAC); only the spent ones are kept.
CREATE TABLE spent_nonces (
    nonce TEXT PRIMARY KEY,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX spent_nonces_by_expiry ON spent_nonces (expires_ms);

-- Everything that takes effect on credentials already in use, in order. Each process reads on from the epoch it has
-- seen; `ends_ms` is when the credential dies (0: at once, whatever the clock says), null where only the tier moved.
CREATE TABLE access_changes (
    epoch INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id),
    credential_id INTEGER REFERENCES credentials (id),
    ends_ms INTEGER,
    at_ms INTEGER NOT NULL,
    CHECK ((credential_id IS NULL) = (ends_ms IS NULL))
) STRICT;
