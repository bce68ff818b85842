"""Real transcripts, held against what can be told of them without our decoders."""

import html
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from service.transcripts.formats.decoder import decode
from service.transcripts.segment import Segment, UnreadableError
from service.transcripts.sentences import merge
from tests.market.recordings import DATA, needs_recordings

pytestmark = [pytest.mark.recorded, needs_recordings]

FOLDER = DATA / "transcripts"
NAMESPACE = FOLDER / "podcast-namespace"
TALKS = sorted((FOLDER / "bitcointranscripts").glob("2*.md")) + sorted(
    (FOLDER / "bitcointranscripts").glob("[a-z]*.md")
)


def read(path: Path) -> list[Segment]:
    return decode(path.read_bytes(), None)


def words(texts: Iterable[str]) -> list[str]:
    return re.findall(r"[\w']+", " ".join(texts))


def test_they_are_all_here() -> None:
    assert (len(TALKS), len(list(NAMESPACE.iterdir()))) == (13, 4)


def test_every_cue_of_the_subrip_sample_is_read() -> None:
    text = (NAMESPACE / "example.srt").read_text()
    segments = read(NAMESPACE / "example.srt")
    assert len(segments) == text.count(" --> ")
    assert (segments[0].start_ms, segments[0].end_ms) == (179, 2_399)
    assert (segments[-1].start_ms, segments[-1].end_ms) == (752_671, 754_769)
    assert {one.speaker for one in segments} == {"Travis", "Sarah", "Gilon"}


def test_the_html_sample_holds_the_same_words_as_the_subrip_sample_at_about_the_same_times() -> None:
    page, cues = read(NAMESPACE / "example.html"), read(NAMESPACE / "example.srt")
    assert words(one.text for one in page) == words(one.text for one in cues)
    assert [one.speaker for one in page] == [
        one.speaker for at, one in enumerate(cues) if at == 0 or cues[at - 1].speaker != one.speaker
    ]
    by_page, by_cues = merge(page), merge(cues)
    assert [one.text for one in by_page] == [one.text for one in by_cues]
    ends_ms = page[-1].start_ms  # nobody knows how long the last paragraph lasts
    assert (
        max(abs(a.start_ms - b.start_ms) for a, b in zip(by_page, by_cues, strict=True) if a.start_ms < ends_ms) < 6_000
    )


def test_the_webvtt_sample_is_read_to_the_last_word() -> None:
    text = html.unescape((NAMESPACE / "example.vtt").read_text())
    segments = read(NAMESPACE / "example.vtt")
    assert words(one.text for one in segments) == words(re.findall(r"<v \w+>(.*)", text))
    assert [one.speaker for one in segments] == ["Sarah"] * 5 + ["Gillian"] * 2
    assert segments[2].start_ms == 6_090


def test_the_json_sample_is_read_word_by_word_and_merged_to_what_was_said() -> None:
    told = json.loads((NAMESPACE / "example.json").read_text())["segments"]
    segments = read(NAMESPACE / "example.json")
    assert [(one.start_ms / 1_000, one.text, one.speaker) for one in segments] == [
        (one["startTime"], one["body"], one["speaker"]) for one in told
    ]
    assert [(one.start_ms, one.speaker, one.text) for one in merge(segments)] == [
        (500, "Darth Vader", "I am your father."),
        (2_750, "Luke", "Nooooo"),
    ]


@pytest.mark.parametrize("path", TALKS, ids=lambda path: path.stem)
def test_a_talk_is_read_with_its_speakers_and_times_and_none_of_its_markup(path: Path) -> None:
    body = path.read_text().split("\n---\n", 1)[1]
    segments = read(path)
    marks = re.findall(r"\d\d:\d\d:\d\d", body)
    stamps = [int(h) * 3_600_000 + int(m) * 60_000 + int(s) * 1_000 for h, m, s in (mark.split(":") for mark in marks)]
    assert {one.start_ms for one in segments} - {0} <= set(stamps)
    named = re.findall(r"^([A-Z][\w' ]{1,30}?)(?: \([A-Z]{2}\))?:(?: |$)", body, re.MULTILINE)
    assert {one.speaker for one in segments if one.speaker} <= set(named)
    assert sum(one.speaker is None for one in segments) <= 1
    spoken = " ".join(one.text for one in segments)
    assert not re.search(r"https?://|\]\(|^#|\d\d:\d\d:\d\d", spoken)
    kept = len(words([spoken])) / len(words([body]))
    assert 0.9 < kept <= 1.0


@pytest.mark.parametrize("path", TALKS, ids=lambda path: path.stem)
def test_sentences_of_a_talk_keep_every_word_in_order(path: Path) -> None:
    segments = read(path)
    sentences = merge(segments)
    assert words(one.text for one in sentences) == words(one.text for one in segments)
    assert max(len(one.text) for one in sentences) <= 300
    starts = [one.start_ms for one in segments]
    if starts == sorted(starts):
        assert [one.start_ms for one in sentences] == sorted(one.start_ms for one in sentences)


def test_a_list_of_pages_holds_no_talk() -> None:
    with pytest.raises(UnreadableError):
        read(FOLDER / "bitcointranscripts" / "_index.md")
