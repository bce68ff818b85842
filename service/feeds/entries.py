"""RSS and Atom, read past blemishes: what is wrong in one item costs that item alone.

No XML parser: one refuses a whole feed for a bare `&`. A feed is scanned for tags once, in linear time. Nothing is
declared, fetched or expanded: a document type is passed over, and a feed that defines entities is refused.
"""

import html
import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from service.feeds.lenient import CONTROLS, decode_text

_DECLARED: Final = re.compile(rb"<\?xml[^<>]{0,200}?\sencoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})[\"']")
_PROLOG: Final = 1_000
_LONGEST_TAG: Final = 16_384
_LONGEST_TEXT: Final = 20_000
"""Characters that are read of an element."""

_QUOTED: Final = r"(?:[^<>=]++|=\s*+(?:\"[^\"<]*+\"|'[^'<]*+')|=)*+(?=>)"
_TAG: Final = rf"<(?P<closes>/?)(?P<name>[A-Za-z_][\w.:-]*+)(?P<attributes>{_QUOTED}|[^<>]*+)>"
_MARKUP: Final = re.compile(rf"(?P<section><!--|<!\[CDATA\[)|{_TAG}|<[?!][^<>]*+>")
_SECTION_ENDS: Final = {"<!--": "-->", "<![CDATA[": "]]>"}
_FRAME: Final = re.compile(r"<(/?)(?:[\w.-]++:)?(?:(item|entry)|channel|rss|feed|RDF)(?=[\s/>])")
_ATTRIBUTE: Final = re.compile(r"(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"']++))")
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ROOTS: Final = {"rss": "rss", "RDF": "rss", "feed": "feed"}
"""The root's name without its prefix → what kind of feed it is."""

_RSS_1: Final = frozenset({"http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"})
_ITEMS: Final = frozenset({"item", "entry"})
_XMLNS: Final = "xmlns:"
NO_NAMESPACES: Final[Mapping[str, str]] = {}


class FeedError(ValueError):
    """The text is not a feed, or defines entities, or has too much markup."""


class FeedElement(Struct, frozen=True):
    """An element of an item: its text without markup, and its attributes as written, references replaced."""

    text: str
    attributes: Mapping[str, str]


class FeedEntry(Struct, frozen=True):
    """An item of a feed.

    Attributes:
        elements: Those that were asked for, by name, the outermost first.
        about: Its identifier in RSS 1.0 (`rdf:about`); empty elsewhere.
    """

    elements: Mapping[str, list[FeedElement]]
    about: str = ""

    def text(self, *names: str) -> str:
        """The text of the first of these elements that has one; else empty."""
        return next((found[0].text for name in names if (found := self.elements.get(name)) and found[0].text), "")


class FeedDocument(Struct, frozen=True):
    """A feed.

    Attributes:
        root: `rss` (RSS 1.0 too) or `feed` (Atom).
        entries: Its items in order.
        lost: Items without an end tag, or with a comment that does not end.
    """

    root: str
    entries: list[FeedEntry]
    lost: int


def read_entries(
    body: bytes, wanted: frozenset[str], most_markup: int, namespaces: Mapping[str, str] = NO_NAMESPACES
) -> FeedDocument:
    """Read the items of RSS 0.90 to 2.0, RSS 1.0 (RDF) among them, or Atom (RFC 4287), with a prefix or without.

    Args:
        body: In any encoding that it declares and Python knows.
        wanted: Names of the elements to read, prefixes of `namespaces` included. RSS and Atom's own have none.
        most_markup: The most `<` accepted.
        namespaces: Namespace → prefix. A prefix without a declaration stands for itself.

    Raises:
        FeedError: If it is no feed, is cut short before its first item, defines entities or has too much markup.
    """
    if body.count(b"<") > most_markup:
        raise FeedError("too much markup")
    found = _DECLARED.search(body[:_PROLOG])
    text = CONTROLS.sub("", decode_text(body, found[1].decode("ascii") if found else None))
    if text.count("<") > most_markup:  # in an encoding whose `<` is another byte
        raise FeedError("too much markup")
    scanner = _Scanner(wanted, namespaces)
    scanner.scan(text)
    if not scanner.root:
        raise FeedError("neither RSS nor Atom")
    if not scanner.entries and not scanner.is_whole:
        raise FeedError("cut short, or without a channel")
    return FeedDocument(scanner.root, scanner.entries, scanner.lost)


class _Sections:
    """Where comments and CDATA sections end, and whether an end mark is their own.

    One that does not end would hide the items up to the end mark of another. Each question takes logarithmic time, and
    the text is searched for each kind of mark once.

    Args:
        text: The feed.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = dict.fromkeys(_SECTION_ENDS, -1)
        frame = [(found.start(), found[1], found[2]) for found in _FRAME.finditer(text)]
        frame = [tag for tag in frame if tag[1] or tag[2]]
        self._places = [place for place, _, _ in frame]
        self._frame = [("ends" if closes else "begins") if item else "outer" for _, closes, item in frame]

    def end(self, mark: str, start: int, item: str | None, element: str | None) -> int | None:
        """Where the content of a section ends; null if the section does not end before its item does.

        Args:
            mark: `<!--` or `<![CDATA[`.
            start: Where its content begins.
            item: The item that it is in.
            element: The element that it is in, as its tags write it.
        """
        if self._ends[mark] < start:
            found = self._text.find(_SECTION_ENDS[mark], start)
            self._ends[mark] = found if found >= 0 else len(self._text)
        end = self._ends[mark]
        if end == len(self._text):
            return None
        first, behind = bisect_left(self._places, start), bisect_left(self._places, end)
        inside, after = self._frame[first : min(behind, first + 2)], self._frame[behind : behind + 1]
        again = self._text.find(mark, start, end)
        if item is None:
            is_foreign = inside[:1] == ["begins"] and (again >= 0 or after == ["ends"])
        else:
            is_foreign = len(inside) > 1 and inside[0] == "ends" and inside[1] != "ends"
            is_foreign |= again >= 0 and element is not None and self._text.find(f"</{element}", start, again) >= 0
        return None if is_foreign else end


class _Scanner:
    """Where in a feed the reading is: in an item, and in which of its elements."""

    def __init__(self, wanted: frozenset[str], namespaces: Mapping[str, str]) -> None:
        self.root = ""
        self.entries: list[FeedEntry] = []
        self.lost = 0
        self.is_whole = self._has_channel = self._is_broken = False
        self._wanted = wanted
        self._namespaces = namespaces
        self._root_tag = self._own = self._about = ""
        self._prefixes: dict[str, str] = {}
        self._outer: dict[str, str] = {}
        self._item: str | None = None
        self._elements: dict[str, list[tuple[int, FeedElement]]] = {}
        self._depth: list[str] = []
        self._leaf: tuple[str, str, Mapping[str, str]] | None = None
        self._text: list[str] = []

    def scan(self, text: str) -> None:
        """Read all tags, up to a second root. Markup that does not end is text."""
        sections = _Sections(text)
        at = 0
        while (found := _MARKUP.search(text, at)) is not None:
            if self._leaf is not None:
                self._text.append(_REFERENCE.sub(_replaced, text[at : found.start()]))
            at = found.end()
            if found["section"]:
                at = self._pass_section(sections, text, found["section"], at)
            elif found["name"] is None:
                if not self.root and found[0].startswith("<!ENTITY"):
                    raise FeedError("it defines entities")
            elif len(found["attributes"]) > _LONGEST_TAG:
                continue
            elif found["closes"]:
                self._close(found["name"].removeprefix(self._own))
            elif self.is_whole and found["name"] == self._root_tag:
                break
            else:
                self._open(found["name"].removeprefix(self._own), found["attributes"])
        self.lost += self._item is not None

    def _pass_section(self, sections: _Sections, text: str, mark: str, start: int) -> int:
        """Read a comment or CDATA section; what follows the mark of one that does not end is read as markup."""
        element = self._leaf[0] if self._leaf is not None else self._depth[-1] if self._depth else None
        end = sections.end(mark, start, self._item, element and self._own + element)
        if end is None:
            self._is_broken |= self._item is not None and mark == "<!--"
            return start
        if self._leaf is not None and mark != "<!--":
            self._text.append(text[start:end])
        return end + len(_SECTION_ENDS[mark])

    def _open(self, name: str, attributes: str) -> None:
        if not self.root:
            name = self._open_root(name, attributes)
        if not self.root:
            return
        if name in _ITEMS:
            self._open_item(name, attributes)
        if _XMLNS in attributes:
            self._declare(attributes)
        if name not in _ITEMS and self._item is not None:
            self._open_element(name, attributes)
        self._has_channel = self._has_channel or name == "channel"

    def _open_root(self, tag: str, attributes: str) -> str:
        """Begin the feed if this is its root: its name without its prefix."""
        prefix, _, name = tag.rpartition(":")
        self.root = _ROOTS.get(name, "")
        self._root_tag = tag
        if name == "RDF":
            declared = _attributes(attributes).items()
            own = (key.removeprefix(_XMLNS) for key, namespace in declared if namespace.strip() in _RSS_1)
            prefix = next((key for key in own if key != "xmlns"), "")
        self._own = f"{prefix}:" if self.root and prefix else ""
        return name

    def _open_item(self, name: str, attributes: str) -> None:
        """Begin an item. Prefixes that it declares hold to its end."""
        if self._item is None:
            self._outer = self._prefixes
        else:
            self.lost += 1
        self._prefixes = dict(self._outer)
        self._item, self._elements, self._depth, self._leaf, self._is_broken = name, {}, [], None, False
        self._about = _attributes(attributes).get("rdf:about", "").strip() if attributes else ""

    def _declare(self, attributes: str) -> None:
        for key, namespace in _attributes(attributes).items():
            if key.startswith(_XMLNS):
                self._prefixes[key.removeprefix(_XMLNS)] = self._namespaces.get(namespace.strip(), "")

    def _open_element(self, tag: str, attributes: str) -> None:
        prefix, colon, local = tag.partition(":")
        name = f"{self._prefixes.get(prefix, prefix)}:{local}" if colon else tag
        if self._leaf is not None and (tag == self._leaf[0] or name not in self._wanted):
            return
        self._end_leaf()
        is_empty = attributes.endswith("/")
        if name in self._wanted:
            self._leaf, self._text = (tag, name, _attributes(attributes)), []
            if is_empty:
                self._end_leaf()
        elif not is_empty:
            self._depth.append(tag)

    def _close(self, name: str) -> None:
        if name == self._item:
            self._end_item()
        elif self._leaf is not None:
            if name == self._leaf[0]:
                self._end_leaf()
        elif self._item is not None:
            if self._depth and name == self._depth[-1]:
                self._depth.pop()
        elif name == self._root_tag.removeprefix(self._own):
            self.is_whole = self._has_channel or bool(self.entries) or self.root == "feed"

    def _end_item(self) -> None:
        self._end_leaf()
        elements = {
            key: [element for _, element in sorted(found, key=lambda placed: placed[0])]
            for key, found in self._elements.items()
        }
        if self._is_broken:
            self.lost += 1
        else:
            self.entries.append(FeedEntry(elements, self._about))
        self._item = None
        self._prefixes = self._outer

    def _end_leaf(self) -> None:
        if self._leaf is not None:
            _, name, attributes = self._leaf
            element = FeedElement("".join(self._text)[:_LONGEST_TEXT].strip(), attributes)
            self._elements.setdefault(name, []).append((len(self._depth), element))
            self._leaf = None


def _attributes(text: str) -> dict[str, str]:
    return {
        name: _REFERENCE.sub(_replaced, double or single or bare)
        for name, double, single, bare in _ATTRIBUTE.findall(text)
    }


def _replaced(reference: re.Match[str]) -> str:
    """The character of a reference; an unknown name stays as it is written."""
    return CONTROLS.sub("", html.unescape(reference[0]))
