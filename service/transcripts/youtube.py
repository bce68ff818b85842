"""Captions of YouTube videos, for who opts in: there is no official way to read them, so this may end any day.

What is asked is what YouTube's own Android application asks: its player's description of a video, and from there the
captions in `json3`. No account, no cookie, no key. YouTube's robots.txt keeps programs out of these paths; to opt in is
to say that they are read all the same, at the pace of every other host.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from service.feeds.lenient import decode_rows
from service.transcripts.cleaning import plain
from service.transcripts.segment import LATEST_MS, MOST_SEGMENTS, Segment, UnreadableError
from service.upstream.feed_fetcher import FeedFetcher

HOST: Final = "https://www.youtube.com/"
LARGEST: Final = 4 * 1024 * 1024

_PLAYER: Final = f"{HOST}youtubei/v1/player?prettyPrint=false"
_CLIENT: Final = {"clientName": "ANDROID", "clientVersion": "20.10.38", "hl": "en"}
_ENGLISH: Final = "en"
_MADE_BY_MACHINE: Final = "asr"

_Ms = Annotated[int, Meta(ge=0, le=LATEST_MS)]


class _Track(Struct, frozen=True, rename="camel"):
    base_url: str
    language_code: str
    kind: str = ""


class _Tracks(Struct, frozen=True, rename="camel"):
    caption_tracks: tuple[msgspec.Raw, ...] = ()


class _Captions(Struct, frozen=True, rename="camel"):
    player_captions_tracklist_renderer: _Tracks = _Tracks()


class _Player(Struct, frozen=True):
    captions: _Captions = _Captions()


class _Piece(Struct, frozen=True):
    utf8: str = ""


class _Event(Struct, frozen=True, rename="camel"):
    """A line on the screen; `segs` are its words, missing where it only moves older lines."""

    t_start_ms: _Ms = 0
    d_duration_ms: _Ms = 0
    segs: tuple[_Piece, ...] = ()


class _Shown(Struct, frozen=True):
    events: tuple[msgspec.Raw, ...]


_log: Final = logging.getLogger("verdict.transcripts")
_player: Final = msgspec.json.Decoder(_Player)
_shown: Final = msgspec.json.Decoder(_Shown)
_track: Final = msgspec.json.Decoder(_Track)
_event: Final = msgspec.json.Decoder(_Event)


class Captions:
    """Reads captions.

    Args:
        fetcher: Who asks.
    """

    def __init__(self, fetcher: FeedFetcher) -> None:
        self._fetcher = fetcher

    async def read(self, page: str, language: str | None) -> list[Segment]:
        """Read the captions of a video: those that people wrote before those of a machine.

        Args:
            page: The address of its page.
            language: Which are wanted; English if it is null.

        Raises:
            UpstreamError: If YouTube gives no answer.
            UnreadableError: If there are none in that language, or they are in a form that is not known.
        """
        asked = {"context": {"client": _CLIENT}, "videoId": page.rpartition("=")[2]}
        response = await self._fetcher.post_json(_PLAYER, asked, LARGEST)
        try:
            listed = _player.decode(response.body or b"").captions.player_captions_tracklist_renderer.caption_tracks
            url = _choose(decode_rows(listed, _track)[0], language or _ENGLISH)
            shown = await self._fetcher.get(f"{url}&fmt=json3", LARGEST, obey_robots=False)
            return await asyncio.to_thread(_read, shown.body or b"")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UnreadableError("captions in a form that is not known") from error


def _choose(tracks: Sequence[_Track], language: str) -> str:
    wanted = language.lower().split("-")[0]
    fitting = [
        track
        for track in tracks
        if track.language_code.lower().split("-")[0] == wanted and track.base_url.startswith(f"{HOST}api/timedtext?")
    ]
    if not fitting:
        raise UnreadableError("no captions in that language")
    return min(fitting, key=lambda track: track.kind == _MADE_BY_MACHINE).base_url


def _read(body: bytes) -> list[Segment]:
    """In a thread: captions of many hours take a tenth of a second."""
    events, lost = decode_rows(_shown.decode(body).events, _event)
    if lost and not events:
        raise UnreadableError("captions in a form that is not known")
    if lost:
        _log.info("Lines of captions are unreadable.", extra={"lost": lost, "read": len(events)})
    return list(_segments(events))[:MOST_SEGMENTS]


def _segments(events: Sequence[_Event]) -> Iterator[Segment]:
    for event in events:
        text = plain("".join(piece.utf8 for piece in event.segs))
        if text:
            yield Segment(event.t_start_ms, event.t_start_ms + event.d_duration_ms, None, text)
