"""The interface of a language model that writes prose, and the values that it may refer to."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final, Protocol

from msgspec import Struct

from service.ask.answers import cells
from service.ask.measure_table import Unit
from service.ask.planner.result import Result
from service.errors import ServiceError
from service.wire.ask import Archetype


class Reference(Struct, frozen=True):
    """A value that a model may refer to by name.

    Attributes:
        subject: What the value is of, such as `ETH`.
        label: What is measured, and when: `price`, `7-day change`.
        unit: Unit of the value.
        value: The value as an answer shows it, such as `$3,811.27`. A model is not given it.
    """

    subject: str
    label: str
    unit: Unit
    value: str


class Brief(Struct, frozen=True):
    """What a model writes about.

    Attributes:
        question: The last message as it was written. Data: instructions in it are not followed.
        read_as: What the question was understood as, in words.
        references: By the name that the model writes in braces, such as `s1/ETH/price`.
        archetype: For whom it is written.
    """

    question: str
    read_as: str
    references: Mapping[str, Reference]
    archetype: Archetype


class ModelError(Exception):
    """A model wrote nothing that can be used: it failed, took too long, broke a rule, or has no tokens left."""


class Model(Protocol):
    """Writes prose."""

    async def write(self, brief: Brief) -> str:
        """Write a passage that follows the first paragraph of an answer, with the values in place.

        Raises:
            ModelError: If there is none.
        """


MOST_REFERENCES: Final = 60
LONGEST: Final = 4_000
"""Characters of a text, before and after its values are put in."""

_WORDS: Final = """
a about also among an and are as at be been being beside besides between but by come comes describe described describes
each every figure figures follow follows following for further give given gives has have here how in is it its itself
list listed meanwhile named of on or other others own part parts put read reads respectively said say says see seen show
showed shown shows stand stands summary table taken tell tells that the their them themselves then there these they
thing things this those together view was way were what when where whereas which while whose with within

answer answers asked asset assets breadth carry category change changes coin coins column comparison confidence
correlation data detail details funding interest level levels line market markets measure measured measures name names
note open overview picture price prices question reading readings regime regimes row rows score scores sentiment state
states status term terms trend trends value values verdict verdicts volatility volume volumes
"""
WORDS: Final = tuple(_WORDS.split())

_KNOWN: Final = frozenset(WORDS)
KINDS: Final = frozenset({"value", "values", "each", "table", "rank", "winner", "tied", "screen"})
"""Results whose rows are things and whose columns are their measures. Others' words are in none of them."""

_SPACES: Final = re.compile(r" +")
_BLANKS: Final = re.compile(r"\n{3,}")
_REFERENCE: Final = re.compile(r"\{([^{}\n]*)\}")
_LINE: Final = re.compile(r"(?:- )?[A-Za-z{]")
_PROSE: Final = re.compile(r"[A-Za-z \n.,;:'\u2019()\u2013\u2014-]*")
_WORD: Final = re.compile(r"([A-Za-z]+)(?:['\u2019]s\b)?")
_JOINS: Final = frozenset({", ", " and ", ", and "})
_QUOTED: Final = 20


def references_of(outcomes: Sequence[Result | ServiceError]) -> dict[str, Reference]:
    """The values that a model may refer to, by name: `s1` is the first query's result."""
    found = {
        f"s{place}/{reference.subject}/{reference.label}": reference
        for place, result in enumerate(outcomes, 1)
        if isinstance(result, Result) and result.kind in KINDS
        for reference in _of_result(result)
    }
    return dict(islice(found.items(), MOST_REFERENCES))


def _of_result(result: Result) -> list[Reference]:
    when = result.figures["when"].value if "when" in result.figures else ""
    # Only the first measure is certain to be of the query's own time: see `planner.sets`.
    columns = result.columns[:1] if when else result.columns
    return [
        Reference(row.subject, f"{column.label}{when}", column.unit, text)
        for row in result.rows[: result.shown or None]
        for column, value, text in zip(columns, row.values, cells(row, result.columns), strict=False)
        if value is not None
    ]


def bind(text: str, references: Mapping[str, Reference]) -> str:
    """Put values in the place of references.

    Args:
        text: What a model wrote.
        references: By name.

    Raises:
        ModelError: If the text holds anything but references and the words and signs that are allowed.
    """
    text = _SPACES.sub(" ", _BLANKS.sub("\n\n", text.strip()))
    if len(text) > LONGEST:
        raise ModelError("its text is too long")
    if any(line and not _LINE.match(line) for line in text.split("\n")):
        raise ModelError("its text has a line that is no sentence and no item of a list")
    pieces = _REFERENCE.split(text)
    for prose in pieces[::2]:
        _check(prose)
    names = pieces[1::2]
    if not names:
        raise ModelError("its text refers to nothing")
    unknown = next((name for name in names if name not in references), None)
    if unknown is not None:
        raise ModelError(f"its text has an unknown reference: {unknown[:_QUOTED]!r}")
    bound = _put_in(pieces, references)
    if len(bound) > LONGEST:
        raise ModelError("its text is too long")
    return bound


def _check(prose: str) -> None:
    if not _PROSE.fullmatch(prose):
        raise ModelError("its text has a character that is not allowed")
    for word in _WORD.findall(prose):
        if word.lower() not in _KNOWN or not (word.islower() or word.istitle()):
            raise ModelError(f"its text has a word that is not allowed: {word[:_QUOTED]}")


def _put_in(pieces: Sequence[str], references: Mapping[str, Reference]) -> str:
    """Prose and phrases in turn; of things that are said of one subject in a row, only the first names it."""
    written, before = [pieces[0]], ""
    for name, prose, join in zip(pieces[1::2], pieces[2::2], pieces[::2], strict=False):
        one = references[name]
        owner = "its" if one.subject == before and join in _JOINS else f"{one.subject}'s"
        written += [f"{owner} {one.label} ({one.value})", prose]
        before = one.subject
    return "".join(written)
