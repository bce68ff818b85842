-- What statements written for SQLite rely on, and the turn to write. Applied before everything else, on PostgreSQL alone.

-- The elements of a JSON array (with their places), or the members of an object, as text.
CREATE FUNCTION json_each(document TEXT) RETURNS TABLE (key TEXT, value TEXT)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 100 AS $$
    SELECT (item.place - 1)::TEXT, item.content FROM json_array_elements_text(
        CASE json_typeof(document::JSON) WHEN 'array' THEN document::JSON ELSE '[]'::JSON END
    ) WITH ORDINALITY AS item (content, place)
    UNION ALL
    SELECT member.key, member.value FROM json_each_text(
        CASE json_typeof(document::JSON) WHEN 'object' THEN document::JSON ELSE '{}'::JSON END
    ) AS member
$$;

-- Of two values, null where either is null.
CREATE FUNCTION max(a BIGINT, b BIGINT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT CASE WHEN $1 < $2 THEN $2 ELSE $1 END';
CREATE FUNCTION min(a BIGINT, b BIGINT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT CASE WHEN $1 < $2 THEN $1 ELSE $2 END';
CREATE FUNCTION max(a DOUBLE PRECISION, b DOUBLE PRECISION) RETURNS DOUBLE PRECISION
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT CASE WHEN $1 < $2 THEN $2 ELSE $1 END';
CREATE FUNCTION min(a DOUBLE PRECISION, b DOUBLE PRECISION) RETURNS DOUBLE PRECISION
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT CASE WHEN $1 < $2 THEN $1 ELSE $2 END';

-- A sum as SQLite adds it up (Kahan-Babuska, as Neumaier has it), so that what is concluded from it is the same to the last
-- bit: PostgreSQL's own sum and avg of floating numbers are others. 0 where there is nothing. `state` is the sum, and what
-- rounding has lost of it.
CREATE FUNCTION total_step(state DOUBLE PRECISION[], number DOUBLE PRECISION) RETURNS DOUBLE PRECISION[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    known CONSTANT DOUBLE PRECISION := state[1];
    now CONSTANT DOUBLE PRECISION := known + number;
BEGIN
    RETURN ARRAY[now, state[2] + CASE
        WHEN abs(known) > abs(number) THEN (known - now) + number ELSE (number - now) + known
    END];
END
$$;

CREATE FUNCTION total_end(state DOUBLE PRECISION[]) RETURNS DOUBLE PRECISION
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT $1[1] + $1[2]';

CREATE AGGREGATE total(DOUBLE PRECISION) (
    SFUNC = total_step, STYPE = DOUBLE PRECISION[], FINALFUNC = total_end, INITCOND = '{0,0}'
);

-- One row. Every transaction that writes begins by counting it up: its lock makes writers wait for each other, and its
-- number tells each whether another has committed since its own last turn.
CREATE TABLE store_turn (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    commits BIGINT NOT NULL
) WITH (fillfactor = 10);

INSERT INTO store_turn VALUES (1, 0);
