"""A parser of the bundled coins, and short names for the queries that tests expect of it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Final

import pytest

from service.ask import query as q
from service.ask.glossary import TERMS
from service.ask.parser.parse import Names, Parser
from service.ask.understanding import Understanding
from service.clock import DAY_MS
from tests.ask.universe import known

NOW_MS: Final = 1_795_433_358_000
"""Monday, 2026-11-23 11:29:18 UTC."""

TODAY_MS: Final = NOW_MS // DAY_MS * DAY_MS
WALLET: Final = "0x98B159301CDF2b197A7f9F39d9924B3A83A0952C"

ALL: Final = q.Subject(scope="all")
MARKET: Final = q.Subject(scope="market")
MEMES: Final = q.Subject(scope="category", categories=("Meme",))
L1S: Final = q.Subject(scope="category", categories=("Layer 1 (L1)",))
L2S: Final = q.Subject(scope="category", categories=("Layer 2 (L2)",))
SERVICE: Final = q.Subject(scope="service")

TODAY: Final = q.Between(TODAY_MS, None, "today")
YESTERDAY: Final = q.Between(TODAY_MS - DAY_MS, TODAY_MS, "yesterday")
THIS_WEEK: Final = q.Between(TODAY_MS, None, "this week")
THIS_MONTH: Final = q.Between(TODAY_MS - 22 * DAY_MS, None, "this month")
DAY: Final = q.Window(24, "h", "24 hours")
WEEK: Final = q.Window(7, "d", "7 days")
MONTH: Final = q.Window(30, "d", "30 days")

Rows = Mapping[str, q.Query | tuple[q.Query, ...]]
"""Questions to what they mean; turns of a conversation stand apart by " | "."""


@cache
def parser() -> Parser:
    terms: dict[str, str] = {}
    for key, term in TERMS.items():
        for name in (key.replace("-", " "), term.title.lower(), *term.synonyms):
            terms.setdefault(name, key)
    return Parser(Names(known(), {"halyard exchange": WALLET}, {"chain reaction": "chain-reaction"}, terms))


def read(conversation: str) -> Understanding:
    """What the last turn of a conversation is understood as."""
    return parser().read(conversation.split(" | "), NOW_MS)


def table(rows: Rows) -> list[object]:
    """Rows for `pytest.mark.parametrize`: a question, its queries; the question is the id."""
    return [
        pytest.param(question, one if isinstance(one, tuple) else (one,), id=question) for question, one in rows.items()
    ]


def assert_reads(question: str, queries: Sequence[q.Query], *, ignored: Sequence[str] = ()) -> None:
    """A question has exactly one meaning, and no word of it is left out."""
    understood = read(question)
    assert understood.refusal is None, f"refused: {understood.refusal}"
    assert understood.queries == tuple(queries), f"read as {understood.queries}"
    assert understood.ignored == tuple(ignored), f"ignored {understood.ignored}"


def _measures(measures: Sequence[str | q.Measure]) -> tuple[q.Measure, ...]:
    return tuple(q.Measure(one) if isinstance(one, str) else one for one in measures)


def coins(names: str) -> q.Subject:
    """Coins named: `coins("BTC ETH")`."""
    return q.Subject(coins=tuple(names.split()))


def change(over: q.Span | None = None) -> q.Measure:
    return q.Measure("change", over=over)


def trend(frame: str | None = None) -> q.Measure:
    return q.Measure("trend", frame=frame)  # type: ignore[arg-type]  # a test's own literal


def value(names: str, *measures: str | q.Measure, time: q.Time = q.Now()) -> q.Query:  # noqa: B008 - immutable
    """Measures of coins: `value("BTC", "price")`."""
    return q.Query(subject=coins(names), measures=_measures(measures), time=time)


def of_market(*measures: str | q.Measure, time: q.Time = q.Now()) -> q.Query:  # noqa: B008 - immutable
    return q.Query(subject=MARKET, measures=_measures(measures), time=time)


def rank(measure: str | q.Measure, limit: int, direction: q.Direction = "most", subject: q.Subject = ALL) -> q.Query:
    return q.Query(subject=subject, measures=_measures([measure]), operation=q.Rank(direction, limit))


def listed(where: q.Condition, subject: q.Subject = ALL) -> q.Query:
    return q.Query(subject=subject, where=where, operation=q.List())


def checked(name: str, where: q.Condition) -> q.Query:
    """Whether a condition holds for a coin."""
    return q.Query(subject=coins(name), where=where, operation=q.Check())


def compared(names: str, measure: str | q.Measure, direction: q.Direction) -> q.Query:
    """Which of some coins has the most or least of a measure."""
    return q.Query(subject=coins(names), measures=_measures([measure]), operation=q.Compare(direction))


def holds(measure: str | q.Measure, op: q.Comparator, value: float | str) -> q.Test:
    """A measure compared with a value: `holds("funding", "gt", 20.0)`."""
    return q.Test(_measures([measure])[0], op, value)


UPTREND: Final = holds("trend", "eq", "UP")
DOWNTREND: Final = holds("trend", "eq", "DOWN")
BULLISH: Final = holds("verdict", "ge", "bull")
PAYS_LONGS: Final = holds("funding", "lt", 0.0)


def done(operation: q.Operation, subject: q.Subject = ALL, where: q.Condition | None = None) -> q.Query:
    """An operation on a subject, without measures."""
    return q.Query(subject=subject, where=where, operation=operation)


def day(text: str, words: str | None = None) -> q.At:
    """A day as a whole: `day("2026-10-05")`."""
    is_ago = words is not None and words.endswith(" ago")
    instant_ms = NOW_MS // 60_000 * 60_000 - TODAY_MS + day_ms(text) if is_ago else None
    return q.At(day_ms(text), whole_day=True, words=words or text, instant_ms=instant_ms)


def between(first: str, last: str | None, words: str) -> q.Between:
    """From a day to before another."""
    return q.Between(day_ms(first), None if last is None else day_ms(last), words)


def day_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000
