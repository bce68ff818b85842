"""Which language a question is written in. Pure. The words that languages are known by are data: `languages.toml`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from service.ask.load import load
from service.ask.parser.spelling import is_plain
from service.ask.parser.tokens import Token

ENGLISH: Final = "en"
UNDETERMINED: Final = "und"


class _Tables(Struct):
    loans: str
    words: dict[str, str]
    letters: dict[str, str]


_TABLES: Final = load(Path(__file__).with_name("languages.toml"), _Tables)
_WORDS: Final = {language: frozenset(words.split()) for language, words in _TABLES.words.items()}
_LETTERS: Final = {language: frozenset(_TABLES.letters.get(language, "")) for language in _WORDS}
FOREIGN: Final = frozenset[str]().union(*_WORDS.values())
"""Words of other languages."""
_NOT_ENGLISH: Final = FOREIGN.union(_TABLES.loans.split())
"""English words that show no English: traders use them in every language, or other languages have them as well."""

_SCRIPTS: Final = (
    ("ja", "\u3040", "\u30ff"),
    ("ko", "\uac00", "\ud7a3"),
    ("zh", "\u4e00", "\u9fff"),
    ("ar", "\u0600", "\u06ff"),
    ("hi", "\u0900", "\u097f"),
    ("ru", "\u0400", "\u052f"),
    ("el", "\u0370", "\u03ff"),
    ("he", "\u0590", "\u05ff"),
    ("th", "\u0e00", "\u0e7f"),
)
"""Language, and the first and the last of its characters. Kana stand before the characters that Japanese shares."""
_LETTERS_OF_WORDS: Final = 3
"""Letters of an alphabet from which on a text is in its language: fewer are symbols such as \u03b1."""
_SYLLABLES: Final = "\u3040"
"""From here on each character is a syllable or a word."""

_MOST_UNKNOWN: Final = 3
"""Words of no known language from which on a text with hardly an English one is in another language."""
_SPOKEN: Final = 2
"""English words from which on a text is English though it holds letters of another script."""
_SHORT: Final = 2


def language_of(tokens: Sequence[Token], named: set[int], corrected: Sequence[str], text: str) -> str:
    """The language of a text.

    Args:
        tokens: Its words.
        named: Those that are names, which every language writes alike.
        corrected: Its words with typos corrected.
        text: The text itself.

    Returns:
        ISO 639-1, `und` for a language that is not known; a text of names and numbers alone is English.
    """
    free = [at for at, token in enumerate(tokens) if at not in named and not token.is_number]
    plain = [at for at in free if is_plain(tokens[at].word) or corrected[at] != tokens[at].word]
    script = _script("".join(tokens[at].text for at in free).lower(), {tokens[at].text.lower() for at in free})
    if script is not None:
        return script if len(plain) < _SPOKEN else ENGLISH
    foreign = [tokens[at] for at in free if at not in set(plain)]
    letters = set(text.lower())
    scores = {
        language: 2 * sum(token.word in words for token in foreign) + len(_LETTERS[language] & letters)
        for language, words in _WORDS.items()
    }
    best = max(scores, key=lambda language: scores[language])
    known = [
        token.word
        for token in foreign
        if token.word in _WORDS[best] or not _LETTERS[best].isdisjoint(token.text.lower())
    ]
    english = sum(tokens[at].word not in _NOT_ENGLISH for at in plain)
    if len(known) > english and (len(known) > 1 or len(known[0]) > _SHORT):
        return best
    unknown = sum(token.word.isalpha() and len(token.word) > 1 for token in foreign)
    return UNDETERMINED if unknown >= _MOST_UNKNOWN and unknown > 2 * len(plain) else ENGLISH


def _script(letters: str, words: set[str]) -> str | None:
    """The language of letters that are not Latin."""
    for language, first, last in _SCRIPTS:
        count = sum(first <= letter <= last for letter in letters)
        if count >= (1 if first >= _SYLLABLES else _LETTERS_OF_WORDS):
            ukrainian = not (_LETTERS["uk"].isdisjoint(letters) and _WORDS["uk"].isdisjoint(words))
            return "uk" if language == "ru" and ukrainian else language
    return None
