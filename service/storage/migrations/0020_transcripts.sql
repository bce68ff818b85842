-- What was said in podcasts and videos. Times are epoch milliseconds UTC. All of it can be fetched again; rows of another
-- origin (live, or a recording and its shift in time) than the one told are cleared.

-- Which origin's rows are told; none before the first round.
CREATE TABLE transcript_told (
    place INTEGER PRIMARY KEY CHECK (place = 1),
    origin TEXT NOT NULL
) STRICT;

-- Feeds as they were last asked: `feed` is the URL then, `etag` and `last_modified` what it called that version.
CREATE TABLE transcript_sources (
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    feed TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'failing', 'blocked')),
    etag TEXT,
    last_modified TEXT,
    asked_ms INTEGER NOT NULL,
    answered_ms INTEGER,
    failed_status INTEGER,
    failed_body TEXT,
    PRIMARY KEY (origin, source)
) STRICT, WITHOUT ROWID;

-- Episodes that have transcripts. `key` is a digest of the guid, `enclosure` of the file that is listened to, `digest` of
-- what is said. An episode that another feed had before is `told_by` that one's row. `links` is a JSON array of where the
-- transcript is, the best first; `sentences` is zlib over a JSON array, null until it was read; `tagged_with` is a digest
-- of the coins and categories that were known then. What could not be read is not asked for before `next_ms`.
CREATE TABLE transcript_episodes (
    episode INTEGER PRIMARY KEY,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    enclosure TEXT,
    digest TEXT,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    published_ms INTEGER NOT NULL,
    links TEXT NOT NULL,
    told_by INTEGER REFERENCES transcript_episodes ON DELETE SET NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_ms INTEGER NOT NULL DEFAULT 0,
    read_ms INTEGER,
    sentences BLOB,
    tagged_with TEXT,
    UNIQUE (origin, source, key)
) STRICT;

CREATE INDEX transcript_episodes_by_key ON transcript_episodes (origin, key);
CREATE INDEX transcript_episodes_by_enclosure ON transcript_episodes (origin, enclosure) WHERE enclosure IS NOT NULL;
CREATE INDEX transcript_episodes_by_digest ON transcript_episodes (origin, digest) WHERE digest IS NOT NULL;
CREATE INDEX transcript_episodes_by_teller ON transcript_episodes (told_by) WHERE told_by IS NOT NULL;

-- The passages that are told: of an episode the best has the highest number (16 times the episode's and 15, then down), so
-- that one order is that of a list. Words are plain text as they were spoken; `coins`, `sectors` and `macro` JSON arrays.
CREATE TABLE transcript_highlights (
    highlight INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL REFERENCES transcript_episodes ON DELETE CASCADE,
    id TEXT NOT NULL,
    start_ms INTEGER NOT NULL,
    speaker TEXT,
    quote TEXT NOT NULL,
    coins TEXT NOT NULL,
    sectors TEXT NOT NULL,
    macro TEXT NOT NULL,
    stance TEXT NOT NULL CHECK (stance IN ('bullish', 'bearish', 'neutral'))
) STRICT;

CREATE INDEX transcript_highlights_of_episode ON transcript_highlights (episode);
