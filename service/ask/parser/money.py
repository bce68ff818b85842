"""Amounts of coins or money: what they are worth, earn, cost or have made. Pure."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct, structs

from service.ask import query as q
from service.ask.parser.chunks import Chunk, Quantity
from service.ask.parser.condition_tree import PAIR
from service.ask.parser.lexicon import Super
from service.ask.parser.slots import PRESENT, Slots
from service.ask.parser.windows import span_of

_USD: Final = "USD"
_SHORTED: Final = frozenset({"shorted", "went short", "shorted at"})
_OPENING: Final = frozenset({
    "bought", "put", "invested", "entered", "opened", "longed", "shorted", "aped", "went", "in", "had", "entry",
})  # fmt: skip
"""Words that say that a position was opened."""

_INTO: Final = frozenset({"in", "into", "on", "of", "across", "among"})
_PAID: Final = frozenset({"for", "with"})
_BUYS: Final = frozenset({"buy", "equal", "equals", "equal to", "is equal to"})
_ENTRIES: Final = frozenset({"at", "entry", "basis", "from", "price"})
_VALUE: Final = ("price", "change")
"""Measures that are only other words for a value or a profit."""

_EQUALLY: Final = frozenset({"equal", "equally", "evenly", "split", "splitting"})
LARGEST: Final = (Super("most"), Super("most", measure="market_cap"), Super("most", measure="price"))
"""Superlatives of the part of some holdings that is worth the most."""

_WHOLE: Final = 100.0
_ASKS: Final = ("list", "convert", "sum", "all", "overview")


class _Amount(Struct, frozen=True):
    """An amount, and the chunks it takes."""

    used: frozenset[int]
    holding: q.Holding

    @property
    def coin(self) -> tuple[str, ...]:
        """The coin that it is one of, if any."""
        return () if self.holding.unit == _USD else (self.holding.unit,)


def read_money(slots: Slots) -> list[q.Query]:
    """Value, profit and conversion: amounts of coins or money, and what they come to."""
    held = [at for at, chunk in enumerate(slots.chunks) if chunk.has("holding")]
    amounts = [amount for at in range(len(slots.chunks)) if (amount := _amount(slots, at)) is not None]
    entries = _entries(slots)
    if positions := _portfolio(slots, amounts, entries):
        return positions
    entry = entries[0] if entries else None
    if entry is not None and len(amounts) > 1:
        amounts = [amount for amount in amounts if entry not in amount.used]
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    times = slots.free(lambda chunk: chunk.kind == "time")
    if not amounts and (converted := _counted(slots)):
        return converted
    if not amounts:
        opened = entry is not None or (times and _opens(slots))
        return _profit(slots, None, entry) if held and len(coins) == 1 and opened else []
    if len(amounts) == 1:
        carried = slots.measures("carry", "funding") or (slots.first("side") is not None and not held)
        if entry is None and carried:
            return _carry(slots, amounts[0])
        if entry is not None or (times and (_opens(slots) or _is_put_in(slots, amounts[0]))):
            return _profit(slots, amounts[0], entry)
    profit = any(slots.as_(at, "holding") == "profit" for at in held)
    return [] if profit else _worth(slots, amounts, held)  # a profit needs to know since when


def _counted(slots: Slots) -> list[q.Query]:
    """One coin in units of another: "how many litecoin does one bitcoin buy"."""
    coins = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    counts = [at for at in coins if slots.word(at - 1) in {"how many", "how much"}]
    known = all(
        chunk.kind in {"coin", "filler", "ask", "and", "compare"} or slots.as_(at, "measure") == q.Measure("price")
        for at, chunk in enumerate(slots.chunks)
    )
    if len(coins) != PAIR or len(counts) != 1 or not known:
        return []
    counted = slots.chunks[counts[0]].value[0]
    other = next(slots.chunks[at].value[0] for at in coins if at not in counts)
    slots.used |= {at for at, words in enumerate(slots.words) if words in _BUYS} | set(slots.measures("price"))
    slots.used |= {*coins, counts[0] - 1}
    return [q.Query(subject=q.Subject(coins=(other, counted)), operation=q.Convert(q.Holding(1.0, other), (counted,)))]


def _opens(slots: Slots) -> bool:
    """Whether a position is said to have been opened, or its profit is asked for: "if I had put", "bought"."""
    held = [at for at, chunk in enumerate(slots.chunks) if chunk.has("holding")]
    words = {word for at in held for word in slots.word(at).split()}
    profit = any(slots.as_(at, "holding") == "profit" for at in held)
    return profit or (not _OPENING.isdisjoint(words) and "could" not in slots.words)


def _is_put_in(slots: Slots, amount: _Amount) -> bool:
    """Whether money of a past time is followed to the present: "$100 in SOL 30 days ago, …", "…, worth now?"."""
    now = any(words in PRESENT for words in slots.words) or any(map(_is_today, slots.chunks))
    would = "would" in slots.words and "been" not in slots.words and not slots.asks("count")
    past = any(chunk.kind == "time" and not _is_today(chunk) for chunk in slots.chunks)
    coins = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    into = any(slots.word(at - 1) in _INTO or slots.chunks[at - 1].as_("compare") == "between" for at in coins)
    into = into and not _is_priced(slots, min(amount.used))
    asks = any(chunk.has("ask") for chunk in slots.chunks)
    if amount.holding.unit != _USD:
        return past and now and would
    return past and into and (now or would or not asks)


def _portfolio(slots: Slots, amounts: Sequence[_Amount], entries: Sequence[int]) -> list[q.Query]:
    """Several positions: "800 LINK from 12.40 and 60 AAVE from 255", "$100 each in BTC and ETH a month ago"."""
    places = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    coins = [slots.chunks[at].value[0] for at in places]
    times = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "time"]
    past = [at for at in times if not _is_today(slots.chunks[at])]
    sized = [amount for amount in amounts if amount.used.isdisjoint(entries)]
    if len(coins) <= 1 or len(set(coins)) < len(coins) or len(past) != (not entries):
        return []
    holdings = _shared_out(slots, sized, coins)
    bought = all(
        place < entry < end
        for place, entry, end in zip(places, entries, [*places[1:], len(slots.chunks)], strict=False)
    )
    parts = any(chunk.kind == "number" and chunk.value.unit == "%" for chunk in slots.chunks)
    opens = parts or _opens(slots) or any(_is_put_in(slots, amount) for amount in sized)
    if not holdings or (not opens and not entries) or (entries and (len(entries) != len(coins) or not bought)):
        return []
    since: q.Time | None = slots.chunks[past[0]].value if past else None
    prices = [slots.chunks[at].value.value for at in entries] or [None] * len(coins)
    positions = tuple(
        q.Profit(holding, price, since, _side_before(slots, at))
        for holding, price, at in zip(holdings, prices, places, strict=True)
    )
    slots.used |= {*places, *times, *entries, *slots.measures(*_VALUE)} | {at for one in sized for at in one.used}
    slots.used |= {at for at, words in enumerate(slots.words) if words in _SHORTED}
    slots.used |= {at for at, chunk in enumerate(slots.chunks) if chunk.as_("compare") == "between"}
    slots.take("side", "direction", "and", "or", "holding", "among")
    slots.take_asks(*_ASKS)
    return [q.Query(subject=q.Subject(coins=tuple(coins)), operation=q.Portfolio(positions))]


def _shared_out(slots: Slots, amounts: Sequence[_Amount], coins: Sequence[str]) -> list[q.Holding]:
    """What is held of each coin: an amount each, equal parts or percentages of one; empty where that is not said."""
    words = {word for words in slots.words for word in words.split()}
    percents = slots.free(lambda chunk: chunk.kind == "number" and chunk.value.unit == "%")
    parts = [slots.chunks[at].value.value / _WHOLE for at in percents]
    if len(amounts) == len(coins) and not parts:
        paid = any(amount.coin and slots.word(min(amount.used) - 1) in _PAID for amount in amounts)
        own = not paid and all(amount.coin in {(), (coin,)} for amount, coin in zip(amounts, coins, strict=True))
        return [amount.holding for amount in amounts] if own else []
    if len(amounts) != 1 or amounts[0].coin:
        return []
    if not parts and "each" in words:
        parts = [1.0] * len(coins)
    elif not parts and not _EQUALLY.isdisjoint(words):
        parts = [1 / len(coins)] * len(coins)
    elif len(parts) != len(coins) or round(sum(parts), 9) != 1:
        return []
    slots.used |= {*percents, *(at for at, said in enumerate(slots.words) if not _EQUALLY.isdisjoint(said.split()))}
    return [q.Holding(amounts[0].holding.amount * part, _USD) for part in parts]


def _side_before(slots: Slots, at: int) -> Literal["long", "short"]:
    """The side that is said last before a coin."""
    said = [words for place, words in enumerate(slots.words[:at]) if slots.has(place, "side") or words in _SHORTED]
    return "short" if said and "short" in said[-1] else "long"


def _worth(slots: Slots, amounts: Sequence[_Amount], held: Sequence[int]) -> list[q.Query]:
    """What holdings are worth; an amount without a word such as "I hold" is a conversion: "0.5 BTC in dollars"."""
    units = {amount.holding.unit for amount in amounts}
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    into = tuple(coin for at in coins if (coin := slots.chunks[at].value[0]) not in units)
    named = tuple(dict.fromkeys(coin for amount in amounts for coin in amount.coin))
    holdings = tuple(amount.holding for amount in amounts)
    converts = len(amounts) == 1 and (not held or "could" in slots.words)
    each = len(into) > 1 and "each" in " ".join(slots.words).split()
    if each or (not named and not (converts and into)):
        return []
    slots.used |= {at for amount in amounts for at in amount.used} | set(coins) | set(held)
    time = slots.one_time(slots.free(lambda chunk: chunk.kind == "time"))
    now = not isinstance(time, q.Now) and any(words in PRESENT for words in slots.words)
    slots.used |= set(slots.measures(*_VALUE)) | {at for at, words in enumerate(slots.words) if words in _BUYS}
    if len(holdings) > 1:  # "… and which is the largest part?": every answer says it
        slots.used |= set(slots.free(lambda chunk: chunk.as_("super") in LARGEST)) | set(slots.asks("share"))
    slots.take_asks(*_ASKS)
    slots.take("among", "or", "and", "set")
    operation = q.Convert(holdings[0], into or (_USD,)) if converts else q.ValueOf(holdings)
    subject = q.Subject(coins=tuple(dict.fromkeys((*named, *into))) if converts else named)
    query = q.Query(subject=subject, operation=operation, time=time)
    return [structs.replace(query, time=q.Now()), query] if now else [query]


def _amount(slots: Slots, at: int) -> _Amount | None:
    """The amount at a chunk: "2 BTC", "$500 of SOL", "1000 usd"."""
    chunk = slots.chunks[at]
    if chunk.kind != "number" or chunk.value.value <= 0 or chunk.value.unit in {"%", "x"}:
        return None
    if slots.has(at - 1, "compare") or slots.has(at - 1, "super"):
        return None
    quantity: Quantity = chunk.value
    coin = None if quantity.unit == _USD else _coin_beside(slots, at)
    if coin == at + 1 and quantity.scaled and slots.has(coin + 1, "side"):
        coin = None  # "a 10k BTC short" is one of 10,000 USD
    if coin is not None:
        used = range(at, coin + 1) if slots.kind(at + 1) != "set" else (at, at + 1, coin)
        return _Amount(frozenset({at, *used}), q.Holding(quantity.value, slots.chunks[coin].value[0]))
    held = any(other.has("holding") or other.has("side") for other in slots.chunks)
    in_position = (held and quantity.scaled) or _goes_in(slots, at)
    return _Amount(frozenset({at}), q.Holding(quantity.value, _USD)) if quantity.unit == _USD or in_position else None


def _is_priced(slots: Slots, at: int) -> bool:
    """Whether the price of a number is asked for, not the one that something was bought at: "price of 1000 usd"."""
    before = at - 1
    while slots.kind(before) == "filler" and slots.word(before) not in _ENTRIES:
        before -= 1
    opened = any(_opened_by(slots, place) for place in range(len(slots.chunks)))
    return slots.as_(before, "measure") == q.Measure("price") and not slots.has(before, "holding") and not opened


def _opened_by(slots: Slots, at: int) -> bool:
    """Whether a chunk says that a position was opened, and on which side."""
    return slots.has(at, "side") or (slots.has(at, "holding") and "worth" not in slots.word(at).split())


def _goes_in(slots: Slots, at: int) -> bool:
    """Whether a plain number is money for a coin: "put 1000 in SOL", "100 each in BTC and ETH a month ago"."""
    if not any(other.has("holding") or other.has("side") or other.kind == "time" for other in slots.chunks):
        return False
    behind = at + 1 + (slots.word(at + 1) in {"each", "equally", "evenly"})
    return slots.chunks[at].value.unit is None and slots.word(behind) in _INTO and slots.kind(behind + 1) == "coin"


def _coin_beside(slots: Slots, at: int) -> int | None:
    """The coin that a number counts: "2 BTC", "2 of BTC", "SOL: 12", "my SOL … 12 coins"."""
    if slots.kind(at + 1) == "coin" and not slots.chunks[at + 1].gap:
        return at + 1
    if slots.word(at + 1) == "of" and slots.kind(at + 2) == "coin":
        return at + 2
    coins = [place for place, chunk in enumerate(slots.chunks) if chunk.kind == "coin"]
    if not any(chunk.has("holding") for chunk in slots.chunks):
        return None
    counted = slots.kind(at + 1) == "set" or slots.word(at - 1) == "size"
    if counted and len(coins) == 1:
        return coins[0]
    return at - 1 if at - 1 in coins and ":" in slots.chunks[at].gap else None


def _entries(slots: Slots) -> list[int]:
    """The chunks of entry prices: "at 95k", "entry 3200", "for $20"."""
    found = []
    for at, chunk in enumerate(slots.chunks):
        if chunk.kind != "number" or at == 0:
            continue
        before = at - 1
        while before > 0 and slots.kind(before) == "filler" and slots.word(before) not in {"at", "from", "for"}:
            before -= 1
        entered = slots.word(before).split()[-1] in _ENTRIES and not _is_priced(slots, at)
        if entered and slots.kind(at + 1) != "coin":
            found.append(at)
    numbers = [at for at, chunk in enumerate(slots.chunks) if chunk.kind == "number"]
    said = any(words.endswith("entry") for words in slots.words)
    return found or (numbers if said and len(numbers) == 1 else [])


def _profit(slots: Slots, amount: _Amount | None, entry: int | None) -> list[q.Query]:
    """What a position has made since an entry price or a time; in percent where its size is not said."""
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    if amount is not None and entry in amount.used and amount.holding.unit == _USD:
        amount = None
    held = () if amount is None else amount.coin
    named = tuple(dict.fromkeys((*held, *(slots.chunks[at].value[0] for at in coins))))
    if len(named) != 1:
        return []
    slots.used |= {*coins, *(() if amount is None else amount.used)}
    price: float | None = None
    since: q.Time | None = None
    if entry is None:
        since = _opened(slots)
    else:
        slots.used.add(entry)
        price = slots.chunks[entry].value.value
    sides = {at for at, words in enumerate(slots.words) if slots.has(at, "side") or words in _SHORTED}
    short = any("short" in slots.word(at) for at in sides)
    slots.used |= sides | set(slots.measures(*_VALUE))
    slots.take_asks(*_ASKS)
    slots.take("direction", "filler", "and", "or", "holding", "among")
    holding = None if amount is None else amount.holding
    return [
        q.Query(subject=q.Subject(coins=named), operation=q.Profit(holding, price, since, "short" if short else "long"))
    ]


def _opened(slots: Slots) -> q.Time:
    """When a position was opened; "today" beside it says only that the profit is that of now."""
    times = slots.free(lambda chunk: chunk.kind == "time")
    slots.used |= {at for at in times if at == times[0] or _is_today(slots.chunks[at])}
    time: q.Time = slots.chunks[times[0]].value
    return time


def _is_today(chunk: Chunk) -> bool:
    return getattr(chunk.value, "words", "") == "today"


def _carry(slots: Slots, amount: _Amount) -> list[q.Query]:
    """What a position of a size costs: "cost of holding a 10k long in ETH for a week"."""
    coins = slots.free(lambda chunk: chunk.kind == "coin")
    named = amount.coin or tuple(slots.chunks[at].value[0] for at in coins)
    if not named:
        return []
    side = slots.first("side")
    times = slots.free(lambda chunk: chunk.kind == "time")
    measure = q.Measure(
        "carry",
        over=span_of(slots.chunks[times[0]].value) if times else None,
        side=None if side is None else slots.as_(side, "side"),
        notional=None if amount.coin else amount.holding.amount,
    )
    slots.used |= {*amount.used, *coins, *slots.measures("carry", "funding", *_VALUE)}
    slots.used |= {at for at in times if at == times[0] or _is_today(slots.chunks[at])}
    slots.take("ask", "holding", "side")
    slots.used |= set(slots.free(lambda chunk: chunk.value == "pricing"))  # "what does it cost"
    operation = q.ValueOf((amount.holding,)) if amount.coin else q.Value()
    return [q.Query(subject=q.Subject(coins=named), measures=(measure,), operation=operation)]
