"""Fear & Greed, news and podcast feeds, replayed with their dates moved to the present.

- Fear & Greed (alternative.me) under `/alternative`: one value per day, newest first.
- News at the root (`/coindesk/...`, `/cointelegraph/...`): the newest fifty items published until now.
- Podcasts under `/podcasts/HOST/PATH`, from `podcasts/HOST/PATH` of the fixture set. Queries are ignored. Each answer
  has an entity tag (RFC 9110 §8.8.3), so unchanged files need not be sent again.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec
from aiohttp import web
from defusedxml.ElementTree import fromstring
from msgspec.structs import replace

from service.clock import DAY_MS, SECOND_MS
from service.feeds.dates import parse_http_date
from service.upstream.replay.history import ReplayContext
from service.upstream.responses import http_date

FEAR_GREED_FILE: Final = "alternative/fng.json"
_DEFAULT_LIMIT: Final = "1"
_DAY_S: Final = DAY_MS // SECOND_MS


class RecordedIndexDay(msgspec.Struct, frozen=True):
    """The index of a day as the venue writes it; `timestamp` is that day's first second, since 1970."""

    value: str
    value_classification: str
    timestamp: str


def fear_greed_routes(context: ReplayContext) -> list[web.RouteDef]:
    """What is served, by paths below the mount point."""
    return [web.get("/fng/", _Index(context).serve)]


class _Index:
    def __init__(self, context: ReplayContext) -> None:
        self._stage = context

    @cached_property
    def _values(self) -> list[RecordedIndexDay]:
        content = self._stage.files.get(FEAR_GREED_FILE)
        return [] if content is None else msgspec.json.decode(content, type=list[RecordedIndexDay])

    async def serve(self, request: web.Request) -> web.Response:
        """`GET /fng/?limit=N`; 0 is everything there is."""
        limit = request.query.get("limit", _DEFAULT_LIMIT)
        if not (limit.isascii() and limit.isdigit()):
            limit = _DEFAULT_LIMIT
        now_ms, shift_ms = self._stage.now()
        now_s, shift_s = now_ms // SECOND_MS, shift_ms // SECOND_MS
        known = [value for value in self._values if int(value.timestamp) <= now_s]
        rows = [
            msgspec.to_builtins(replace(value, timestamp=str(int(value.timestamp) + shift_s)))
            for value in known[: int(limit) or None]
        ]
        if rows:
            rows[0]["time_until_update"] = str(_DAY_S - now_s % _DAY_S)
        body = msgspec.json.encode({"name": "Fear and Greed Index", "data": rows, "metadata": {"error": None}})
        return web.Response(body=body, headers={"Content-Type": "application/json"})


FEEDS: Final[Mapping[str, str]] = {
    "coindesk": "/coindesk/arc/outboundfeeds/rss",
    "cointelegraph": "/cointelegraph/rss",
}
"""Feed → its path; its items lie in `<feed>/rss.xml` of the fixture set, as one long feed."""

MOST_ITEMS: Final = 50


def news_routes(context: ReplayContext) -> list[web.RouteDef]:
    """What is served, by whole paths; the form with a final slash redirects, as CoinDesk's does."""
    feeds = [web.get(path, _NewsFeed(context, f"{name}/rss.xml").serve) for name, path in FEEDS.items()]
    return [*feeds, *(web.get(f"{path}/", _redirect) for path in FEEDS.values())]


async def _redirect(request: web.Request) -> web.Response:
    return web.Response(status=308, headers={"Location": request.path.rstrip("/")})


class _NewsFeed:
    def __init__(self, context: ReplayContext, file: str) -> None:
        self._stage = context
        self._file = file

    @cached_property
    def _channel(self) -> Element:
        content = self._stage.files.get(self._file)
        channel = None if content is None else fromstring(content).find("channel")
        return Element("channel") if channel is None else channel

    @cached_property
    def _items(self) -> list[tuple[int, Element]]:
        """By recorded time, oldest first; an item without a date came with the one before it in the file."""
        items, at_ms = [], 0
        for item in self._channel.findall("item"):
            at_ms = parse_http_date(item.findtext("pubDate", "")) or at_ms
            items.append((at_ms, item))
        return sorted(items, key=lambda dated: dated[0])

    async def serve(self, _: web.Request) -> web.Response:
        """The feed as it stands now."""
        now_ms, shift_ms = self._stage.now()
        end = bisect_right(self._items, now_ms, key=lambda dated: dated[0])
        rss = Element("rss", {"version": "2.0"})
        channel = SubElement(rss, "channel")
        channel.extend(part for part in self._channel if part.tag != "item")
        SubElement(channel, "lastBuildDate").text = http_date((now_ms + shift_ms) // SECOND_MS * SECOND_MS)
        channel.extend(_moved(item, at_ms + shift_ms) for at_ms, item in reversed(self._items[:end][-MOST_ITEMS:]))
        body = tostring(rss, encoding="utf-8", xml_declaration=True)
        return web.Response(body=body, headers={"Content-Type": "application/rss+xml; charset=utf-8"})


def _moved(item: Element, at_ms: int) -> Element:
    """The item with its date moved; what has none keeps none."""
    moved = Element("item")
    for part in item:
        if part.tag == "pubDate":
            SubElement(moved, "pubDate").text = http_date(at_ms).replace("GMT", "+0000")
        else:
            moved.append(part)
    return moved


PODCASTS_FOLDER: Final = "podcasts"

_FEED_SUFFIX: Final = ".xml"
_TYPES: Final = {
    _FEED_SUFFIX: "application/rss+xml; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
    ".srt": "application/x-subrip",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_OTHER: Final = "application/octet-stream"
_ITEM_XML: Final = re.compile(rb"<item>.*?</item>", re.DOTALL)
_PUB_DATE: Final = re.compile(rb"(?<=<pubDate>)[^<]*(?=</pubDate>)")


def podcast_routes(context: ReplayContext) -> list[web.RouteDef]:
    """What is served, whichever host it is of."""
    return [web.get("/{host}/{path:.+}", _Hosts(context).serve)]


class _Hosts:
    def __init__(self, context: ReplayContext) -> None:
        self._stage = context

    async def serve(self, request: web.Request) -> web.Response:
        """One file as it stands now; 304 where the asker has it."""
        path = PurePosixPath(PODCASTS_FOLDER, request.match_info["host"], request.match_info["path"])
        body = self._stage.files.get(str(path))
        if body is None:
            raise web.HTTPNotFound
        if path.suffix == _FEED_SUFFIX:
            body = self._until_now(body)
        tag = hashlib.sha256(body).hexdigest()[:32]
        headers = {"ETag": f'"{tag}"'}
        if any(known.value in {tag, "*"} for known in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, headers={"Content-Type": _TYPES.get(path.suffix, _OTHER), **headers})

    def _until_now(self, feed: bytes) -> bytes:
        now_ms, shift_ms = self._stage.now()

        def moved(item: re.Match[bytes]) -> bytes:
            dated = _PUB_DATE.search(item[0])
            at_ms = parse_http_date(dated[0].decode()) if dated else None
            if at_ms is None:
                return item[0]
            return _PUB_DATE.sub(http_date(at_ms + shift_ms).encode(), item[0]) if at_ms <= now_ms else b""

        return _ITEM_XML.sub(moved, feed)
