"""Pieces that mean something else beside others: a high that is fallen from, a coin that is compared with. Pure."""

from typing import Final

from msgspec import structs

from service.ask.parser.lexicon import Word
from service.ask.parser.slots import BITCOIN, Slots
from service.ask.query import (
    Measure,
    Subject,
    Window,
)

_FROM: Final = frozenset({"off", "below", "under", "from", "beneath"})


_TOPS: Final = frozenset({"high", "top", "peak", "highs", "ath"})


def mark_drawdowns(slots: Slots) -> None:
    """Below a high is a drawdown: "more than 35 % off its 30-day top", "within 5 % of its high"."""
    chunks, words = list(slots.chunks), list(slots.words)
    for at, chunk in enumerate(chunks):
        name = chunk.as_("measure")
        if (
            any((value := other.as_("super")) is not None and value.measure == "drawdown" for other in chunks)
            and name is not None
            and name.name == "high"
        ):
            chunks[at] = structs.replace(
                chunk, kind="measure", value=Measure("drawdown"), words=(Word("measure", Measure("drawdown")),)
            )
            continue
        if (
            name is not None
            and name.name == "low"
            and any(words[place] in {"from", "above", "within"} for place in range(max(0, at - 4), at))
        ):
            chunks[at] = structs.replace(chunk, kind="blocked", words=())
            continue
        if not ((name is not None and name.name == "high") or words[at] in _TOPS):
            continue
        before = at - 1
        while before >= 0 and (chunks[before].kind in {"filler", "time"}) and words[before] not in _FROM | {"of"}:
            before -= 1
        if before < 0 or not (words[before] in _FROM | {"of"} or chunks[before].has("compare")):
            continue
        within = next((place for place in range(before) if words[place] in {"within"}), None)
        if words[before] == "of" and within is None:
            continue
        if words[before] != "of" and before and chunks[before].has("compare") and chunks[at].kind == "number":
            continue
        chunks[at] = structs.replace(
            chunk, kind="measure", value=Measure("drawdown"), words=(Word("measure", Measure("drawdown")),)
        )
        chunks[before] = structs.replace(chunks[before], kind="filler", words=())
        if within is not None:
            chunks[within] = structs.replace(chunks[within], kind="compare", value="ge", words=(Word("compare", "ge"),))
        for place in range(before):
            if chunks[place].kind == "number" and chunks[place].value.unit == "%":
                chunks[place] = structs.replace(
                    chunks[place], value=structs.replace(chunks[place].value, value=-abs(chunks[place].value.value))
                )
                if within is None and chunks[place - 1].has("compare"):
                    turned = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}.get(
                        chunks[place - 1].as_("compare"), "lt"
                    )
                    chunks[place - 1] = structs.replace(
                        chunks[place - 1], value=turned, words=(Word("compare", turned),)
                    )
    slots.chunks = chunks


def merge_times(slots: Slots) -> None:
    """Of "last month (30d)" the window counts, of "24h … not today" nothing else: what says the same twice is one."""
    times = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "time"]
    for first, second in zip(times, times[1:], strict=False):
        one, other = slots.chunks[first].value, slots.chunks[second].value
        between = range(first + 1, second)
        if any(slots.kind(at) not in {"filler"} for at in between) or not (
            isinstance(one, Window) != isinstance(other, Window)
        ):
            continue
        calendar = one if not isinstance(one, Window) else other
        window = other if isinstance(other, Window) else one
        days = window.count / 24 if window.unit == "h" else window.count
        said = getattr(calendar, "words", "")
        if (said, days) in {
            ("today", 1),
            ("this week", 7),
            ("last week", 7),
            ("this month", 30),
            ("last month", 30),
            ("this year", 365),
            ("last year", 365),
        }:
            slots.used.add(first if calendar is one else second)


def mark_other(slots: Slots) -> None:
    """What many coins are correlated with is no subject: "lowest correlation to Bitcoin"."""
    names = [
        at
        for at, chunk in enumerate(slots.chunks)
        if (m := chunk.as_("measure")) is not None and m.name in {"correlation", "strength"}
    ]
    names += [
        at
        for at, chunk in enumerate(slots.chunks)
        if chunk.as_("super") is not None and chunk.as_("super").measure == "correlation"
    ]
    coins = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    many = any(
        chunk.kind in {"set", "category"} or chunk.has("super") or chunk.has("compare") for chunk in slots.chunks
    )
    if not names or not (many or len(coins) > 1) or len(coins) != len({at for at in coins}) or not coins:
        return
    for at in coins:
        before = slots.words[at - 1].split()[-1] if at else ""
        if before in {"to", "with", "against", "versus", "follow", "than"} and len(slots.chunks[at].value) == 1:
            other = slots.chunks[at].value[0]
            slots.used.add(at)
            slots.against = True
            if other != BITCOIN:
                slots.chunks = [
                    structs.replace(
                        chunk, kind="measure", value=structs.replace(chunk.as_("measure"), other=other), words=()
                    )
                    if place in names and chunk.as_("measure") is not None
                    else chunk
                    for place, chunk in enumerate(slots.chunks)
                ]
            return


_PAYING: Final = frozenset(
    [
        "pay",
        "paid",
        "paying",
        "pays",
        "receive",
        "receiving",
        "received",
        "receives",
        "earn",
        "earning",
        "earned",
        "collect",
        "get",
        "gets",
        "getting",
    ]
)


def read_sides(slots: Slots, subject: Subject) -> None:
    """Long and short beside a coin: who pays whom is its funding, which of both to be is its verdict."""
    sides = slots.free(lambda chunk: chunk.has("side"))
    if not sides:
        return
    named = {measure.name for chunk in slots.chunks if (measure := chunk.as_("measure")) is not None}
    paying = any(word in _PAYING for words in slots.words for word in words.split())
    if named & {"funding", "carry"}:
        slots.used |= set(sides)
    elif (paying or subject.coins) and not slots.asks("buy", "short"):
        name = "funding" if paying else "verdict"
        slots.used |= set(sides[1:])
        slots.chunks = [
            structs.replace(chunk, kind="measure", value=Measure(name), words=()) if at == sides[0] else chunk
            for at, chunk in enumerate(slots.chunks)
        ]
