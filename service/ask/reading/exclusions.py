"""Which of the names in a text are to be left out. Pure."""

from collections.abc import Sequence
from typing import Final

from service.ask.reading.mentions import Mention
from service.ask.reading.tokens import Token
from service.ask.reading.words import bag

_CUES: Final = bag("except excluding exclude excludes without minus not besides sans no but ignoring ignore skip omit")
_PAIRS: Final = frozenset(
    {("other", "than"), ("apart", "from"), ("aside", "from"), ("leaving", "out"), ("leave", "out")}
)
_SKIPPED: Final = frozenset({"for", "the", "of", "about", "with", "on", "either", "like", "me", "us", "any"})
_NEVER: Final = frozenset({"dont", "not", "never"})
_TELLING: Final = bag("tell show hear talk care want need include give mention count list about")
_AND: Final = frozenset({"and", "or", "nor"})
_BREAKS: Final = frozenset(",.?!;:\n")
_REACH: Final = 6


def find_excluded(tokens: Sequence[Token], found: Sequence[Mention]) -> set[int]:
    """Which of the mentions, by their place among them, a text wants left out."""
    excluded: set[int] = set()
    for at, mention in enumerate(found):
        last = found[at - 1] if at - 1 in excluded else None
        if _is_excluded(tokens, mention.start) or (last is not None and _is_joined(tokens, last, mention.start)):
            excluded.add(at)
    return excluded


def _is_excluded(tokens: Sequence[Token], start: int) -> bool:
    at = start - 1
    while at >= 0 and tokens[at].word in _SKIPPED and not _BREAKS & set(tokens[at + 1].gap):
        at -= 1
    if at < 0 or _BREAKS & set(tokens[at + 1].gap):
        return False
    words = [token.word for token in tokens[max(0, at - _REACH) : at + 1]]
    if words[-1] in _CUES:
        return _is_cue(words, start - 1 - at)
    return tuple(words[-2:]) in _PAIRS or (words[-1] in _TELLING and _is_refused(tokens, at))


def _is_cue(words: Sequence[str], skipped: int) -> bool:
    """Whether a cue is one here: "not" and "no" only right before the name, "but" only after "everything"."""
    cue = words[-1]
    if cue in {"not", "no"}:
        return not skipped and words[-2:-1] not in (["or"], ["if"], ["is"], ["why"])
    if cue == "but":
        return words[-2:-1] in (["everything"], ["all"], ["anything"], ["coins"], ["any"])
    return True


def _is_refused(tokens: Sequence[Token], at: int) -> bool:
    """Whether "don't" stands before, in the same clause."""
    for step in range(at, max(-1, at - _REACH), -1):
        if tokens[step].word in _NEVER:
            return True
        if _BREAKS & set(tokens[step].gap):
            return False
    return False


def _is_joined(tokens: Sequence[Token], last: Mention, start: int) -> bool:
    """Whether nothing but a comma, "and" or "or" stands between; after "not" a comma begins the next thought."""
    between = tokens[last.end : start]
    if not between and last.start and tokens[last.start - 1].word in {"not", "no"}:
        return False
    return all(token.word in _AND and not token.gap.strip(",") for token in between) and tokens[start].gap in {"", ","}
