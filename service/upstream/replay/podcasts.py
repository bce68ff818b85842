"""Podcast feeds and their transcripts, replayed: `https://HOST/PATH` is at `/HOST/PATH` below the mount.

What is served lies at `podcasts/HOST/PATH` of the fixture set. In a feed are the items that were published until now,
their dates moved with the recording; every other byte is the publisher's. Queries are ignored. Everything has an entity
tag (RFC 9110 §8.8.3), so that whoever has it already need not fetch it again.
"""

import hashlib
import re
from pathlib import PurePosixPath
from typing import Final

from aiohttp import web

from service.upstream.http_date import http_date, parse_http_date
from service.upstream.replay.stage import Stage

FOLDER: Final = "podcasts"

_FEED: Final = ".xml"
_TYPES: Final = {
    _FEED: "application/rss+xml; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
    ".srt": "application/x-subrip",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_OTHER: Final = "application/octet-stream"
_ITEM: Final = re.compile(rb"<item>.*?</item>", re.DOTALL)
_DATE: Final = re.compile(rb"(?<=<pubDate>)[^<]*(?=</pubDate>)")


def routes(stage: Stage) -> list[web.RouteDef]:
    """What is served, whichever host it is of."""
    return [web.get("/{host}/{path:.+}", _Hosts(stage).serve)]


class _Hosts:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def serve(self, request: web.Request) -> web.Response:
        """One file as it stands now; 304 where the asker has it."""
        path = PurePosixPath(FOLDER, request.match_info["host"], request.match_info["path"])
        body = self._stage.files.get(str(path))
        if body is None:
            raise web.HTTPNotFound
        if path.suffix == _FEED:
            body = self._until_now(body)
        tag = hashlib.sha256(body).hexdigest()[:32]
        headers = {"ETag": f'"{tag}"'}
        if any(known.value in {tag, "*"} for known in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, headers={"Content-Type": _TYPES.get(path.suffix, _OTHER), **headers})

    def _until_now(self, feed: bytes) -> bytes:
        now_ms, shift_ms = self._stage.now()

        def moved(item: re.Match[bytes]) -> bytes:
            dated = _DATE.search(item[0])
            at_ms = parse_http_date(dated[0].decode()) if dated else None
            if at_ms is None:
                return item[0]
            return _DATE.sub(http_date(at_ms + shift_ms).encode(), item[0]) if at_ms <= now_ms else b""

        return _ITEM.sub(moved, feed)
