"""Transcripts in every format, read into passages as the room does."""

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from service.feeds.lenient import decode_rows
from service.sentiment.matcher import Known
from service.sentiment.scoring import LexiconScorer
from service.transcripts import youtube
from service.transcripts.formats.decoder import decode
from service.transcripts.highlights import choose
from service.transcripts.segment import LONGEST_SEGMENT, Segment, UnreadableError
from service.transcripts.sentences import merge
from service.transcripts.tagging import Tagger
from tests.fuzz.target import Target, check_sound

_TAGGER = Tagger([Known("BTC", "Bitcoin"), Known("SOL", "Solana")], ["Meme"])
_SCORER = LexiconScorer()


def _tell(segments: list[Segment]) -> None:
    for segment in segments:
        assert 0 < len(segment.text) <= 6 * LONGEST_SEGMENT
        assert segment.text.isprintable(), segment
    passages = choose(merge(segments), _TAGGER, _SCORER)
    check_sound(segments)
    check_sound(passages)
    msgspec.json.encode(passages)


def _reading(kind: str) -> "Target":
    def read(data: bytes) -> None:
        with suppress(UnreadableError):
            _tell(decode(data, kind))

    return Target(f"transcripts.{kind.rpartition('/')[2].rpartition('-')[2]}", read, _SEEDS[kind], _WORDS)


def read_captions(data: bytes) -> None:
    """What YouTube's player says, then its captions."""
    with suppress(UnreadableError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        player = youtube._player.decode(data)
        tracks, _ = decode_rows(player.captions.player_captions_tracklist_renderer.caption_tracks, youtube._track)
        youtube._choose(tracks, "en-GB")
    with suppress(UnreadableError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        _tell(youtube._read(data))


def _vtt() -> Iterable[bytes]:
    yield (
        b"WEBVTT - a\n\nNOTE b\n\nSTYLE\n::cue{}\n\n1\n00:00:01.000 --> 00:00:02.500 align:start\n"
        b"<v.loud Ann><c.x>Bitcoin</c> &amp; <00:00:01.500>Solana soar</v>\n- and\n\n"
        b"00:03.000 --> 1:00:04.000\n>> BO: No.\n"
    )


def _srt() -> Iterable[bytes]:
    yield (
        b"1\r\n00:00:01,000 --> 00:00:02,500\r\nAnn: Bitcoin\r\n<i>crashes</i> {\\an8}hard.\r\n\r\n"
        b"2\r\n00:00:03,000 --> 00:00:04,000\r\nAnn: Yes.\r\n"
    )


def _json() -> Iterable[bytes]:
    yield b'{"version":"1.0.0","segments":[{"speaker":"Ann","startTime":0.5,"endTime":1.5,"body":"Bitcoin soars."}]}'


def _html() -> Iterable[bytes]:
    yield b"<cite>Ann:</cite><time>0:01:02</time><p>Bitcoin <b>soars</b> &amp; <!-- x --></p><script>a</script><p>No"


def _text() -> Iterable[bytes]:
    yield b"---\na: b\n---\n# Head\n\nAnn: 00:01:02\nBitcoin [soars](http://a) *high*.\n\n[00:02:00] Bo (B): No.\nB: Y"
    yield b"Speaker 1 (00:12): Solana crashes.\n\nSpeaker 2 (00:15): It does not.\n"


def _captions() -> Iterable[bytes]:
    yield b'{"events":[{"tStartMs":10,"dDurationMs":20,"segs":[{"utf8":"Bitcoin"},{"utf8":" soars"}]},{"segs":[]}]}'
    yield (
        b'{"captions":{"playerCaptionsTracklistRenderer":{"captionTracks":[{"baseUrl":'
        b'"https://www.youtube.com/api/timedtext?v=a","languageCode":"en","kind":"asr"}]}}}'
    )


_WORDS = (
    b" --> ",
    b"\n\n",
    b"<v ",
    b"</",
    b"&#x110000;",
    b"\x1b]",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"Ann: ",
    b"00:00:01.000",
)
_SEEDS = {
    "text/vtt": _vtt,
    "text/srt": _srt,
    "text/html": _html,
    "text/plain": _text,
}


def read_json(data: bytes) -> None:
    """The JSON of the podcast namespace."""
    with suppress(UnreadableError):
        _tell(decode(data, "application/json"))


TARGETS = (
    *map(_reading, _SEEDS),
    Target("transcripts.json", read_json, _json, is_json=True),
    Target("transcripts.captions", read_captions, _captions, is_json=True),
)
