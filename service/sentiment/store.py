"""News items in the database."""

from collections.abc import Sequence
from typing import Final

import msgspec

from service.clock import DAY_MS
from service.sentiment.aggregation import ScoredItem
from service.storage.database import Database
from service.storage.engine import Connection
from service.storage.rows import insert_rows
from service.wire.envelope import encode

KEPT_MS: Final = 30 * DAY_MS

_COLUMNS: Final = "id, source, title, url, published_ms, score, coins, categories, scored_ms"
_ADD: Final = f"INSERT INTO news_items (origin, {_COLUMNS})"
_READ: Final = f"SELECT {_COLUMNS} FROM news_items WHERE origin = ? AND published_ms > ? ORDER BY published_ms, id"  # noqa: S608 - a constant
_REPLACE: Final = """
    ON CONFLICT (id) DO UPDATE SET
        score = excluded.score, coins = excluded.coins, categories = excluded.categories
"""
_names: Final = msgspec.json.Decoder(tuple[str, ...])


class NewsStore:
    """The package's table.

    Args:
        database: Where it is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, origin: str, since_ms: int) -> list[ScoredItem]:
        """Items published after an instant, oldest first; none of another origin.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        rows = await self._database.read(_READ, (origin, since_ms))
        return [
            ScoredItem(
                key, source, title, url, published_ms, score, _names.decode(coins), _names.decode(named), scored_ms
            )
            for key, source, title, url, published_ms, score, coins, named, scored_ms in rows
        ]

    async def put(self, origin: str, items: Sequence[ScoredItem], now_ms: int) -> None:
        """Keep items, and let go of what is old or of another origin.

        An item that is known already keeps its time; what it is about, and how it sounds without those names, is taken
        over.

        Args:
            origin: The history they belong to.
            items: Scored and attributed.
            now_ms: Items published more than 30 days before go.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be written.
        """
        values = [
            (
                item.id,
                item.source,
                item.title,
                item.url,
                item.published_ms,
                item.score,
                encode(item.coins).decode(),
                encode(item.categories).decode(),
                item.scored_ms,
            )
            for item in items
        ]

        def work(connection: Connection) -> None:
            connection.execute(
                "DELETE FROM news_items WHERE origin <> ? OR published_ms < ?", (origin, now_ms - KEPT_MS)
            )
            insert_rows(connection, _ADD, values, _REPLACE, shared=(origin,))

        await self._database.write(work)
