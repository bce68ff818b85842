"""Days that are counted, and closes of days: "how many of the last 30 days did it close up?". Pure."""

from typing import Final

from msgspec import structs

from service.ask.parser.found import OPPOSITE, mapped, tests_in
from service.ask.parser.lexicon import Word
from service.ask.parser.slots import Slots
from service.ask.query import (
    Any_,
    Between,
    Check,
    Condition,
    Count,
    Extreme,
    Measure,
    Now,
    Query,
    Test,
    Time,
    Window,
)

_CLOSING: Final = frozenset({
    "close", "closed", "closes", "closing", "finish", "finished", "finishes", "end", "ended", "settle", "settled",
})  # fmt: skip
_PRICE: Final = Measure("price")
_CLOSE: Final = Measure("close")
_A_DAY: Final = (Window(1, "d", "1 day"), Window(24, "h", "24 hours"))


def mark_closes(slots: Slots) -> None:
    """What a close does is what the day did: "finish green"; above or below a level is said of the close."""
    for at, word in enumerate(slots.words):
        to = slots.past(at + 1)
        if word not in _CLOSING or to >= len(slots.chunks) or slots.chunks[to].gap:
            continue
        if slots.has(to, "direction"):
            slots.put(at, structs.replace(slots.chunks[at], kind="filler", words=()))
            slots.used.add(at)
        elif slots.has(to, "compare") and slots.measure(at) is None:
            slots.put(
                at, structs.replace(slots.chunks[at], kind="measure", value=_PRICE, words=(Word("measure", _PRICE),))
            )


def of_days(slots: Slots, query: Query) -> Query:
    """Test each day of a coin's span where its days are counted, and closes where closes are named."""
    where, time, operation = query.where, query.time, query.operation
    closes = any("clos" in word for word in slots.words)
    if closes and isinstance(operation, Extreme) and query.measures == (_PRICE,):
        return structs.replace(query, measures=(_CLOSE,))
    if where is None or not query.subject.coins:
        return query
    if closes and isinstance(operation, Check) and isinstance(time, Window | Between):
        return structs.replace(query, where=mapped(where, _closing))
    if not isinstance(operation, Count):
        return query
    spans = {test.measure.over for test in tests_in(where)} - {None, *_A_DAY}
    if isinstance(time, Now) and len(spans) == 1:
        time = spans.pop() or time
    where = mapped(where, lambda test: _daily(test, time))
    if slots.absolute:
        both = mapped(where, _either)
        slots.absolute = both == where
        where = both
    return structs.replace(query, where=where, time=time)


def _closing(test: Test) -> Test:
    return structs.replace(test, measure=_CLOSE) if test.measure == _PRICE else test


def _daily(test: Test, time: Time) -> Test:
    """A test of one day: its change is that of the day."""
    if test.measure.name == "change" and test.measure.over in (None, time, *_A_DAY):
        return structs.replace(test, measure=Measure("change", over=_A_DAY[0]))
    return test


def _either(test: Test) -> Condition:
    """A move of a size, up or down."""
    if test.measure.name != "change" or not isinstance(test.value, float):
        return test
    return Any_((test, structs.replace(test, op=OPPOSITE[test.op], value=-test.value)))
