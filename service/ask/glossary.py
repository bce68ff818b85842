"""What words mean here. Data: what an answer says of `text`, figures and all, it quotes; `short` holds none."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from service.ask.vocabulary import market, money, records, verdicts
from service.ask.vocabulary.term import Term
from service.errors import ServiceError
from service.wire.tools import Definition


class _Shelf(Struct, frozen=True):
    """All terms, and their definitions as they are answered."""

    terms: Mapping[str, Term]
    definitions: Mapping[str, Definition]


def _read(terms: Iterable[Term]) -> _Shelf:
    known = {term.key: term for term in terms}
    definitions = {
        key: Definition(key, term.title, term.text, [known[other].title for other in term.see])
        for key, term in known.items()
    }
    return _Shelf(MappingProxyType(known), MappingProxyType(definitions))


_SHELF: Final = _read((*market.TERMS, *verdicts.TERMS, *records.TERMS, *money.TERMS))

TERMS: Final[Mapping[str, Term]] = _SHELF.terms
"""Every term by its key."""


def define(key: str) -> Definition:
    """What a term means.

    Args:
        key: Of `TERMS`.

    Raises:
        ServiceError: `NOT_FOUND` for another word.
    """
    found = _SHELF.definitions.get(key)
    if found is None:
        raise ServiceError("NOT_FOUND", "that word is not in the glossary of this service")
    return found
