"""Reading feeds that anybody may have written."""

from contextlib import suppress
from email.utils import formatdate
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.feeds.entries import FeedError
from service.sentiment.sources.rss import LONGEST_TITLE, MOST_ITEMS, RssDecoder, Story, plain

DECODER = RssDecoder("coindesk")
NOON_MS = 1_753_444_800_000


def item(title: str = "Bitcoin rises", guid: str = "", link: str = "", date: str = "") -> str:
    parts = {"title": title, "guid": guid, "link": link, "pubDate": date}
    return "<item>" + "".join(f"<{tag}>{text}</{tag}>" for tag, text in parts.items() if text) + "</item>"


def feed(*items: str, head: str = '<?xml version="1.0" encoding="utf-8"?>') -> str:
    return f'{head}<rss version="2.0"><channel><title>News</title>{"".join(items)}</channel></rss>'


def read(*items: str) -> tuple[Story, ...]:
    return DECODER.decode(feed(*items).encode()).stories


def test_an_item_has_a_title_a_link_and_a_date() -> None:
    (story,) = read(item(link="https://news.example/a", date="Fri, 25 Jul 2025 12:00:00 +0000"))
    assert (story.title, story.url, story.published_ms) == ("Bitcoin rises", "https://news.example/a", NOON_MS)


@pytest.mark.parametrize(
    "date",
    [
        "Fri, 25 Jul 2025 12:00:00 GMT",
        "Fri, 25 Jul 2025 08:00:00 EDT",
        "25 Jul 2025 14:00:00 +0200",
        "2025-07-25T12:00:00Z",
        "2025-07-25T14:00:00.000+02:00",
    ],
)
def test_dates_are_read_as_publishers_write_them(date: str) -> None:
    assert read(item(date=date))[0].published_ms == NOON_MS


@pytest.mark.parametrize("date", ["", "yesterday", "Fri, 25 Jul 2025 12:00:00", "1 Jan 1901 00:00:00 GMT", "\u0662"])
def test_what_is_no_date_is_none(date: str) -> None:
    assert read(item(date=date))[0].published_ms is None


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("<![CDATA[Bitcoin <b>rises</b> &amp; falls]]>", "Bitcoin rises & falls"),
        ("Bitcoin &lt;b&gt;rises&lt;/b&gt;", "Bitcoin rises"),
        ("Bitcoin&amp;#039;s rise", "Bitcoin's rise"),
        ("&lt;script&gt;alert(1)&lt;/script&gt; coin", "alert(1) coin"),
        ("&amp;lt;script&amp;gt;alert(1)&amp;lt;/script&amp;gt; coin", "alert(1) coin"),
        ("&amp;lt;!-- hidden --&amp;gt;coin", "coin"),
        ("  two\n  lines\t ", "two lines"),
        ("price &lt; $5 and &gt; $3", "price < $5 and > $3"),
        ("<i>Bitcoin</i> rises", "Bitcoin rises"),
        ("right \u202eto\u202c left\u200b", "right to left"),
        ("Bit\u200bcoin, Et\u00adher, So\u2060lana, X\U000e0061RP", "Bitcoin, Ether, Solana, XRP"),
        ("one\u2028line\u2029only\x85here", "one line only here"),
    ],
)
def test_a_title_is_what_a_reader_sees(title: str, text: str) -> None:
    assert read(item(title))[0].title == text


def test_a_long_title_is_cut() -> None:
    assert len(read(item("x" * 5_000))[0].title) == LONGEST_TITLE


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "ftp://x", "/relative", "https://a b", "https://x/" + "y" * 600]
)
def test_a_link_that_is_none_is_left_out(link: str) -> None:
    assert read(item(link=link))[0].url == ""


def test_an_item_without_a_title_is_left_out_alone() -> None:
    assert [story.title for story in read(item(""), item("<b></b>"), item("a coin"))] == ["a coin"]


def test_an_item_that_stands_twice_is_one() -> None:
    assert len(read(item("a", guid="one"), item("b", guid="one"))) == 1


def test_a_guid_that_may_be_the_same_in_another_feed_on_purpose_is_the_same_item() -> None:
    shared, own = item(guid="https://news.example/2025/a"), item(guid="17")
    other = RssDecoder("cointelegraph")
    assert other.decode(feed(shared).encode()).stories == read(shared)
    assert other.decode(feed(own).encode()).stories[0].id != read(own)[0].id


def test_without_a_guid_the_link_and_then_the_title_name_an_item() -> None:
    link = "https://news.example/2025/a"
    assert read(item("a", link=link))[0].id == read(item("b", link=link))[0].id != read(item("b"))[0].id


def test_an_endless_feed_is_cut() -> None:
    assert len(read(*(item(f"coin {number}") for number in range(MOST_ITEMS + 10)))) == MOST_ITEMS


def test_a_feed_may_be_empty() -> None:
    assert read() == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_a_feed_is_read_in_the_encoding_it_declares(encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    (story,) = DECODER.decode(feed(item("caf\u00e9 coin"), head=head).encode(encoding)).stories
    assert story.title == "caf\u00e9 coin"


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    "<rss><channel><item><title>&b;</title></item></channel></rss>"
)
THIEF = (
    '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    "<rss><channel><item><title>&a;</title></item></channel></rss>"
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not xml",
        b"<html><body>Just a moment...</body></html>",
        b"{}",
        b"<rss></rss>",
        b"<rss><channel>",
        b"<feed><channel/></feed>",
        b"\xff\xfe<",
        BOMB.encode(),
        THIEF.encode(),
        feed(item("<b></b>")).encode(),
    ],
)
def test_what_is_no_feed_or_defines_entities_is_refused(body: bytes) -> None:
    with pytest.raises(FeedError):
        DECODER.decode(body)


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(FeedError):
        assert isinstance(DECODER.decode(body).stories, tuple)


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=80)


@given(TEXT, st.integers(0, 253_402_300_799))
def test_any_title_comes_back_plain_and_its_date_whole(title: str, at_s: int) -> None:
    date = formatdate(at_s, usegmt=True)
    try:
        (story,) = DECODER.decode(
            feed(f"<item><title><![CDATA[{title}]]></title><pubDate>{date}</pubDate></item>").encode()
        ).stories
    except FeedError:
        assert not plain(title) or "]]>" in title
    else:
        assert story.published_ms == at_s * 1000
        assert story.title == " ".join(story.title.split())


@given(TEXT)
def test_plain_text_has_no_control_characters_left(text: str) -> None:
    assert all(letter.isprintable() or letter == " " or not letter.isascii() for letter in plain(text))


def test_more_markup_than_any_feed_has_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(read(*(item(f"Story {number}", guid=f"{number}") for number in range(5_000)))) == 500
    monkeypatch.setattr("service.feeds.entries.decode_text", None)
    with pytest.raises(FeedError):
        read(item("<b>" * 60_000 + "</b>" * 60_000))


def test_what_is_made_to_hurt_is_read_in_linear_time() -> None:
    """A megabyte of each: comments that never end, tags that never close, elements within elements."""
    many = 250_000
    for title in ("&lt;!--" * (many // 2), "&lt;a" * many, "&amp;amp;" * (many // 3), "&lt;" * many):
        assert len(read(item(title))) <= 1
    with suppress(FeedError):
        read("<a>" * (many // 4) + "</a>" * (many // 4))
    assert len(read(item(date="1" * many, link="https://" + "a" * many, guid="b" * many))) == 1


def test_a_story_of_rss_1_has_its_date_and_identifier() -> None:
    body = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        'xmlns:d="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://a.example/"><title>News</title>'
        '</channel><item rdf:about="urn:story:number-1"><title>Bitcoin</title><link>https://a.example/1</link>'
        "<d:date>2025-07-25T23:33:00+02:00</d:date></item></rdf:RDF>"
    )
    (story,) = RssDecoder("coindesk").decode(body.encode()).stories
    assert (story.title, story.url, story.published_ms) == ("Bitcoin", "https://a.example/1", 1_753_479_180_000)
    assert story.id == sha256(b"urn:story:number-1").hexdigest()[:24]
