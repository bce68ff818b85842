"""The names and the quotes of a text: what of it is a result's own wording, and which coin each part is about."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from service.ask.bearings import Mention, Span
from service.ask.cleaning import clean
from service.ask.evidence import Evidence, is_moment
from service.ask.glossary import TERMS
from service.ask.hashes import is_hash, shortened

_CODE: Final = re.compile(r"`([^`\n]*)`")
_WORD: Final = re.compile(r"[^\W_]+")
_CAPITALS: Final = re.compile(r"\$?\b[A-Z][A-Z0-9]{1,11}\b|\$[A-Za-z][A-Za-z0-9]*")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_MORE_THAN_A_WORD: Final = re.compile(r"[\d .]")
_WORDS_OF_A_QUOTE: Final = 3
_ALSO_WORDS: Final = frozenset({"A", "I"})
_MARKS: Final = frozenset({"*", "**", "|", "`", "$"})


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ACRONYMS: Final = _set(
    "USD USDC UTC APR APY UP DOWN HODL AI AND API ATR DEX DEFI ETF FX ID JSON NFT NO OI OK OR PNL RWA TVL US USA HTTP "
    "NOT VADER KYC"
)
"""What is written in capitals and is no coin, unless a result says so."""

TITLES: Final[Mapping[str, str]] = {
    "bitcoin": "BTC",
    "ethereum": "ETH",
    "ether": "ETH",
    "solana": "SOL",
    "dogecoin": "DOGE",
    "cardano": "ADA",
    "litecoin": "LTC",
    "chainlink": "LINK",
    "monero": "XMR",
    "polkadot": "DOT",
    "toncoin": "TON",
    "avalanche": "AVAX",
    "ripple": "XRP",
}
"""Names, in any case, that a text may use for a coin though results write only its ticker."""


_EXPLANATIONS: Final = tuple(term.short for term in TERMS.values())
"""What an answer may say of a word without a result: these sentences hold no numeral."""


class Quoted(NamedTuple):
    """A string of a result, word for word, and whose results hold it."""

    start: int
    end: int
    owners: tuple[str | None, ...]


class Read(NamedTuple):
    """A text as figures are looked for in it.

    Attributes:
        text: As long as the text itself; names, quotes and what the question said are blanked out with NUL.
        mentions: The names, in order.
        quotes: The strings of results.
        strangers: Names of coins that no result holds.
    """

    text: str
    mentions: tuple[Mention, ...]
    quotes: tuple[Quoted, ...]
    strangers: tuple[Span, ...]


def read(text: str, evidence: Evidence) -> Read:
    """Find quotes and names, the longest first.

    Args:
        text: Without control characters.
        evidence: What was found.
    """
    page = _Page(text)
    for sentence in _EXPLANATIONS:
        page.erase(sentence)
    quotes = [
        Quoted(*span, owners)
        for words, owners in sorted(_quotable(evidence, text).items(), key=lambda item: -len(item[0]))
        for span in page.take(words)
    ]
    for step in evidence.steps:
        page.erase(step.tool)
    for code in _CODE.finditer(text):
        if code[1] in evidence.said or code[1] in evidence.terms:
            page.blank(*code.span())
    mentions = [
        Mention(*span, owner)
        for name, owner in sorted(evidence.aliases.items(), key=lambda item: -len(item[0]))
        if name in text
        for span in page.take(name)
        if name not in _ALSO_WORDS or text[max(0, span[0] - 2) : span[0]].strip() in _MARKS
    ]
    strangers: list[Span] = []
    if evidence.found:
        known = {*evidence.aliases.values(), *evidence.aliases, *evidence.said}
        mentions.extend(_titles(page, known))
        strangers.extend(_strangers(page, known))
    return Read(page.text, tuple(sorted(mentions)), tuple(sorted(quotes)), tuple(strangers))


class _Page:
    """A text that is blanked out as it is read."""

    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, words: str) -> Iterator[Span]:
        """Blank out every place where words stand by themselves, and say where that was."""
        start = self.text.find(words)
        while start >= 0:
            end = start + len(words)
            if self._is_apart(start, end):
                self.blank(start, end)
                yield start, end
            start = self.text.find(words, end)

    def erase(self, words: str) -> None:
        """Blank out words wherever they stand by themselves."""
        for _ in self.take(words):
            pass

    def blank(self, start: int, end: int) -> None:
        """Let nobody read this any more."""
        self.text = f"{self.text[:start]}{chr(0) * (end - start)}{self.text[end:]}"

    def _is_apart(self, start: int, end: int) -> bool:
        """Whether no letter, digit or part of a figure touches it."""
        before, after = self.text[max(0, start - 2) : start], self.text[end : end + 2]
        touches = before[-1:].isalnum() and self.text[start].isalnum()
        touches = touches or (after[:1].isalnum() and self.text[end - 1].isalnum())
        glued = before[-1:] in {".", ",", "-", "+"} and before[:1].isdigit() and self.text[start].isdigit()
        goes_on = after[:1] in {".", ","} and after[1:].isdigit() and self.text[end - 1].isdigit()
        return not (touches or glued or goes_on or (after[:1] == "%" and self.text[end - 1].isdigit()))


def _quotable(evidence: Evidence, text: str) -> dict[str, tuple[str | None, ...]]:
    """Strings of results that stand in a text, whole or by the sentence, and whose they are."""
    owners: dict[str, tuple[str | None, ...]] = {}
    for value, of in evidence.strings:
        for words in _parts(value):
            if words in text and words not in evidence.aliases and words.lower() not in evidence.twins:
                owners[words] = (*owners.get(words, ()), of)
    for calling in map(clean, evidence.callings):
        if calling in text and any(letter.isalpha() for letter in calling):
            owners[calling] = (None,)
    return owners


def _parts(value: str) -> Iterator[str]:
    words = clean(value)
    if is_moment(value) or not any(letter.isalpha() for letter in words):
        return
    if is_hash(words):
        yield shortened(words)
    if _MORE_THAN_A_WORD.search(words):
        yield words
    sentences = _SENTENCE.split(words)
    if len(sentences) > 1:
        yield from (part for part in sentences if len(part.split()) >= _WORDS_OF_A_QUOTE)


def _titles(page: _Page, known: set[str]) -> Iterator[Mention]:
    for word in _WORD.finditer(page.text):
        ticker = TITLES.get(word.group().lower())
        if ticker in known and ticker is not None:
            yield Mention(*word.span(), ticker)


def _strangers(page: _Page, known: set[str]) -> Iterator[Span]:
    for word in _WORD.finditer(page.text):
        ticker = TITLES.get(word.group().lower())
        if ticker is not None and ticker not in known:
            yield word.span()
    for name in _CAPITALS.finditer(page.text):
        ticker = name.group().removeprefix("$")
        if ticker not in known and (ticker not in ACRONYMS or name.group().startswith("$")):
            yield name.span()
