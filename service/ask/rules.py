"""The default engine as one value: what reads questions, plans, writes, and reads what was written once more."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from service.wire.ask import Archetype, Classification, Entities, Plan, Question, Step

Paragraphs = tuple[str, ...]


class Rules(Struct, frozen=True):
    """Pure functions, all but one.

    Attributes:
        classify: Says what a question is about.
        recognise: Says whether it names somebody who is followed, which words alone do not tell.
        plan: Says which tools are asked, given the time (epoch milliseconds).
        write: Says what they found, in paragraphs without surrounding newlines, one at least.
        standing: Those of its paragraphs that stay whoever writes: what is left out, failed or stale, and the sources.
        check: Tells what of a finished text no finding holds; empty where all is true.
    """

    classify: Callable[[Question], Classification]
    recognise: Callable[[Question, Classification], Awaitable[Classification]]
    plan: Callable[[Classification, int], Plan]
    write: Callable[[Classification, Plan, Sequence[Step], Archetype], Paragraphs]
    standing: Callable[[Classification, Plan, Sequence[Step], Archetype], Paragraphs]
    check: Callable[[str, Sequence[Step], Entities], Sequence[object]]
