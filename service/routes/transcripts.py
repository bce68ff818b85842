"""GET /api/cli/transcripts: what was said of coins, sectors and the economy, and where."""

from service.routes.call import Call
from service.transcripts.desk import TranscriptDesk
from service.wire.envelope import Answer
from service.wire.transcripts import TranscriptsQuery


async def transcripts(desk: TranscriptDesk, call: Call[TranscriptsQuery, None]) -> Answer:
    """Read a page of highlights, or the sources, from the store.

    Raises:
        ServiceError: BAD_REQUEST for `cursor`; UNKNOWN_SYMBOL, UNKNOWN_CATEGORY or NOT_FOUND (a source) with
            candidates; UPSTREAM_4XX, UPSTREAM_5XX or UNAVAILABLE where nothing can be said.
    """
    return await desk.transcripts(call.parameters)
