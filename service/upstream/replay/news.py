"""News feeds, replayed; mounted at the root: each path begins with its feed's name, `/coindesk` or `/cointelegraph`.

What was published until now is served as the publisher would: the newest fifty items, newest first, their dates moved
with the recording.
"""

from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from aiohttp import web
from defusedxml.ElementTree import fromstring

from service.clock import SECOND_MS
from service.upstream.http_date import http_date, parse_http_date
from service.upstream.replay.stage import Stage

FEEDS: Final[Mapping[str, str]] = {
    "coindesk": "/coindesk/arc/outboundfeeds/rss",
    "cointelegraph": "/cointelegraph/rss",
}
"""Feed → its path; its items lie in `<feed>/rss.xml` of the fixture set, as one long feed."""

MOST_ITEMS: Final = 50


def routes(stage: Stage) -> list[web.RouteDef]:
    """What is served, by whole paths; the form with a final slash redirects, as CoinDesk's does."""
    feeds = [web.get(path, _Feed(stage, f"{name}/rss.xml").serve) for name, path in FEEDS.items()]
    return [*feeds, *(web.get(f"{path}/", _redirect) for path in FEEDS.values())]


async def _redirect(request: web.Request) -> web.Response:
    return web.Response(status=308, headers={"Location": request.path.rstrip("/")})


class _Feed:
    def __init__(self, stage: Stage, file: str) -> None:
        self._stage = stage
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
