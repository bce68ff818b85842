-- Watched wallets, and what moved in and out of them. Addresses, hashes and contracts are written in lower case with 0x,
-- times are epoch milliseconds UTC. What was read from a chain can be read again, and is cleared when the origin changes;
-- who is watched is the operator's word, and is not.

-- What the operator has said of a wallet, beside the file that names wallets too: this table wins. `watched` 0 takes one
-- out that the file names.
CREATE TABLE watched_wallets (
    address TEXT PRIMARY KEY CHECK (length(address) = 42 AND address = lower(address)),
    watched INTEGER NOT NULL CHECK (watched IN (0, 1)),
    label TEXT,
    kind TEXT,
    changed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: which history (live, or a recording and its shift in time) the tables below tell.
CREATE TABLE wallet_origin (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    origin TEXT NOT NULL
) STRICT;

-- Which blocks of a chain have been looked through for a wallet: all from the first to `through_block`, which is one
-- before the first where there is none yet.
CREATE TABLE wallet_scans (
    chain_id INTEGER NOT NULL,
    address TEXT NOT NULL CHECK (length(address) = 42 AND address = lower(address)),
    first_block INTEGER NOT NULL CHECK (first_block >= 0),
    through_block INTEGER NOT NULL CHECK (through_block >= first_block - 1),
    PRIMARY KEY (chain_id, address)
) STRICT, WITHOUT ROWID;

-- The blocks at which looking paused: their hashes tell whether the chain is still the one that was looked at.
CREATE TABLE wallet_checkpoints (
    chain_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL CHECK (length(hash) = 66),
    PRIMARY KEY (chain_id, number)
) STRICT, WITHOUT ROWID;

-- The blocks in which something moved.
CREATE TABLE wallet_blocks (
    chain_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL CHECK (length(hash) = 66),
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (chain_id, number)
) STRICT, WITHOUT ROWID;

-- One transfer in (`incoming` 1) or out of a watched wallet; a transfer between two of them, or from one to itself, is
-- two rows. `amount` is in the contract's smallest units, a decimal integer of up to 78 digits; `amount_usd` is null
-- where no price was known when it was first seen.
CREATE TABLE wallet_movements (
    chain_id INTEGER NOT NULL,
    block INTEGER NOT NULL,
    log_index INTEGER NOT NULL,
    incoming INTEGER NOT NULL CHECK (incoming IN (0, 1)),
    address TEXT NOT NULL,
    contract TEXT NOT NULL,
    counterparty TEXT NOT NULL,
    amount TEXT NOT NULL,
    amount_usd REAL,
    tx TEXT NOT NULL,
    PRIMARY KEY (chain_id, block, log_index, incoming),
    FOREIGN KEY (chain_id, block) REFERENCES wallet_blocks (chain_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX wallet_movements_of_contract ON wallet_movements (chain_id, contract, block, log_index, incoming, address);
CREATE INDEX wallet_movements_of_wallet ON wallet_movements (chain_id, address, contract, block);

-- What a contract says of itself. `told` is 0 until a node has answered for it (also that it says nothing).
CREATE TABLE wallet_tokens (
    chain_id INTEGER NOT NULL,
    contract TEXT NOT NULL CHECK (length(contract) = 42 AND contract = lower(contract)),
    symbol TEXT,
    decimals INTEGER CHECK (decimals BETWEEN 0 AND 255),
    told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1)),
    asked_ms INTEGER,
    PRIMARY KEY (chain_id, contract)
) STRICT, WITHOUT ROWID;
