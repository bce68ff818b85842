"""Sentences of segments: who said what, from when."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.transcripts.segment import Segment
from service.transcripts.sentences import LONGEST_SENTENCE, Sentence, merge


def segment(text: str, start_ms: int = 0, end_ms: int | None = None, speaker: str | None = None) -> Segment:
    return Segment(start_ms, end_ms, speaker, text)


def texts(text: str) -> list[str]:
    return [one.text for one in merge([segment(text)])]


def test_lines_of_captions_become_sentences_that_start_with_the_line_they_begin_in() -> None:
    captions = [
        segment("Bitcoin is up, and", 0, 1_000, "Ann"),
        segment("nobody knows why. I think", 1_000, 2_000, "Ann"),
        segment("it's flows.", 2_100, 3_000, "Ann"),
        segment("Right?", 3_000, 4_000, "Bob"),
    ]
    assert merge(captions) == [
        Sentence(0, "Ann", "Bitcoin is up, and nobody knows why."),
        Sentence(1_000, "Ann", "I think it's flows."),
        Sentence(3_000, "Bob", "Right?"),
    ]


def test_words_alone_become_sentences() -> None:
    words = [
        segment(word, at * 500, at * 500 + 250) for at, word in enumerate(["I", "am", "here.", "You", "are", "not"])
    ]
    assert merge(words) == [Sentence(0, None, "I am here."), Sentence(1_500, None, "You are not")]


def test_a_pause_ends_a_sentence_and_a_breath_does_not() -> None:
    told = [segment("well", 0, 1_000), segment("you know", 3_499, 4_000), segment("gone", 6_500, 7_000)]
    assert [one.text for one in merge(told)] == ["well you know", "gone"]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One.", "Two!", "Three?", "Four\u2026"],
        ['He said "no."', "Then (he left.)", "So."],
        ["Mr. Powell and Dr. J. Yellen met at 10 a.m. on Monday, i.e. early.", "Nothing came of it."],
        ["It was in the U.S. of all places.", "We left at 5 p.m.", "The rest is 3.5 percent."],
        ["Apple Inc.", "It sells phones, etc. and so on."],
        ["So... you know, it went... down.", "Wait...", "What?"],
        ["It's down 3.5 percent.", "$BTC is not."],
        ["\u6bd4\u7279\u5e01\u6da8\u4e86\u3002", "\u771f\u7684\uff1f", "\u662f"],
        ["\u6bd4\u7279\u5e01\u3002"],
    ],
)
def test_a_sentence_ends_at_its_stop_and_no_abbreviation_is_one(sentences: list[str]) -> None:
    joined = ("" if "\u3002" in sentences[0] else " ").join(sentences)
    assert texts(joined) == sentences


def test_speech_without_stops_is_cut_after_a_comma_or_else_a_word() -> None:
    words = "and then the market went up again " * 20
    parts = texts(words.strip())
    assert max(map(len, parts)) <= LONGEST_SENTENCE
    assert " ".join(parts) == words.strip()
    with_comma = "a" * 200 + ", " + "b " * 100
    assert texts(with_comma.strip())[0] == "a" * 200 + ","
    assert [len(part) for part in texts("x" * 650)] == [300, 300, 50]
    assert texts("y" * 300) == ["y" * 300]
    assert texts("z" * 300 + ".")[1:] == ["."]
    assert texts("z" * 299 + ". Next.") == ["z" * 299 + ".", "Next."]


def test_within_a_paragraph_the_start_is_estimated_by_what_stands_before_it() -> None:
    paragraphs = [
        segment("Ten letter. " * 9 + "Ten letter.", 60_000, None, "Ann"),
        segment("After.", 180_000, None, "Ann"),
    ]
    starts = [one.start_ms for one in merge(paragraphs)]
    assert starts[0] == 60_000
    assert all(abs(start - (60_000 + at * 12_000)) < 1_500 for at, start in enumerate(starts[:-1]))
    assert starts[-1] == 180_000


@pytest.mark.parametrize("end_ms", [10_000, None])
def test_where_a_segment_is_short_or_has_no_end_all_its_sentences_start_with_it(end_ms: int | None) -> None:
    assert [one.start_ms for one in merge([segment("One. Two. Three.", 0, end_ms)])] == [0, 0, 0]


def test_nothing_said_is_no_sentence() -> None:
    assert merge([]) == []


def test_a_row_of_stops_is_read_in_no_time() -> None:
    assert len(texts("." * 20_000)) == 67


WORDS = st.lists(st.sampled_from(["Mr.", "up.", "and", "$5,", "x" * 80]), min_size=1).map(" ".join)
LETTERS = st.text("ab .,!?A\u2026\"'", min_size=1).map(lambda text: " ".join(text.split()) or "x")
SAID = st.lists(
    st.tuples(
        st.integers(0, 4_000),
        st.one_of(st.none(), st.integers(0, 30_000)),
        st.sampled_from([None, "Ann", "Bob"]),
        st.one_of(LETTERS, WORDS),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(SAID)
def test_no_character_is_lost_and_no_sentence_starts_outside_what_it_was_said_in(
    said: list[tuple[int, int | None, str | None, str]],
) -> None:
    at_ms, segments = 0, []
    for step, lasts, speaker, text in said:
        at_ms += step
        segments.append(segment(text, at_ms, None if lasts is None else at_ms + lasts, speaker))
    sentences = merge(segments)
    assert "".join("".join(one.text.split()) for one in sentences) == "".join(
        "".join(one.text.split()) for one in segments
    )
    assert all(one.text == one.text.strip() and 0 < len(one.text) <= LONGEST_SENTENCE for one in sentences)
    assert {one.speaker for one in sentences} == {one.speaker for one in segments}
    starts = [one.start_ms for one in sentences]
    assert starts == sorted(starts)
    assert all(segments[0].start_ms <= start <= at_ms + 30_000 for start in starts)
