-- Tokens that a model has used for answers, by UTC day (since 1970-01-01). What is being asked stands here with the most
-- that it may cost, and with what it did cost once that is known: whoever dies in between has spent all of it.
CREATE TABLE model_use (
    day INTEGER PRIMARY KEY,
    tokens INTEGER NOT NULL CHECK (tokens >= 0)
) STRICT;
