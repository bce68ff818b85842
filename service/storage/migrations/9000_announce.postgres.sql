-- Whoever remembers tokens is told at once when something about them changes: on PostgreSQL alone, where it is likely to
-- have happened on another machine.

CREATE FUNCTION announce_access() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('verdict_access', '');
    RETURN NULL;
END
$$;

CREATE TRIGGER access_changes_announced AFTER INSERT ON access_changes
FOR EACH STATEMENT EXECUTE FUNCTION announce_access();
