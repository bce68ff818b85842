"""RSS and Atom, read past blemishes: what is wrong in one item costs that item alone.

No XML parser: one refuses a whole feed for a bare `&`. A feed is scanned for tags once, in linear time. Nothing is
declared, fetched or expanded: a document type is passed over, and a feed that defines entities is refused.
"""

import html
import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from service.feeds.lenient import CONTROLS, decode_text

_DECLARED: Final = re.compile(rb"<\?xml[^<>]{0,200}?\sencoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})[\"']")
_PROLOG: Final = 1_000
_LONGEST_TAG: Final = 16_384
_LONGEST_TEXT: Final = 20_000
"""Characters that are read of an element."""

_CDATA: Final = r"<!\[CDATA\[(?P<cdata>[^<\]]*+(?:(?:<(?!!\[CDATA\[)|\](?!\]>))[^<\]]*+)*+)\]\]>"
_COMMENT: Final = r"<!--[^<-]*+(?:(?:<(?!!--)|-(?!->))[^<-]*+)*+-->"
_TAG: Final = rf"<(?P<closes>/?)(?P<name>[A-Za-z_][\w.:-]*+)(?P<attributes>[^<>]{{0,{_LONGEST_TAG}}}+)>"
_MARKUP: Final = re.compile(rf"{_CDATA}|{_COMMENT}|{_TAG}|<[?!][^<>]*+>")
_ATTRIBUTE: Final = re.compile(r"(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"']++))")
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ROOTS: Final = ("rss", "feed")
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
    """An item of a feed: the elements that were asked for, by name, the outermost first."""

    elements: Mapping[str, list[FeedElement]]

    def text(self, name: str) -> str:
        """The text of an element; empty where there is none."""
        found = self.elements.get(name)
        return found[0].text if found else ""


class FeedDocument(Struct, frozen=True):
    """A feed.

    Attributes:
        root: `rss` or `feed` (Atom).
        entries: Its items in order.
        lost: Items without an end tag.
    """

    root: str
    entries: list[FeedEntry]
    lost: int


def read_entries(
    body: bytes, wanted: frozenset[str], most_markup: int, namespaces: Mapping[str, str] = NO_NAMESPACES
) -> FeedDocument:
    """Read the items of RSS 0.91 to 2.0 or Atom (RFC 4287).

    Args:
        body: In any encoding that it declares and Python knows.
        wanted: Names of the elements to read, prefixes of `namespaces` included.
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


class _Scanner:
    """Where in a feed the reading is: in an item, and in which of its elements."""

    def __init__(self, wanted: frozenset[str], namespaces: Mapping[str, str]) -> None:
        self.root = ""
        self.entries: list[FeedEntry] = []
        self.lost = 0
        self.is_whole = self._has_channel = False
        self._wanted = wanted
        self._namespaces = namespaces
        self._prefixes: dict[str, str] = {}
        self._outer: dict[str, str] = {}
        self._item: str | None = None
        self._elements: dict[str, list[tuple[int, FeedElement]]] = {}
        self._depth: list[str] = []
        self._leaf: tuple[str, str, Mapping[str, str]] | None = None
        self._text: list[str] = []

    def scan(self, text: str) -> None:
        """Read all tags up to the root's end. Markup that does not end is text."""
        at = 0
        for found in _MARKUP.finditer(text):
            if self._leaf is not None:
                self._text.append(_REFERENCE.sub(_replaced, text[at : found.start()]))
                self._text.append(found["cdata"] or "")
            at = found.end()
            if found["name"] is None:
                if not self.root and found[0].startswith("<!ENTITY"):
                    raise FeedError("it defines entities")
            elif found["closes"]:
                self._close(found["name"])
                if self.is_whole:
                    break
            else:
                self._open(found["name"], found["attributes"])
        self.lost += self._item is not None

    def _open(self, name: str, attributes: str) -> None:
        if not self.root:
            self.root = name if name in _ROOTS else ""
        if not self.root:
            return
        if name in _ITEMS:
            self._open_item(name)
        if _XMLNS in attributes:
            self._declare(attributes)
        if name not in _ITEMS and self._item is not None:
            self._open_element(name, attributes)
        self._has_channel = self._has_channel or name == "channel"

    def _open_item(self, name: str) -> None:
        """Begin an item. Prefixes that it declares hold to its end."""
        if self._item is None:
            self._outer = self._prefixes
        else:
            self.lost += 1
        self._prefixes = dict(self._outer)
        self._item, self._elements, self._depth, self._leaf = name, {}, [], None

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
            self._end_leaf()
            self.entries.append(
                FeedEntry(
                    {
                        key: [element for _, element in sorted(found, key=lambda placed: placed[0])]
                        for key, found in self._elements.items()
                    }
                )
            )
            self._item = None
            self._prefixes = self._outer
        elif self._leaf is not None:
            if name == self._leaf[0]:
                self._end_leaf()
        elif self._item is not None:
            if self._depth and name == self._depth[-1]:
                self._depth.pop()
        elif name == self.root:
            self.is_whole = self._has_channel or bool(self.entries) or name == "feed"

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
