"""Reading feeds past blemishes: what is wrong in one item costs that item alone."""

import codecs
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.feeds.entries import FeedDocument, FeedError, read_entries

HEAD = '<?xml version="1.0" encoding="utf-8"?>'
LINK = "https://news.example/?a=1&b=2"
WANTED = frozenset({"title", "link", "guid", "podcast:transcript"})
MOST = 10_000


def feed(title: str = "One", head: str = HEAD, root: str = "") -> str:
    link = LINK.replace("&", "&amp;")
    items = "".join(f"<item><title>{each}</title><link>{link}</link></item>" for each in (title, "Two"))
    return f'{head}<rss version="2.0"{root}><channel><title>News</title>{items}</channel></rss>'


def read(body: bytes) -> FeedDocument:
    return read_entries(body, WANTED, MOST, {"urn:podcast": "podcast"})


def titles(found: FeedDocument) -> list[str]:
    return [entry.text("title") for entry in found.entries]


@pytest.mark.parametrize(
    "body",
    [
        f"\n{feed()}".encode(),
        codecs.BOM_UTF8 * 2 + feed().encode(),
        codecs.BOM_UTF8 + b"\r\n " + feed().encode(),
        b"<br />\n<b>Warning</b>: something in /var/www/feed.php\n" + feed().encode(),
        feed().encode() + b"<script>track()</script>",
        feed().encode() + b"\n-->\x00 & garbage <",
        feed().encode() + feed("Three").encode(),
        feed(head='<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://news.example/rss.dtd">').encode(),
        feed(head="<!DOCTYPE rss [ <!ELEMENT title (#PCDATA)> ]>").encode(),
        feed(head='<?xml version="1.1" encoding="nonesuch"?>').encode(),
        feed(head='<?xml version="1.0" encoding="unicode_escape"?>').encode(),
        feed("<![CDATA[One]]>").encode(),
        feed("One</title><media:content url=x width=5/><title>").encode(),
        feed("One</title><description>a < b <c & <br></description><title>").encode(),
        feed("One</title><image><title>Wrong</title></image><title>").encode(),
        feed("<!-- a -- comment -->One").encode(),
        feed("One").replace("<rss", "<rss <!-- broken -->", 1).replace("<rss ", "<rss>", 1).encode(),
        feed("One").replace("</title><link>", "<link>", 1).encode(),
        feed().encode("utf-16"),
    ],
)
def test_a_blemish_outside_of_a_title_costs_nothing(body: bytes) -> None:
    found = read(body)
    assert titles(found) == ["One", "Two"]
    assert [entry.text("link") for entry in found.entries] == [LINK, LINK]
    assert found.lost == 0


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("A&nbsp;B", "A\xa0B"),
        ("Coin&rsquo;s &mdash; rise", "Coin\u2019s \u2014 rise"),
        ("AT&T Q&A & more", "AT&T Q&A & more"),
        ("a &amp; b &amp;amp; c", "a & b &amp; c"),
        ("a=1&copy=2 &unknown; &#; &#x;", "a=1&copy=2 &unknown; &#; &#x;"),
        ("BTC < 100k > 50k", "BTC < 100k > 50k"),
        ("a <b>bold</b> one<br>", "a bold one"),
        ("a\x00\x08\x1b b", "a b"),
        ("a&#0;&#8;&#xD800;b", "a\ufffd\ufffdb"),
        ("<![CDATA[a <b> &nbsp; ]] c]]>", "a <b> &nbsp; ]] c"),
        ("<![CDATA[a]]> and <![CDATA[b]]>", "a and b"),
        ("<![CDATA[a <![CDATA[ b]]>", "a <![CDATA[ b"),
        ("<![CDATA[<![CDATA[a]]> b", "<![CDATA[a b"),
        ("<![CDATA[a <!-- b]]>", "a <!-- b"),
        ("<![CDATA[<item>a</item> <item>b</item>]]>", "<item>a</item> <item>b</item>"),
        ("<![CDATA[a </item> b]]>", "a </item> b"),
        ("<!-- <![CDATA[ -->a", "a"),
        ('<b title="x > y">a</b>', "a"),
        ("<b title='x > y' id=\"a>b\">a</b>", "a"),
        ('<b title = ">">a</b>', "a"),
        ('<b title="5>a</b>', "a"),
        ("<b it's>a</b> don't", "a don't"),
        ('<b title="5>a "quoted</b>', 'a "quoted'),
        ("a ]]> b", "a ]]> b"),
        ('<b class="x" class="y">a</b>', "a"),
        ("x" * 30_000, "x" * 20_000),
    ],
)
def test_a_blemish_in_a_title_costs_at_most_its_own_letters(written: str, title: str) -> None:
    found = read(feed(written).encode())
    assert titles(found) == [title, "Two"]
    assert found.entries[0].text("link") == LINK


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        (b"caf\xe9 d\xc3\xa9j\xc3\xa0", "caf\xe9 d\xe9j\xe0"),
        (b"\x93quoted\x94 \xe2\x82\xac", "\u201cquoted\u201d \u20ac"),
        (b"cut \xe2\x82", "cut \u00e2\u201a"),
        (b"\xff\xfe", "\u00ff\u00fe"),
        (b"\x81", "\ufffd"),
        (b"\xed\xa0\x80 surrogate", "\u00ed\u00a0\u20ac surrogate"),
    ],
)
def test_a_byte_of_another_encoding_costs_no_other_letter(raw: bytes, title: str) -> None:
    assert titles(read(feed("@").encode().replace(b"@", raw))) == [title, "Two"]


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "windows-1251", "gb2312", "shift_jis", "koi8-r"])
def test_a_byte_that_the_declared_encoding_lacks_is_replaced(encoding: str) -> None:
    body = feed(
        "Биткоин" if encoding in {"windows-1251", "koi8-r"} else "One", f'<?xml version="1.0" encoding="{encoding}"?>'
    )
    found = read(body.encode(encoding).replace(b"Two", b"Two\xff"))
    assert titles(found)[0] in {"Биткоин", "One"}
    assert titles(found)[1].startswith("Two")


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (feed()[: feed().index("Two")], 1),
        (feed()[: feed().rindex("</item>")], 1),
        (feed().replace("</item>", "", 1), 1),
        (feed().replace("</link></item>", "", 1), 1),
        (feed().replace("</title>", "", 2).replace("</link></item>", "", 1), 1),
        (feed().replace("<item>", "<item><item>", 1), 2),
        (feed()[: feed().index("</channel>")], 2),
        (feed().replace("</item></channel>", "</channel>"), 1),
    ],
)
def test_an_item_that_does_not_end_is_lost_alone_and_counted(body: str, count: int) -> None:
    found = read(body.encode())
    assert len(found.entries) == count
    assert found.lost == (body.count("<item>") - count)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not xml",
        "<html><body>Just a moment...</body></html>",
        "{}",
        "<rss></rss>",
        "<rss/>",
        "<rss><channel>",
        "<rss><channel><item><title>a",
        "<a/>" * (MOST + 1) + feed(),
        feed("&a;", head='<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'),
        feed("&a;", head='<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
        feed("&a;", head='<!DOCTYPE b [<!ENTITY % a SYSTEM "http://news.example/a.dtd"> %a;]>'),
    ],
)
def test_what_is_no_feed_or_defines_entities_is_refused(body: str) -> None:
    with pytest.raises(FeedError):
        read(body.encode())


def test_a_definition_of_an_entity_in_a_story_is_text() -> None:
    assert titles(read(feed("<![CDATA[How <!ENTITY works]]>").encode())) == ["How <!ENTITY works", "Two"]


@pytest.mark.parametrize(
    ("root", "tag", "count"),
    [
        (' xmlns:podcast="urn:podcast"', "podcast", 1),
        (" xmlns:p='urn:podcast'", "p", 1),
        ("", "podcast", 1),
        (' xmlns:podcast="urn:other"', "podcast", 0),
        (' xmlns:p="urn:other"', "p", 0),
        ("", "p", 0),
    ],
)
def test_a_prefix_stands_for_its_namespace_or_without_a_declaration_for_itself(root: str, tag: str, count: int) -> None:
    text = feed(f"One</title><{tag}:transcript url='a?b=1&amp;c=\">\"' type=text/vtt /><title>", root=root)
    found = read(text.replace('">"', "").encode()).entries[0].elements.get("podcast:transcript", [])
    assert [element.attributes for element in found] == [{"url": "a?b=1&c=", "type": "text/vtt"}] * count


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_bytes_in_a_title_leave_the_other_items(raw: bytes) -> None:
    raw = raw.replace(b"<", b"")
    assert titles(read(feed("@").encode().replace(b"@", raw)))[-1] == "Two"
    with suppress(FeedError):
        read(raw)


@pytest.mark.parametrize(
    "raw",
    [
        *(
            '<a "',
            "<link " + "a" * 50_000,
            "<![CDATA[",
            "<!--",
            "&#1",
            "<a",
            "<!--<![CDATA[",
            '<link a="',
            "<title>",
            "]]",
        ),
        *(
            "<item><!--",
            "</item><item><!--",
            "<!--</item><item><![CDATA[",
            "<item><a><![CDATA[</a>",
            "=\"='",
            "<a ='=\"",
        ),
    ],
)
def test_what_is_made_to_hurt_is_read_in_linear_time(raw: str) -> None:
    for end in ("", "-->", "]]>"):
        body = f"<rss><channel><item><title>{raw * (250_000 // len(raw))}{end}".encode()
        with suppress(FeedError):
            read_entries(body, WANTED, len(body))


@pytest.mark.parametrize("declared", ["utf-16", "utf-16-le", "UTF-32", "unicode_escape", "raw_unicode_escape", "utf-7"])
def test_an_encoding_that_the_bytes_deny_or_no_feed_is_written_in_is_read_as_utf_8(declared: str) -> None:
    head = f'<?xml version="1.0" encoding="{declared}"?>'
    body = f"{head}<rss><channel><item><title>caf\u00e9</title></item></channel></rss>"
    assert titles(read(body.encode())) == ["caf\u00e9"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(encoding: str) -> None:
    assert titles(read(feed("\u20ac").strip().encode(encoding)))[0] == "\u20ac"


def test_markup_is_bounded_whatever_the_encoding() -> None:
    body = b'<?xml version="1.0" encoding="cp037"?>' + ("<rss><channel>" + "<a>" * MOST).encode("cp037")
    with pytest.raises(FeedError, match="too much markup"):
        read(body)


@pytest.mark.parametrize("declares", ["<item xmlns:podcast='urn:no'>", "<item><podcast:x xmlns:podcast='urn:no'/>"])
def test_a_prefix_that_an_item_declares_holds_in_that_item_alone(declares: str) -> None:
    transcript = "<podcast:transcript url='t'/>"
    body = (
        f"<rss xmlns:podcast='urn:podcast'><channel>{declares}{transcript}</item>"
        f"<item>{transcript}</item></channel></rss>"
    )
    assert ["podcast:transcript" in entry.elements for entry in read(body.encode()).entries] == [False, True]


def items(*texts: str) -> str:
    return "".join(f"<item>{text}</item>" for text in texts)


def news(*parts: str, head: str = "") -> bytes:
    return f"{HEAD}<rss><channel><title>News</title>{head}{''.join(parts)}</channel></rss>".encode()


A, B, C = "<title>A</title>", "<title>B</title>", "<title>C</title>"
CDATA = "<title><![CDATA[B]]></title>"


@pytest.mark.parametrize(
    ("body", "expected", "lost"),
    [
        (news(items(f"{A}<!-- x", B, f"{C}-->")), ["B", "C"], 1),
        (news(items(f"{A}<!-- x", f"{B}<!-- fine -->", C)), ["B", "C"], 1),
        (news(items(f"{A}<!-- x", B, C)), ["B", "C"], 1),
        (news(items(A, B, f"{C}<!-- x")), ["A", "B"], 1),
        (news(items(A, B, f"{C}<!-- x"), "-->"), ["A", "B"], 1),
        (news(items(f"{A}<!-- <title>Z</title>", B), "<!-- y -->", items(C)), ["B", "C"], 1),
        (news(items("<title><![CDATA[A</title>", CDATA, C)), ["A", "B", "C"], 0),
        (news(items("<title><![CDATA[A</title>", B, f"{C}]]>")), ["A", "B", "C"], 0),
        (news(items(f"{A}<description><![CDATA[cut</description>", CDATA, C)), ["A", "B", "C"], 0),
        (news(items(f"<description><![CDATA[cut</description>{A}<x><![CDATA[y]]></x>", B)), ["A", "B"], 0),
        (news(items(B, "<title><![CDATA[A</title>")), ["B", "A"], 0),
        (news("<!-- advert", items(A, B), "<!-- fine -->", items(C)), ["A", "B", "C"], 0),
        (news("<!-- advert", items(A, f"{B}-->", C)), ["A", "B", "C"], 0),
        (news("<!--", items(A, B), "-->", items(C)), ["C"], 0),
        (news("<!-- one <item> for each -->", items(A)), ["A"], 0),
        (news(items(A, B), head="<description><![CDATA[cut</description>"), ["A", "B"], 0),
        (news(items(CDATA, A), head="<description><![CDATA[cut</description>"), ["B", "A"], 0),
        (news(items(A), head="<description><![CDATA[Use <item> here]]></description>"), ["A"], 0),
    ],
)
def test_a_comment_or_cdata_section_that_does_not_end_costs_at_most_its_item(
    body: bytes, expected: list[str], lost: int
) -> None:
    found = read(body)
    assert (titles(found), found.lost) == (expected, lost)


@pytest.mark.parametrize("stray", ["</rss>", "</channel>", "</channel></rss>", "</feed>", "</a:feed>", "</rss></rss>"])
@pytest.mark.parametrize("inside", [False, True])
def test_items_behind_a_stray_end_tag_are_read(stray: str, *, inside: bool) -> None:
    parts = items(A, f"{B}{stray}", C) if inside else items(A) + stray + items(B, C)
    found = read(news(parts))
    assert (titles(found), found.lost) == (["A", "B", "C"], 0)


def test_items_behind_a_stray_end_of_an_atom_feed_are_read_and_what_is_cut_short_is_counted() -> None:
    found = read(f"<feed><entry>{A}</entry></feed><entry>{B}</entry><entry>{C}".encode())
    assert (titles(found), found.lost) == (["A", "B"], 1)


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
ATOM = "http://www.w3.org/2005/Atom"
RSS_1 = "http://purl.org/rss/1.0/"


@pytest.mark.parametrize(
    ("body", "root", "about"),
    [
        (
            (
                f'<rdf:RDF xmlns:rdf="{RDF}" xmlns="{RSS_1}"><channel rdf:about="c"><title>News</title><items><rdf:Seq>'
                f'<rdf:li rdf:resource="u:1"/></rdf:Seq></items></channel><image>{C}</image>'
                f'<item rdf:about="u:1">{A}</item><item rdf:about="u:2">{B}</item></rdf:RDF>'
            ),
            "rss",
            ["u:1", "u:2"],
        ),
        (
            (
                f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:rss="{RSS_1}"><rss:channel/><rss:item rdf:about=" u:1 ">'
                "<rss:title>A</rss:title></rss:item><rss:item><rss:title>B</rss:title><title>C</title></rss:item></rdf:RDF>"
            ),
            "rss",
            ["u:1", ""],
        ),
        (
            (
                f'<RDF xmlns="{RDF}" xmlns:r="http://my.netscape.com/rdf/simple/0.9/"><r:channel/>'
                "<r:item><r:title>A</r:title></r:item><r:item><r:title>B</r:title></r:item></RDF>"
            ),
            "rss",
            ["", ""],
        ),
        (
            (
                f'<atom:feed xmlns:atom="{ATOM}"><atom:title>News</atom:title><atom:entry><atom:title>A</atom:title>'
                "</atom:entry></atom:feed><atom:entry><atom:title>B</atom:title></atom:entry>"
            ),
            "feed",
            ["", ""],
        ),
        (
            (
                f"<a:feed xmlns:a='{ATOM}'><a:entry><a:title><![CDATA[A</a:title><a:link/></a:entry>"
                "<a:entry><a:title><![CDATA[B]]></a:title></a:entry></a:feed>"
            ),
            "feed",
            ["", ""],
        ),
        (
            (f"<feed xmlns='{ATOM}'><entry><title>A</title></entry><entry><x:title>C</x:title>{B}</entry></feed>"),
            "feed",
            ["", ""],
        ),
        (
            (
                f'<rss xmlns:atom="{ATOM}"><channel><item><atom:title>C</atom:title>{A}</item><item>{B}</item>'
                "</channel></rss>"
            ),
            "rss",
            ["", ""],
        ),
    ],
)
def test_rss_1_and_a_feed_with_a_prefix_are_read(body: str, root: str, about: list[str]) -> None:
    found = read(body.encode())
    assert (found.root, titles(found), found.lost) == (root, ["A", "B"], 0)
    assert [entry.about for entry in found.entries] == about


def test_a_closing_angle_in_a_quoted_attribute_is_part_of_its_value() -> None:
    body = news(items(f'{A}<podcast:transcript url="u?a>b" title=\'c > "d\' type="text/vtt"/>{B}'))
    found = read(body).entries[0].elements["podcast:transcript"]
    assert [element.attributes for element in found] == [{"url": "u?a>b", "title": 'c > "d', "type": "text/vtt"}]
