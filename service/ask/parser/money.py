"""Amounts of coins or money: what they are worth, earn, cost or have made. Pure."""

from collections.abc import Sequence
from typing import Literal

from service.ask.parser.chunks import Quantity
from service.ask.parser.windows import span_of
from service.ask.parser.slots import Slots
from service.ask.query import (
    Convert,
    Holding,
    Measure,
    Profit,
    Query,
    Subject,
    Time,
    ValueOf,
)


def read_money(slots: Slots) -> list[Query]:
    """Value, profit and conversion: amounts of coins or money, and what they come to."""
    pairs = _amounts(slots)
    holding = [at for at, chunk in enumerate(slots.chunks) if chunk.has("holding")]
    entered = _entry(slots)
    if entered is not None and len(pairs) > 1:
        pairs = [pair for pair in pairs if entered not in pair[0]]
    if not pairs:
        return _entry_only(slots, holding)
    asked_profit = any(slots.chunks[at].as_("holding") == "profit" for at in holding)
    carry = [
        at for at, chunk in enumerate(slots.chunks) if (m := chunk.as_("measure")) and m.name in {"carry", "funding"}
    ]
    side = slots.first("side")
    if entered is None and (carry or (side is not None and not holding)) and len(pairs) == 1:
        return _carry(slots, pairs, carry, side)
    times = [at for at in slots.free(lambda chunk: chunk.kind == "time")]
    coins = [at for at in slots.free(lambda chunk: chunk.kind == "coin")]
    entry = entered
    if len(pairs) == 1 and (entry is not None or asked_profit or (times and holding)):
        return _profit(slots, pairs[0], entry, times, coins, holding)
    held = {one.unit for _, one in pairs}
    into = tuple(slots.chunks[at].value[0] for at in coins if slots.chunks[at].value[0] not in held)
    for taken, _ in pairs:
        slots.used |= taken
    slots.used |= set(coins) | set(holding)
    time = slots.one_time(times)
    slots.take("ask", "measure", "among", "or", "and", "set")
    listed = tuple(one for _, one in pairs)
    if len(listed) == 1 and not holding:
        return (
            [
                Query(
                    operation=Convert(listed[0], into or (("USD",) if listed[0].unit != "USD" else ())),
                    time=time,
                    subject=Subject(
                        coins=tuple(dict.fromkeys((*((listed[0].unit,) if listed[0].unit != "USD" else ()), *into)))
                    ),
                )
            ]
            if (into or listed[0].unit != "USD")
            else []
        )
    named = tuple(dict.fromkeys(one.unit for one in listed if one.unit != "USD"))
    return [Query(subject=Subject(coins=named), operation=ValueOf(listed), time=time)] if named else []


def _amounts(slots: Slots) -> list[tuple[set[int], Holding]]:
    """Amounts: "2 BTC", "$500 of SOL", "1000 usd", each with the chunks it takes."""
    found: list[tuple[set[int], Holding]] = []
    for at, chunk in enumerate(slots.chunks):
        if chunk.kind != "number" or chunk.value.value <= 0 or chunk.value.unit in {"%", "x"}:
            continue
        quantity: Quantity = chunk.value
        if slots.chunks[at - 1].has("compare") or slots.chunks[at - 1].has("super") if at else False:
            continue
        after = at + 1
        while slots.kind(after) == "filler" and slots.words[after] in {"of", "worth of", "worth", "in"}:
            after += 1
        if quantity.unit == "USD":
            found.append(({at}, Holding(quantity.value, "USD")))
        elif slots.kind(at + 1) == "coin" and not slots.chunks[at + 1].gap:
            found.append(({at, at + 1}, Holding(quantity.value, slots.chunks[at + 1].value[0])))
        elif slots.kind(after) == "coin" and after == at + 2 and slots.words[at + 1] == "of":
            found.append(({at, at + 1, after}, Holding(quantity.value, slots.chunks[after].value[0])))
        elif (
            slots.kind(at + 1) == "set"
            and any(other.has("holding") for other in slots.chunks)
            and sum(other.kind == "coin" for other in slots.chunks) == 1
        ):
            coin = next(place for place, other in enumerate(slots.chunks) if other.kind == "coin")
            found.append(({at, at + 1, coin}, Holding(quantity.value, slots.chunks[coin].value[0])))
        elif (
            at
            and slots.kind(at - 1) == "coin"
            and ":" in chunk.gap
            and any(other.has("holding") for other in slots.chunks)
        ):
            found.append(({at, at - 1}, Holding(quantity.value, slots.chunks[at - 1].value[0])))
        elif quantity.scaled and any(chunk.has("holding") or chunk.has("side") for chunk in slots.chunks):
            found.append(({at}, Holding(quantity.value, "USD")))
    return found


def _entry(slots: Slots) -> int | None:
    """The chunk of an entry price: "at 95k", "entry 3200", "for $20"."""
    for at, chunk in enumerate(slots.chunks):
        if chunk.kind != "number" or at == 0:
            continue
        before = at - 1
        while before > 0 and slots.kind(before) == "filler" and slots.words[before] not in {"at", "from", "for"}:
            before -= 1
        word = slots.words[before].split()[-1] if slots.words[before] else ""
        if word in {"at", "entry", "basis", "from", "price"} and slots.kind(at + 1) != "coin":
            return at
    return None


def _entry_only(slots: Slots, holding: Sequence[int]) -> list[Query]:
    """A profit in percent: "I bought SOL at 150, how am I doing?"."""
    entry = _entry(slots)
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    times = slots.free(lambda chunk: chunk.kind == "time")
    if not holding or not coins or (entry is None and not times):
        return []
    if entry is None and not any(
        slots.words[at].split()[0] in {"i", "if", "had", "bought", "my", "we"} for at in holding
    ):
        return []
    if len(coins) > 1:
        return []
    return _profit(slots, (set(), None), entry, times, coins, holding)


def _profit(
    slots: Slots,
    pair: tuple[set[int], Holding | None],
    entry: int | None,
    times: Sequence[int],
    coins: Sequence[int],
    holding: Sequence[int],
) -> list[Query]:
    taken, held = pair
    if held is not None and entry in taken and held.unit == "USD":
        held, taken = None, set()
    slots.used |= taken | set(coins) | set(holding)
    since: Time | None = None
    price: float | None = None
    if entry is not None:
        price = slots.chunks[entry].value.value
        slots.used.add(entry)
    elif times:
        since = slots.chunks[times[0]].value
        slots.used |= {at for at in times if at == times[0] or getattr(slots.chunks[at].value, "words", "") == "today"}
    side_at = [
        at
        for at, chunk in enumerate(slots.chunks)
        if chunk.has("side") or slots.words[at] in {"shorted", "went short", "shorted at"}
    ]
    side: Literal["long", "short"] = "short" if any("short" in slots.words[at] for at in side_at) else "long"
    slots.used |= set(side_at)
    named = [slots.chunks[at].value[0] for at in coins]
    if held is not None and held.unit != "USD" and held.unit not in named:
        named.insert(0, held.unit)
    if len(named) != 1:
        return []
    slots.take("ask", "measure", "direction", "filler", "and", "or", "holding", "among")
    return [Query(subject=Subject(coins=tuple(named)), operation=Profit(held, price, since, side))]


def _carry(
    slots: Slots, pairs: Sequence[tuple[set[int], Holding]], carry: Sequence[int], side: int | None
) -> list[Query]:
    """What a position of a size costs: "cost of holding a 10k long in ETH for a week"."""
    taken, held = pairs[0]
    coins = [slots.chunks[at].value[0] for at in slots.free(lambda chunk: chunk.kind == "coin") if at not in taken]
    coins = coins or ([held.unit] if held.unit != "USD" else [])
    if not coins:
        return []
    slots.used |= taken | set(carry)
    if side is not None:
        slots.used.add(side)
    slots.used |= set(slots.free(lambda chunk: chunk.kind == "coin"))
    times = slots.free(lambda chunk: chunk.kind == "time")
    over = span_of(slots.chunks[times[0]].value) if times else None
    slots.used |= set(times[:1]) | {at for at in times if getattr(slots.chunks[at].value, "words", "") == "today"}
    slots.take("ask", "measure", "holding", "side")
    measure = Measure(
        "carry",
        over=over,
        side=slots.chunks[side].as_("side") if side is not None else None,
        notional=held.amount if held.unit == "USD" else None,
    )
    if held.unit != "USD":
        return [Query(subject=Subject(coins=(held.unit,)), measures=(measure,), operation=ValueOf((held,)))]
    return [Query(subject=Subject(coins=tuple(coins)), measures=(measure,))]
