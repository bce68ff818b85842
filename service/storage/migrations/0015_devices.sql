-- Devices without a token whose one free question is being answered, or has been: kept for ever, gone once a question came
-- to nothing. Only keyed hashes (HMAC-SHA256) stand here: `device` of the id that the device gave itself, `network` of the
-- network it came from and the UTC day, so that nobody can be followed from one day to the next.

-- `event_id` is the question in `usage_events`: of user 0, who is nobody, and of bucket 3, which no quota knows. The row is
-- there exactly as long as that event is not released.
CREATE TABLE devices (
    device BLOB PRIMARY KEY CHECK (length(device) = 32),
    network BLOB NOT NULL CHECK (length(network) = 32),
    event_id INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE INDEX devices_of_network ON devices (network);
