"""Fear & Greed of alternative.me: `GET /fng/?limit=N`, newest first, numbers in strings.

Attribution is asked for: `docs/` and the manifest's documentation name the source.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.json import Decoder

from service.clock import HOUR_MS, LATEST_MS, SECOND_MS, Clock
from service.sentiment.aggregation import Index
from service.upstream.failures import UpstreamError
from service.upstream.session import UpstreamSession

PATH: Final = "/fng/"
_WEIGHT: Final = 1
_OK: Final = 200
_AHEAD_MS: Final = HOUR_MS
"""A value dated so far after its answer is not one that anybody can know."""


class IndexDay(Struct, frozen=True):
    """The index of a day: 0 (extreme fear) to 100 (extreme greed); `timestamp` is seconds since 1970."""

    value: Annotated[int, Meta(ge=0, le=100)]
    timestamp: Annotated[int, Meta(ge=0, le=LATEST_MS // SECOND_MS)]


class Trouble(Struct, frozen=True):
    """What went wrong, if anything."""

    error: str | None = None


class IndexResponse(Struct, frozen=True):
    """The whole answer."""

    data: tuple[IndexDay, ...]
    metadata: Trouble = Trouble()


FEAR_GREED: Final = Decoder(IndexResponse, strict=False)


class FearGreed:
    """The index, as this package asks for it.

    Args:
        session: Open session to alternative.me.
        clock: No value is dated after its receipt.
    """

    def __init__(self, session: UpstreamSession, clock: Clock) -> None:
        self._session = session
        self._clock = clock

    async def newest(self) -> Index:
        """Ask for today's value.

        Raises:
            UpstreamError: If there is no answer that can be used.
        """
        fetched = await self._session.get(PATH, weight=_WEIGHT, decoder=FEAR_GREED, query={"limit": "1"})
        rows = fetched.value
        if rows.metadata.error or not rows.data:
            said = (rows.metadata.error or "no value").encode()
            raise UpstreamError(self._session.name, _OK, said)
        now_ms = min(fetched.date_ms, self._clock.now_ms())
        past = [row for row in rows.data if row.timestamp * SECOND_MS <= now_ms + _AHEAD_MS]
        if not past:
            raise UpstreamError(self._session.name, _OK, b"every value is dated ahead")
        newest = max(past, key=lambda row: row.timestamp)
        return Index(newest.value, min(newest.timestamp * SECOND_MS, now_ms))
