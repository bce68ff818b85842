-- Which secrets keys were made with: a mark of each pepper a process has started with, and the newest credential then.
-- Credentials up to it were made with another one. The first belongs to everything.

CREATE TABLE peppers (
    mark BLOB PRIMARY KEY,
    after_credential INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL
) STRICT;
