"""English words, corrections of misspelt words, and the language of a question. Pure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from service.ask.load import load
from service.ask.parser.places import CONTEXTS
from service.ask.parser.tokens import Token


class _Table(Struct):
    words: str


PLAIN: Final = frozenset(load(Path(__file__).with_name("english.toml"), _Table).words.split())
"""Lower case."""

_ENDINGS: Final = (
    ("ies", "y"), ("ied", "y"), ("ier", "y"), ("iest", "y"), ("ily", "y"), ("ing", ""), ("ing", "e"), ("ed", ""),
    ("ed", "e"), ("es", ""), ("es", "e"), ("est", ""), ("est", "e"), ("er", ""), ("er", "e"), ("ers", ""), ("ers", "e"),
    ("ly", ""), ("s", ""), ("ness", ""), ("ment", ""), ("able", ""), ("ful", ""), ("less", ""), ("ation", "e"),
)  # fmt: skip
_SHORTEST_STEM: Final = 3


def is_plain(word: str) -> bool:
    """Whether a lower-case word is an English one, or one with an English ending."""
    return word in PLAIN or any(
        word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM and _has(word[: -len(ending)] + instead)
        for ending, instead in _ENDINGS
    )


def _has(stem: str) -> bool:
    """Whether a stem is a word, also where its last letter was doubled ("ripp" of "ripped")."""
    return stem in PLAIN or (stem[-1] == stem[-2] and stem[:-1] in PLAIN)


MOST_CORRECTED: Final = 48
"""Words of a text that are looked at: it bounds what a hostile text costs."""

SHORTEST: Final = 3
_SHORT_WORD: Final = 4
"""Letters up to which only changed places are forgiven, or a missing letter of a longer word."""
_LONGEST: Final = 20
_SWAPPED: Final = 2
_MISSING: Final = 1
_LONG: Final = 7
"""Letters from which on two mistakes are forgiven, if the first two letters are right."""

SHORTHAND: Final = load(Path(__file__).with_name("corrections.toml"), dict[str, str])
"""Short words that are corrected at once."""

KEYWORDS: Final = CONTEXTS["keywords"]
"""Words of questions: a typo of these is corrected."""


def near(word: str, known: Sequence[str], most: int) -> list[str]:
    """Known words within so many mistakes: a letter too many, too few or wrong, or two that changed places."""
    return [other for other, _, _ in extract(word, known, scorer=OSA.distance, score_cutoff=most, limit=None)]


class Speller:
    """Finds the one known word that a misspelt word is close to.

    Two letters that changed places are forgiven in every word, another mistake in words of four letters and more, two
    mistakes from seven letters on. Changed places are likelier than a missing letter, and that than other mistakes;
    words that two known ones are equally close to are left alone.

    Args:
        words: The known words, and what they mean: of two that mean the same either will do.
    """

    def __init__(self, words: Mapping[str, object]) -> None:
        self._meaning = words
        self._known = sorted(word for word in words if len(word) >= SHORTEST and word.isalpha())

    def correct(self, word: str) -> str | None:
        """The known word that a lower-case word was meant to be; null where there is none, or more than one."""
        if not SHORTEST <= len(word) <= _LONGEST or not word.isalpha():
            return None
        found = near(word, self._known, 1)
        if len(word) <= _SHORT_WORD:
            found = [
                other
                for other in found
                if _likelihood(word, other) == _SWAPPED or (len(word) == _SHORT_WORD and len(other) > _SHORT_WORD)
            ]
        if not found and len(word) >= _LONG:
            found = [other for other in near(word, self._known, 2) if other[:2] == word[:2] and len(other) >= _LONG]
        return self._only(word, found)

    def _only(self, word: str, others: list[str]) -> str | None:
        """The likeliest of several; of a word and its plural the one that ends alike."""
        if len(others) > 1:
            likeliest = max(_likelihood(word, other) for other in others)
            others = [other for other in others if _likelihood(word, other) == likeliest]
            same = [other for other in others if other[0] == word[0]] or others
            others = [other for other in same if other.endswith("s") == word.endswith("s")] or same
        return others[0] if len({self._meaning[other] for other in others}) == 1 else None


def _likelihood(word: str, other: str) -> int:
    """How likely the mistake is that made one word of another."""
    if sorted(other) == sorted(word):
        return _SWAPPED
    return _MISSING if len(other) > len(word) else 0


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
