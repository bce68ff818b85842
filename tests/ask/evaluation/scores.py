"""Scores of many answers."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.ask.evaluation.marks import Marks


class Scores:
    """Of a part; every share is 0 to 1.

    Args:
        marks: One for each question.
    """

    def __init__(self, marks: Sequence[Marks]) -> None:
        self.marks = marks

    @property
    def intent(self) -> float:
        return _share([mark.intent for mark in self.marks])

    @property
    def tools(self) -> float:
        return _share([mark.tools for mark in self.marks])

    @property
    def facts(self) -> float:
        """Of the answers that facts are demanded of, how many say all of them."""
        return _share([None if mark.missing is None else not mark.missing for mark in self.marks])

    @property
    def refusals(self) -> float:
        """Of the unanswerable, how many were refused."""
        return _share([mark.refused for mark in self.marks])

    @property
    def reasons(self) -> float:
        """Of the unanswerable, how many were refused for their reason."""
        return _share([mark.reason for mark in self.marks])

    @property
    def wrongly_refused(self) -> int:
        return sum(mark.wrongly_refused for mark in self.marks)

    @property
    def cut(self) -> int:
        return sum(mark.cut for mark in self.marks)

    @property
    def numerals(self) -> int:
        return sum(mark.unbound.total for mark in self.marks)

    @property
    def unbound(self) -> int:
        return sum(len(mark.unbound.unbound) for mark in self.marks)

    @property
    def entity_f1(self) -> float:
        """Micro-averaged over everything that is named."""
        overlaps = [mark.overlap for mark in self.marks if mark.overlap is not None]
        found, wanted = sum(each.found for each in overlaps), sum(each.wanted for each in overlaps)
        return 2 * sum(each.right for each in overlaps) / max(found + wanted, 1)

    def by_intent(self) -> Iterator[tuple[str, int, int]]:
        """Each intent, how many of its questions were taken for it, and how many it has."""
        right, total = Counter[str](), Counter[str]()
        for mark in self.marks:
            if mark.question.intent is not None:
                total[mark.question.intent] += 1
                right[mark.question.intent] += bool(mark.intent)
        yield from ((intent, right[intent], total[intent]) for intent in sorted(total))


def _share(held: Sequence[bool | None]) -> float:
    scored = [each for each in held if each is not None]
    return sum(scored) / max(len(scored), 1)


def report(part: str, scores: Scores) -> Iterator[str]:
    """Say how well a part went; nothing of any question."""
    unanswerable = sum(mark.refused is not None for mark in scores.marks)
    yield f"{part}: {len(scores.marks)} questions, {unanswerable} of them unanswerable"
    yield f"  intent            {scores.intent:6.1%}"
    yield f"  entity F1         {scores.entity_f1:6.1%}"
    yield f"  tools             {scores.tools:6.1%}"
    yield f"  all facts         {scores.facts:6.1%}"
    yield f"  honest refusals   {scores.refusals:6.1%}   for the right reason: {scores.reasons:.1%}"
    yield f"                             answerable ones refused: {scores.wrongly_refused}"
    yield f"  unbound numerals  {scores.unbound} of {scores.numerals}   answers with a part left out: {scores.cut}"
    yield from (f"    {intent:<20}{right:>4} of {total}" for intent, right, total in scores.by_intent())


def failures(scores: Scores) -> Iterator[str]:
    """Say what went wrong; of what may be tuned on alone."""
    for mark in scores.marks:
        faults = list(_faults(mark))
        if faults:
            yield f"  {mark.question.id} {mark.question.turns[-1][1]!r}: {'; '.join(faults)}"


def _faults(mark: Marks) -> Iterator[str]:
    if mark.intent is False:
        yield f"taken for {mark.said}, is {mark.question.intent}"
    if mark.overlap is not None and not mark.overlap.right == mark.overlap.found == mark.overlap.wanted:
        yield f"names {mark.overlap}"
    if not mark.tools:
        yield "other tools"
    if mark.missing:
        yield f"does not say {', '.join(mark.missing)}"
    if mark.unbound.unbound:
        yield f"unbound {mark.unbound.unbound}"
    if mark.reason is False:
        yield f"not refused as {mark.question.refusal}: {mark.said}"
    if mark.cut:
        yield "a part is left out"
    if mark.wrongly_refused:
        yield f"refused: {mark.said}"
