"""What was asked for beside what was seen: a section ends with what falls short, so that nobody has to look for it."""

import statistics
from collections.abc import Iterable


def at_least(what: str, seen: Iterable[float], bound: float) -> str | None:
    """What to say where the median is less than that; None where it is not."""
    middle = statistics.median(seen)
    return None if middle >= bound else f"{what} {middle:.3g}, asked for at least {bound:g}"


def below(what: str, seen: Iterable[float], bound: float) -> str | None:
    """What to say where the median is not below that; None where it is."""
    middle = statistics.median(seen)
    return None if middle < bound else f"{what} {middle:.3g}, asked for less than {bound:g}"


def short(*told: str | None) -> str:
    """The last line of a section."""
    if found := [one for one in told if one is not None]:
        return f"Falls short of what was asked for, at the median: {'; '.join(found)}."
    return "At the median, nothing of this falls short of what was asked for."
