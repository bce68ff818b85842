"""Tells requests that are no query: forecasts, orders, other subjects, the caller's account, courtesies. Pure."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from service.ask.parser.chunks import Chunk
from service.ask.parser.phrases.cues import Cues, words_of
from service.ask.parser.phrases.elsewhere import ELSEWHERE
from service.ask.parser.phrases.forecasts import FORECASTS
from service.ask.parser.phrases.ourselves import OURSELVES
from service.ask.parser.phrases.row import Row
from service.ask.parser.phrases.unkept import UNKEPT
from service.ask.query import Reason, Window

MOST: Final = 160
_TABLE: Final[Sequence[Row]] = (*ELSEWHERE, *FORECASTS, *UNKEPT, *OURSELVES)
_NAMED: Final = frozenset({"coin", "asset", "category", "unknown"})


def gate(chunks: Sequence[Chunk], written: Sequence[str]) -> Row | None:
    """The heaviest row that a message matches; null where it may be a query.

    Args:
        chunks: Its pieces.
        written: Their words.
    """
    kinds = [chunk.kind for chunk in chunks]
    words = words_of(" ".join(_masked(chunk, text) for chunk, text in zip(chunks, written, strict=True)), MOST)
    rows = [_TABLE[place] for place in sorted(_cues().matching(words)) if _holds(_TABLE[place], kinds, chunks)]
    return max(rows, key=lambda row: row.weight, default=None)


def reason_of(row: Row) -> Reason | None:
    """Why a row's questions are refused; null where they are answered."""
    if row.intent == "forecast":
        return "forecast"
    if row in UNKEPT:
        return "not-available"
    return "out-of-scope" if row.intent == "out-of-scope" else None


@cache
def _cues() -> Cues:
    return Cues(_TABLE)


def _masked(chunk: Chunk, text: str) -> str:
    if chunk.kind in _NAMED:
        return chunk.kind.upper()
    if chunk.kind == "time" and isinstance(chunk.value, Window):
        return "PERIOD"
    if chunk.kind == "number" and (chunk.value.unit == "USD" or chunk.value.scaled):
        return "AMOUNT"
    return text


def _holds(row: Row, kinds: Sequence[str], chunks: Sequence[Chunk]) -> bool:
    """Whether what a row needs to be named is named."""
    ones = sum(kind in {"coin", "asset"} for kind in kinds)
    something = any(kind in _NAMED for kind in kinds)
    match row.where:
        case "nothing":
            return not something
        case "something":
            return something
        case "no-one":
            return ones == 0
        case "pair":
            return ones > 1
        case "amount":
            return any(chunk.kind == "number" for chunk in chunks)
        case "term" | "one-unit":
            return False
        case _:
            return True
