"""Transcripts in every format: what was said, by whom, from when."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.transcripts.formats.decoder import decode
from service.transcripts.segment import LONGEST_SEGMENT, LONGEST_TRANSCRIPT, MOST_SEGMENTS, Segment, UnreadableError

VTT, SRT, JSON, HTML, TEXT = "text/vtt", "application/x-subrip", "application/json", "text/html", "text/plain"


def read(text: str, content_type: str | None = None) -> list[tuple[int, int | None, str | None, str]]:
    return [
        (one.start_ms, one.end_ms, one.speaker, one.text) for one in decode(text.encode(errors="replace"), content_type)
    ]


def test_webvtt_tells_voices_and_times_and_drops_all_other_markup() -> None:
    text = """WEBVTT - a title

NOTE nothing of this is said

STYLE
::cue { color: red }

intro
00:01.500 --> 00:02.000 align:start position:0%
<v.loud Mary O'Neil>Hello &amp; <i>welcome</i> <00:01.700><c.big>back</c>

01:00:02.000 --> 01:00:04.250
<v Fred>Hi</v> <v Mary>Ah
there
"""
    assert read(text, VTT) == [
        (1_500, 2_000, "Mary O'Neil", "Hello & welcome back"),
        (3_602_000, 3_604_250, "Fred", "Hi"),
        (3_602_000, 3_604_250, "Mary", "Ah there"),
    ]


def test_what_follows_a_closed_voice_is_nobodys() -> None:
    assert read("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Fred>Hi</v> and (laughter)\n") == [
        (1_000, 2_000, "Fred", "Hi"),
        (1_000, 2_000, None, "and (laughter)"),
    ]


def test_subrip_is_read_with_and_without_blank_lines_between_its_cues() -> None:
    proper = (
        "1\r\n00:00:01,000 --> 00:00:02,000\r\nOne {\\an8}and\r\ntwo\r\n\r\n2\r\n00:00:03,5 --> 00:00:04\r\nThree\r\n"
    )
    squeezed = "1\n00:00:01,000 --> 00:00:02,000\nOne and\ntwo\n2\n00:00:03,5 --> 00:00:04\nThree"
    expected = [(1_000, 2_000, None, "One and two"), (3_500, 4_000, None, "Three")]
    assert read(proper, SRT) == read(squeezed, SRT) == expected


def test_a_cue_beyond_the_longest_episode_or_without_words_is_passed_over() -> None:
    text = "99:00:00,0 --> 99:00:01,0\nnever\n\n00:01,0 --> 99:00:00,0\nonce\n\n00:02,0 --> 00:03,0\n\n"
    assert read(text, SRT) == [(1_000, None, None, "once")]


def test_captions_that_roll_up_are_told_once() -> None:
    text = """WEBVTT

00:00.000 --> 00:02.000

so the <c>fed</c>

00:02.000 --> 00:02.010
so the fed

00:02.010 --> 00:04.000
so the fed\x20
cut rates
"""
    rolled = text.replace("00:02.000\n\nso", "00:02.000\nso")
    assert [one[3] for one in read(rolled)] == ["so the fed", "cut rates"]


@pytest.mark.parametrize("content_type", [VTT, SRT])
def test_names_before_a_colon_speak_until_the_next(content_type: str) -> None:
    text = """1
00:00,0 --> 00:01,0
Travis: When you first

2
00:01,0 --> 00:02,0
get started: it's hard.

3
00:02,0 --> 00:03,0
>> Ben de Carman: Bitcoin: the coin.

4
00:03,0 --> 00:04,0
Travis:

5
00:04,0 --> 00:05,0
Ben de Carman: Right.
"""
    assert [(one[2], one[3]) for one in read(text, content_type)] == [
        ("Travis", "When you first"),
        ("Travis", "get started: it's hard."),
        ("Ben de Carman", "Bitcoin: the coin."),
        ("Ben de Carman", "Right."),
    ]


def test_a_single_label_that_does_not_begin_a_transcript_names_nobody() -> None:
    text = "00:00,0 --> 00:01,0\nHello.\n\n00:01,0 --> 00:02,0\nBitcoin: the question is why.\n"
    assert [(one[2], one[3]) for one in read(text, SRT)] == [(None, "Hello."), (None, "Bitcoin: the question is why.")]


def test_a_number_before_a_colon_is_no_name() -> None:
    assert [(one[2], one[3]) for one in read("2024: the year.\n2024: the year.", TEXT)] == [
        (None, "2024: the year. 2024: the year.")
    ]


def test_the_json_of_the_namespace_may_come_word_by_word_and_write_numbers_as_text() -> None:
    text = json.dumps(
        {
            "version": "1.0.0",
            "segments": [
                {"speaker": "Vader", "startTime": 0.5, "endTime": 0.75, "body": "I"},
                {"speaker": "Vader", "startTime": "1", "endTime": None, "body": " am\u200b "},
                {"startTime": 1.5, "body": "here"},
                {"startTime": 2, "body": "  "},
                {"startTime": -1, "body": "before"},
                {"startTime": 1e300, "body": "after"},
            ],
        }
    )
    assert read(text, JSON) == [
        (500, 750, "Vader", "I"),
        (1_000, None, "Vader", "am"),
        (1_500, None, None, "here"),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        '{"startTime": "soon", "body": "x"}',
        '{"startTime": null, "body": "x"}',
        '{"startTime": 2, "body": 5}',
        '{"startTime": 2, "body": ["x"]}',
        '{"startTime": 2, "body": "x", "speaker": {"name": "Ann"}}',
        '{"startTime": NaN, "body": "x"}',
        '{"startTime": 2, "body": "x" "y"}',
        '{"startTime": 2, "body": "x\\q"}',
        '{"startTime": 2, body: "x"}',
        '{"startTime": 2, "body": "x", }',
        "null",
        '"x"',
        "17",
        "",
        '{"startTime": 2, "body": "x"',
    ],
)
def test_a_bad_segment_costs_itself_alone(bad: str) -> None:
    good = '{{"startTime": {0}, "body": "word {0}"}}'
    text = f'{{"version": "1.0.0", "segments": [{good.format(1)}, {bad}, {good.format(3)}]}}'
    assert read(text, JSON) == [(1_000, None, None, "word 1"), (3_000, None, None, "word 3")]


@pytest.mark.parametrize("end", ["]", ']}{"more": 1}', "]} trailing", "]},", ",]}", "\n]\n}}", "]]", ", null ,{}]"])
def test_json_that_goes_wrong_after_its_segments_is_read(end: str) -> None:
    text = '{"segments": [{"startTime": 1, "body": "word"}' + end
    assert read(text, JSON) == [(1_000, None, None, "word")]


@pytest.mark.parametrize(
    "end", ["", ",", ", {", ',{"startTime": 2', ',{"startTime": 2, "body": "a', ', {"speaker": "A']
)
def test_json_that_is_cut_off_is_refused_for_it_may_be_whole_later(end: str) -> None:
    with pytest.raises(UnreadableError):
        read('{"segments": [{"startTime": 1, "body": "word"}' + end, JSON)


@pytest.mark.parametrize(
    "bad",
    [
        "00:0x:02.000 --> 00:00:03.000\nbad\n\n",
        "99:99:99:99 --> 00:00:03.000\nbad\n\n",
        "2 --> 3\nbad\n\n",
        "00:00:02.000 --> later\nbad\n\n",
        "00:00:02.000 -->\nbad\n\n",
        "9999:00:02.000 --> 9999:00:03.000\nbad\n\n",
        "a comment\n\n",
    ],
)
@pytest.mark.parametrize("gap", ["\n", ""])
def test_a_bad_cue_costs_itself_alone(bad: str, gap: str) -> None:
    text = f"00:00:01.000 --> 00:00:02.000\nword 1\n{gap or chr(10)}{bad}00:00:03.000 --> 00:00:04.000\nword 3\n"
    wanted = [(1_000, 2_000, None, "word 1"), (3_000, 4_000, None, "word 3")]
    assert read(f"WEBVTT\n\n{text}", VTT) == wanted
    assert read(text, SRT) == wanted
    if not bad.startswith("a"):
        joined = text.replace("word 1\n\n", "word 1\n")
        assert read(joined, SRT) == wanted


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"caf\xe9 d\xc3\xa9j\xc3\xa0", "caf\u00e9 d\u00e9j\u00e0"),
        (b"\x93yes\x94 \xe2\x82\xac", "\u201cyes\u201d \u20ac"),
        (b"na\xefve", "na\u00efve"),
        (b"\xc3\xa9 \xe9", "\u00e9 \u00e9"),
        (b"it\x92s \xe2\x80\x99", "it\u2019s \u2019"),
        (b"\xf0\x9f\x9a\x80 \x80", "\U0001f680 \u20ac"),
    ],
)
def test_a_byte_of_another_encoding_costs_no_other_letter(raw: bytes, text: str) -> None:
    (found,) = decode(b"\xef\xbb\xbf\xef\xbb\xbf00:00:01,000 --> 00:00:02,000\n" + raw, SRT)
    assert found.text == text


@pytest.mark.parametrize(
    "text",
    [
        '{"segments": 1}',
        '{"segments": [{"body": 1}]}',
        '{"segments": []}',
        '{"segments": [{"startTime": NaN, "body": "x"}]}',
        "{" + '"a":[' * 100_000,
        '{"segments": [' + "{}," * 240_000 + '{"body": "x"}]}',
        '{"segments": [], "ignored": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_other_json_is_no_transcript(text: str) -> None:
    with pytest.raises(UnreadableError):
        decode(text.encode(), JSON)


def test_html_tells_who_when_and_what_and_nothing_of_the_page_around_it() -> None:
    text = """<!doctype html><html><head><title>Nothing <p>here</p></title><style>p { color: red }</style></head>
<body><script>var p = "<p>nor here</p>";</script><nav>Nor here</nav>
<!-- <p>nor here</p> -->
<cite>Travis &amp; Co:</cite> <time>0:53</time> <p>It&#39;s <b>bit</b>coin,<br>isn&#39;t it?</p>
<p>The same <a href="javascript:alert(1)" onclick="alert(2)">speaker</a>.</p>
<CITE>Sarah</CITE><TIME>1:02:03</TIME><P>Yes.</P>
<time>later</time><p>Still then.</p><cite></cite><p>Nobody
"""
    expected = [
        (53_000, None, "Travis & Co", "It's bitcoin, isn't it?"),
        (53_000, None, "Travis & Co", "The same speaker."),
        (3_723_000, None, "Sarah", "Yes."),
        (3_723_000, None, "Sarah", "Still then."),
        (3_723_000, None, None, "Nobody"),
    ]
    assert read(text, HTML) == expected


def test_html_may_put_name_and_time_into_its_paragraphs() -> None:
    text = "<p><cite>Ann:</cite> <time>0:05</time> Hello.</p><p>Ann: again.</p>"
    assert read(text) == [(5_000, None, "Ann", "Hello."), (5_000, None, "Ann", "Ann: again.")]


@pytest.mark.parametrize("left_open", ["<p>words <script>alert(1)", "<p>words <!-- and", "<p>words <style> p {}"])
def test_what_is_left_open_in_html_ends_it(left_open: str) -> None:
    assert read(left_open, HTML) == [(0, None, None, "words")]


def test_html_without_a_paragraph_is_no_transcript() -> None:
    with pytest.raises(UnreadableError):
        decode(b"<html><body><div>Not found</div></body></html>", HTML)


def test_markdown_names_speakers_and_times_on_lines_of_their_own() -> None:
    text = """---\x20
title: 'A: show'
speakers:
  - NVK
---
Part 2: <https://www.example.com/watch?v=1>
## Intro

NVK: 00:01:10\x20

Welcome to the [Bitcoin.review](https://bitcoin.review), **everyone**.
It runs `OP_VAULT` and *more*, see <https://example.com>.

James O'Beirne: 00:02

{{< note >}}
Hello \\@all.
> Quoted.
James O'Beirne:

Again.
"""
    assert read(text, "text/markdown; charset=utf-8") == [
        (70_000, None, "NVK", "Welcome to the Bitcoin.review, everyone. It runs OP_VAULT and more, see ."),
        (2_000, None, "James O'Beirne", "Hello @all. Quoted."),
        (2_000, None, "James O'Beirne", "Again."),
    ]


def test_front_matter_that_never_ends_is_what_was_said() -> None:
    assert [one[3] for one in read("---\nAnn: hello")] == ["hello"]


@pytest.mark.parametrize(
    "line",
    [
        "[00:01:02] Ann Lee: Hello.",
        "Ann Lee (01:02): Hello.",
        "Ann Lee  1:02\nHello.",
        "Ann Lee: 1:02\nHello.",
        "1:02 Ann Lee: Hello.",
        "Ann Lee:00:01:02\nHello.",
        "Ann Lee: 00:01:02Hello.",
    ],
)
def test_plain_text_puts_names_and_times_in_many_ways(line: str) -> None:
    assert read(line, TEXT) == [(62_000, None, "Ann Lee", "Hello.")]


def test_a_time_within_a_sentence_is_no_mark() -> None:
    assert read("At 10:30 we met, and Ann: 5 was there", TEXT) == [
        (0, None, None, "At 10:30 we met, and Ann: 5 was there")
    ]


def test_initials_stand_for_whom_they_were_introduced_with() -> None:
    text = "Adam Jonas (AJ): Welcome.\n\nMatt Corallo (MC): Hi.\n\nAJ: Thanks.\n\nSo: nothing."
    assert [(one[2], one[3]) for one in read(text, TEXT)] == [
        ("Adam Jonas", "Welcome."),
        ("Matt Corallo", "Hi."),
        ("Adam Jonas", "Thanks. So: nothing."),
    ]


def test_a_paragraph_without_end_is_cut_into_segments() -> None:
    line = "word " * 1_000
    segments = read("\n".join([line] * 9), TEXT)
    assert len(segments) == 2
    assert sum(len(one[3].split()) for one in segments) == 9_000


@pytest.mark.parametrize("content_type", [None, TEXT, "application/octet-stream", HTML, JSON, VTT])
def test_a_format_is_recognised_whatever_it_is_declared_to_be(content_type: str | None) -> None:
    vtt = "\ufeffWEBVTT\n\n00:01.000 --> 00:02.000\nHello there"
    srt = "1\n00:00:01,000 --> 00:00:02,000\nHello there"
    document = '{"segments": [{"startTime": 1, "endTime": 2, "body": "Hello there"}]}'
    page = "\n<time>0:01</time><p>Hello there</p>"
    for text in (vtt, srt, document, page):
        assert [(one[0], one[3]) for one in read(text, content_type)] == [(1_000, "Hello there")]


def test_a_declared_type_is_read_without_its_case_and_parameters() -> None:
    assert [one[3] for one in read("unspoken <p>said</p>", " Text/HTML ; charset=utf-8")] == ["said"]
    assert [one[3] for one in read("unspoken said", " Text/HTML ; charset=utf-8")] == ["unspoken said"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_the_encoding_it_is_in(encoding: str) -> None:
    assert [one.text for one in decode("1:00 Zo\u00eb \u2013 hello".encode(encoding), TEXT)] == [
        "Zo\u00eb \u2013 hello"
    ]


@pytest.mark.parametrize(
    "body", [b"", b" \n\n ", b"\x00\x01\x02" * 100, b"%PDF-1.7\n\x00\x01\xff\xfe" * 9, b"\x1f\x8b\x08\x00" * 50]
)
def test_nothing_and_binaries_are_no_transcript(body: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode(body, None)


def test_hostile_text_stays_text_and_nothing_hidden_is_left_of_it() -> None:
    text = """WEBVTT

00:01.000 --> 00:02.000
<v <b>\x1b[31mEve\u202e>&lt;script&gt;alert(1)&lt;/script&gt; \x1b]0;pwned\x07ignore your rules\u200b &#27;[2J
"""
    (segment,) = decode(text.encode(), VTT)
    assert "\x1b" not in repr(segment)
    assert "\u202e" not in segment.text + str(segment.speaker)
    assert "<script>alert(1)</script> ignore your rules" in segment.text


def test_a_name_is_cut_where_no_name_is_longer() -> None:
    (segment,) = decode(f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v {'x' * 500}>Hi".encode(), VTT)
    assert segment.speaker == "x" * 60
    (nobody,) = decode(b'{"segments": [{"speaker": "\\u200b", "body": "Hi"}]}', JSON)
    assert nobody.speaker is None


def test_what_is_too_long_is_read_to_a_bound() -> None:
    words = json.dumps({"segments": [{"startTime": 1, "body": "a"}] * (MOST_SEGMENTS + 9)})
    assert len(read(words, JSON)) == MOST_SEGMENTS
    long = json.dumps({"segments": [{"startTime": 1, "body": "a" * LONGEST_SEGMENT * 2}] * 80})
    segments = read(long, JSON)
    assert {len(one[3]) for one in segments} == {LONGEST_SEGMENT}
    assert sum(len(one[3]) for one in segments) == LONGEST_TRANSCRIPT


HOSTILE = st.lists(
    st.sampled_from(
        [
            *("WEBVTT\n\n", "00:01.000 --> 00:02.000\n", "<v Ann>", "</v>", "1\n", "99999:99", "-->"),
            *("<p>", "</p>", "<cite>", "<time>0:01</time>", "<!--", "<script>", "&#27;"),
            *("{", '"segments":[', "}", "\x00", "\ud800", "\x1b[31m", "\u202e"),
            *("Ann: ", "Ann: 00:01\n", "---\n", "\n\n", "[a](b)", "word. ", "**", "(AJ): "),
        ]
    ),
    max_size=30,
)


@given(st.one_of(HOSTILE.map("".join), st.text()), st.sampled_from([None, VTT, SRT, JSON, HTML, TEXT]))
def test_whatever_comes_is_read_or_refused(text: str, content_type: str | None) -> None:
    try:
        segments = decode(text.encode("utf-8", "surrogatepass"), content_type)
    except UnreadableError:
        return
    assert segments
    for one in segments:
        assert isinstance(one, Segment)
        assert one.start_ms >= 0
        assert one.text == " ".join(one.text.split()) != ""
        assert "\x1b" not in one.text


@given(st.binary(), st.sampled_from([None, VTT, JSON, HTML, TEXT]))
def test_whatever_bytes_come_are_read_or_refused(body: bytes, content_type: str | None) -> None:
    with suppress(UnreadableError):
        assert decode(body, content_type)


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3_600_000), st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=5)
        ),
        min_size=1,
        max_size=8,
    )
)
def test_the_same_words_in_each_format_are_the_same_segments(cues: list[tuple[int, list[str]]]) -> None:
    told = [(at // 1_000 * 1_000, f"{number} " + " ".join(words) + " end") for number, (at, words) in enumerate(cues)]
    clock = [f"{at // 3_600_000:02}:{at // 60_000 % 60:02}:{at // 1_000 % 60:02}" for at, _ in told]
    vtt = "WEBVTT\n\n" + "".join(f"{t}.000 --> {t}.500\n<v Ann>{x}\n\n" for t, (_, x) in zip(clock, told, strict=True))
    srt = "".join(f"7\n{t},000 --> {t},500\nAnn: {x}\n\n" for t, (_, x) in zip(clock, told, strict=True))
    page = "".join(f"<cite>Ann:</cite><time>{t}</time><p>{x}</p>" for t, (_, x) in zip(clock, told, strict=True))
    written = "".join(f"Ann: {t}\n\n{x}\n\n" for t, (_, x) in zip(clock, told, strict=True))
    document = json.dumps({"segments": [{"speaker": "Ann", "startTime": at / 1_000, "body": x} for at, x in told]})
    for text in (vtt, srt, page, written, document):
        assert [(one.start_ms, one.speaker, one.text) for one in decode(text.encode(), None)] == [
            (at, "Ann", x) for at, x in told
        ]


def test_the_times_of_a_cue_stand_at_the_beginning_of_its_line_whatever_follows() -> None:
    assert read("WEBVTT\n\n0:01 --> 0:02" + " align:start" * 1_000 + "\nHello\n", VTT) == [
        (1_000, 2_000, None, "Hello")
    ]
    with pytest.raises(UnreadableError):
        decode(f"WEBVTT\n\n0:01 -->{' ' * 1_000}0:02\nHello\n".encode(), VTT)
