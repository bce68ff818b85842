"""A word and what it means."""

from msgspec import Struct


class Term(Struct, frozen=True, kw_only=True):
    """A term of the glossary.

    Attributes:
        key: Lower case, words joined by hyphens.
        title: As it is written in a sentence.
        short: One sentence without any numeral: a writer may put it in as it stands.
        text: The whole definition; its figures are quoted, never composed.
        synonyms: What people call it, lower case.
        see: Keys of terms to read beside it.
    """

    key: str
    title: str
    short: str
    text: str
    synonyms: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
