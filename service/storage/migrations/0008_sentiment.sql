-- News items, scored and attributed once, when they were first seen; pruned after 30 days. All of it can be fetched
-- again, and rows of another origin than the one written are cleared. Times are epoch milliseconds UTC.
--
-- `id` is a digest of the item's guid; `published_ms` never lies after `scored_ms`; `score` is -1 to 1; `coins` and
-- `categories` are JSON arrays of symbols and names; `title` is plain text, cut.
CREATE TABLE news_items (
    id TEXT PRIMARY KEY,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    published_ms INTEGER NOT NULL,
    score REAL NOT NULL CHECK (score BETWEEN -1 AND 1),
    coins TEXT NOT NULL,
    categories TEXT NOT NULL,
    scored_ms INTEGER NOT NULL,
    CHECK (published_ms <= scored_ms)
) STRICT, WITHOUT ROWID;

CREATE INDEX news_items_by_time ON news_items (published_ms);
