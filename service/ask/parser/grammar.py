"""From the pieces of one clause to typed queries. Pure.

A clause is read in a fixed order: who it is about, its conditions, its operation, its measures, its time. Each step
marks the pieces it takes; what is left decides whether the clause can be answered.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from service.ask.parser.chunks import Chunk, Quantity
from service.ask.parser.conditions import WINDOWED, Found, Scanner, join, qualify, span_of
from service.ask.parser.lexicon import Super, Word
from service.ask.query import (
    Aggregate,
    All,
    At,
    Between,
    Check,
    Compare,
    Condition,
    Convert,
    Count,
    Exists,
    Extreme,
    Holding,
    List,
    Measure,
    Not,
    Now,
    Operation,
    Position,
    Profit,
    Query,
    Rank,
    Ratio,
    Record,
    Route,
    Screen,
    Share,
    Subject,
    Test,
    Time,
    Value,
    ValueOf,
    When,
    Why,
    Window,
)

_AUX: Final = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "does",
        "did",
        "do",
        "has",
        "have",
        "had",
        "isnt",
        "arent",
        "wasnt",
        "didnt",
        "doesnt",
        "hasnt",
        "havent",
        "am",
    ]
)
_SUPERLATIVE_PLURAL: Final = 5
_MOST_ROWS: Final = 50
BITCOIN: Final = "BTC"


class Slots(Struct):
    """What one clause holds; `used` are chunks that have been read; `both`: both ends of a ranking."""

    chunks: Sequence[Chunk]
    words: Sequence[str]
    used: set[int]
    both: bool = False
    asset_type: str | None = None

    def kind(self, at: int) -> str:
        return self.chunks[at].kind if 0 <= at < len(self.chunks) else ""

    def free(self, test: Callable[[Chunk], bool]) -> list[int]:
        """Chunks not yet used that fulfil a test."""
        return [at for at, chunk in enumerate(self.chunks) if at not in self.used and test(chunk)]

    def first(self, kind: str) -> int | None:
        """The first free chunk that has a kind as one of its meanings."""
        return next(iter(self.free(lambda chunk: chunk.has(kind))), None)

    def asks(self, *values: str) -> list[int]:
        """Chunks that ask for an operation, used or not."""
        return [
            at
            for at, chunk in enumerate(self.chunks)
            if any(word.kind == "ask" and word.value in values for word in chunk.words)
        ]


def read_clause(chunks: Sequence[Chunk], words: Sequence[str]) -> tuple[list[Query], set[int]]:
    """Read a clause.

    Args:
        chunks: Its pieces.
        words: For each of them what is written, mended, lower case.

    Returns:
        Its queries, and the pieces that were used. No query where it asks for nothing.
    """
    slots = Slots(chunks, words, set())
    for reader in (_holdings, _topic, _general):
        queries = reader(slots)
        if queries:
            return queries, slots.used
    return [], slots.used


# Subjects


def _subject(slots: Slots) -> Subject:
    """Who a clause is about. Names after "except" or "not" are left out."""
    coins: dict[str, None] = {}
    assets: dict[str, None] = {}
    categories: dict[str, None] = {}
    out_coins: dict[str, None] = {}
    out_categories: dict[str, None] = {}
    wallets: dict[str, None] = {}
    shows: dict[str, None] = {}
    excluding = False
    for at, chunk in enumerate(slots.chunks):
        if at in slots.used:
            continue
        if chunk.has("except"):
            excluding = True
            slots.used.add(at)
        elif chunk.has("neg") and _names(slots, at + 1):
            excluding = True
            slots.used.add(at)
        elif chunk.kind in {"coin", "category", "asset", "wallet", "show"}:
            target: dict[str, None] = {
                "coin": out_coins if excluding else coins,
                "category": out_categories if excluding else categories,
                "asset": assets,
                "wallet": wallets,
                "show": shows,
            }[chunk.kind]
            target.update(dict.fromkeys(chunk.value))
            slots.used.add(at)
        elif chunk.kind not in {"and", "or", "filler"} or chunk.gap not in {"", ","}:
            excluding = excluding and chunk.kind == "set"
    for at in slots.free(lambda chunk: chunk.kind == "set"):
        if slots.chunks[at].value == "alts":
            out_coins.setdefault(BITCOIN)
    scope = _scope(slots, bool(coins), bool(categories), bool(assets), bool(out_coins or out_categories))
    if slots.asset_type and not coins and not assets and not categories:
        return Subject(scope="assets", asset_type=slots.asset_type)
    return Subject(
        scope="wallets" if wallets else "shows" if shows and not coins else scope,
        coins=tuple(coins),
        assets=tuple(assets),
        categories=tuple(categories),
        wallets=tuple(wallets),
        shows=tuple(shows),
        excluded=tuple(out_coins),
        excluded_categories=tuple(out_categories),
    )


def _names(slots: Slots, at: int) -> bool:
    """Whether a name, or a set and a name, begins at a chunk, with at most fillers before."""
    while slots.kind(at) == "filler":
        at += 1
    return slots.kind(at) in {"coin", "category"}


def _scope(slots: Slots, coins: bool, categories: bool, assets: bool, out: bool) -> Any:
    sets = {slots.chunks[at].value for at in slots.free(lambda chunk: chunk.kind == "set")}
    if coins:
        return "coins"
    if categories:
        return "category"
    if assets:
        return "assets"
    if "market" in sets:
        return "market"
    return "all" if sets or out else "coins"


# Holdings


def _holdings(slots: Slots) -> list[Query]:
    """Value, profit and conversion: amounts of coins or money, and what they come to."""
    pairs = _amounts(slots)
    holding = [at for at, chunk in enumerate(slots.chunks) if chunk.has("holding")]
    if not pairs:
        return _entry_only(slots, holding)
    asked_profit = any(slots.chunks[at].as_("holding") == "profit" for at in holding)
    carry = [
        at for at, chunk in enumerate(slots.chunks) if (m := chunk.as_("measure")) and m.name in {"carry", "funding"}
    ]
    side = slots.first("side")
    entered = _entry(slots)
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
    time = _one_time(slots, times)
    _take(slots, "ask", "measure", "among", "or", "and", "set")
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
        elif slots.kind(at + 1) == "set" and sum(other.kind == "coin" for other in slots.chunks) == 1:
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
    side = "short" if any("short" in slots.words[at] for at in side_at) else "long"
    slots.used |= set(side_at)
    named = [slots.chunks[at].value[0] for at in coins]
    if held is not None and held.unit != "USD" and held.unit not in named:
        named.insert(0, held.unit)
    if len(named) != 1:
        return []
    _take(slots, "ask", "measure", "direction", "filler", "and", "or", "holding", "among")
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
    slots.used |= set(times[:1])
    _take(slots, "ask", "measure", "holding", "side")
    measure = Measure(
        "carry",
        over=over,
        side=slots.chunks[side].as_("side") if side is not None else None,
        notional=held.amount if held.unit == "USD" else None,
    )
    if held.unit != "USD":
        return [Query(subject=Subject(coins=(held.unit,)), measures=(measure,), operation=ValueOf((held,)))]
    return [Query(subject=Subject(coins=tuple(coins)), measures=(measure,))]


# What single data routes answer


def _topic(slots: Slots) -> list[Query]:
    """Alerts, talk, transfers, listings, walk-forward, account, prices of calls."""
    at = slots.first("topic")
    if at is None:
        wallet = slots.free(lambda chunk: chunk.kind == "wallet")
        shows = slots.free(lambda chunk: chunk.kind == "show")
        if not wallet and not shows:
            return []
        topic = "wallets" if wallet else "transcripts"
    else:
        topic = str(slots.chunks[at].as_("topic"))
        if topic == "assets" and slots.free(lambda chunk: chunk.kind == "asset"):
            slots.used.add(at)
            return []
        if topic == "categories" and slots.free(lambda chunk: chunk.kind == "category"):
            slots.used.add(at)
            return []
        if topic == "assets" and _is_screened(slots):
            slots.used.add(at)
            slots.asset_type = ASSET_TYPES.get(slots.words[at], "")
            return []
        if topic in {"categories", "coins"} and _is_screened(slots):
            return []
        if (
            topic in {"categories", "coins"}
            and slots.free(lambda chunk: chunk.kind in {"coin", "category"})
            and topic != "categories"
        ):
            return []
        if (
            topic == "wallets"
            and slots.words[at] in {"transferred"}
            and not slots.free(lambda chunk: chunk.kind in {"wallet", "coin"})
        ):
            return []
        slots.used.add(at)
    args: dict[str, str] = {}
    word = slots.words[at] if at is not None else ""
    if topic == "assets" and word in ASSET_TYPES:
        args["type"] = ASSET_TYPES[word]
    subject = _subject(slots)
    time = _one_time(slots, slots.free(lambda chunk: chunk.kind == "time"))
    for number in slots.free(
        lambda chunk: chunk.kind == "number" and chunk.value.unit is None and chunk.value.value >= 1
    ):
        args["limit"] = str(int(slots.chunks[number].value.value))
        slots.used.add(number)
    how_many = bool(slots.asks("count"))
    _take(slots, "ask", "set", "topic", "among", "frame", "super", "side", "and", "or", "holding")
    loose = _LOOSE_OF.get(topic, frozenset())
    slots.used |= set(slots.free(lambda chunk: (m := chunk.as_("measure")) is not None and m.name in loose))
    slots.used |= set(slots.free(lambda chunk: chunk.has("direction") or chunk.has("state"))) if loose else set()
    operation = Route(topic, args | ({"count": "yes"} if how_many else {}))
    return [Query(subject=subject, time=time, operation=operation)]


ASSET_TYPES: Final = {
    word: name
    for name, words in {
        "equity": "stock stocks equity equities share shares",
        "metal": "metal metals",
        "commodity": "commodity commodities energy",
        "index": "index indices indexes",
        "fx": "currency currencies forex fx",
        "etf": "etf etfs",
    }.items()
    for word in words.split()
} | {"precious metals": "metal"}
"""Words for types of real-world assets."""

_LOOSE_OF: Final = {
    "wallets": frozenset({"change"}),
    "transcripts": frozenset({"change"}),
    "walkforward": frozenset({"change", "drawdown", "trend"}),
    "regime_trades": frozenset({"regime", "change"}),
    "alerts": frozenset({"funding"}),
    "crossings": frozenset({"breadth", "trend"}),
    "news": frozenset({"sentiment"}),
}
"""Measures whose words belong to a topic: "moved" of wallets, "drawdown" of a backtest."""


def _is_screened(slots: Slots) -> bool:
    """Whether a set is ranked or filtered, so that its name is a subject."""
    return any(
        chunk.has("super") or chunk.has("compare") or chunk.has("direction") or chunk.has("state")
        for chunk in slots.chunks
    )


# Everything else


_FROM: Final = frozenset({"off", "below", "under", "from", "beneath"})
_TOPS: Final = frozenset({"high", "top", "peak", "highs", "ath"})


def _drawdowns(slots: Slots) -> None:
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


def _same_length(slots: Slots) -> None:
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


def _general(slots: Slots) -> list[Query]:
    _drawdowns(slots)
    _same_length(slots)
    found = _conditions(slots)
    for one in found:
        slots.used |= one.used
    _against(slots)
    subject = _subject(slots)
    where = join(found, [_has_or(slots, one.start) for one in found])
    _sides(slots, subject)
    if len(subject.coins) > 1:
        slots.used |= set(slots.free(lambda chunk: chunk.as_("compare") == "between"))
    operation, extra = _operation(slots, subject, where, found)
    measures = _measures(slots, operation)
    times = slots.free(lambda chunk: chunk.kind == "time")
    measures, time = _timed(slots, measures, times, operation)
    if extra is not None:
        where = (
            extra
            if where is None
            else join([Found(where, frozenset(), 0, 0), Found(extra, frozenset(), 0, 0)], [False, False])
        )
    if isinstance(operation, Record):
        where = None
    queries = _compose(slots, subject, measures, time, where, operation)
    return [*queries, *_opposite(slots, queries), *_other_times(slots, queries)]


def _other_times(slots: Slots, queries: Sequence[Query]) -> list[Query]:
    """The same at other times: "price 7 days ago vs today", "last week, last month, today"."""
    rest = slots.free(lambda chunk: chunk.kind == "time")
    now = [at for at, words in enumerate(slots.words) if words in {"now", "right now", "currently"}]
    if (
        len(queries) != 1
        or not isinstance(queries[0].operation, Value | Check | Compare)
        or isinstance(queries[0].time, Now)
    ):
        return []
    if not rest and not (now and slots.asks("compare")):
        return []
    slots.used |= set(rest)
    _take_asks(slots, "compare")
    times: list[Time] = [
        Now() if getattr(slots.chunks[at].value, "words", "") == "today" else slots.chunks[at].value for at in rest
    ]
    return [structs.replace(queries[0], time=time) for time in times or [Now()]]


def _opposite(slots: Slots, queries: Sequence[Query]) -> list[Query]:
    """The same from the other end: "the best and the worst", "biggest movers"."""
    if len(queries) != 1 or not isinstance(queries[0].operation, Rank | Extreme | Compare):
        return []
    operation = queries[0].operation
    rest = slots.free(lambda chunk: chunk.has("super"))
    if not rest and not slots.both:
        return []
    if rest:
        value: Super = slots.chunks[rest[0]].as_("super")
        if isinstance(operation, Rank | Compare) and value.direction == operation.direction:
            return []
        slots.used.add(rest[0])
    if isinstance(operation, Extreme):
        return [structs.replace(queries[0], operation=Extreme("min" if operation.which == "max" else "max"))]
    turned = "least" if operation.direction == "most" else "most"
    return [structs.replace(queries[0], operation=structs.replace(operation, direction=turned))]


def _against(slots: Slots) -> None:
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
    if not names or not many or len(coins) != len({at for at in coins}) or not coins:
        return
    for at in coins:
        before = slots.words[at - 1].split()[-1] if at else ""
        if before in {"to", "with", "against", "versus", "follow", "than"} and len(slots.chunks[at].value) == 1:
            other = slots.chunks[at].value[0]
            slots.used.add(at)
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


def _sides(slots: Slots, subject: Subject) -> None:
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


def _conditions(slots: Slots) -> list[Found]:
    found = Scanner(slots.chunks, slots.words).all()
    named = any(chunk.kind in {"coin", "asset"} for chunk in slots.chunks)
    several = any(chunk.kind in {"set", "category"} for chunk in slots.chunks)
    opposite = len(found) > 1 and any(_has_or(slots, one.start) for one in found[1:]) and named and not several
    if opposite and slots.words and _alternatives([one.condition for one in found]):
        measures = [test for one in found if (test := _test_of(one.condition)) is not None]
        measure = next((test for test in measures if test.measure.over is not None), measures[0] if measures else None)
        frames = slots.free(lambda chunk: chunk.kind == "frame" and chunk.value in {"daily", "weekly"})
        if measure is not None and measure.measure.name == "change" and frames:
            slots.used.add(frames[0])
            trend = Measure("trend", frame=slots.chunks[frames[0]].value)
            measure = structs.replace(measure, measure=trend)
        if measure is not None:
            # "Bullish or bearish", "up or down": the value is asked for.
            taken = {at for one in found for at in one.used}
            slots.used |= taken
            slots.chunks = [
                structs.replace(chunk, kind="measure", value=measure.measure, words=())
                if at == found[0].start
                else chunk
                for at, chunk in enumerate(slots.chunks)
            ]
            slots.used.discard(found[0].start)
            return []
    if (
        named
        and not several
        and found
        and not _is_question(slots)
        and not slots.asks("count", "share", "when", "since")
    ):
        # "How much is SOL up this week": a value, no condition.
        kept = []
        for one in found:
            test = one.condition
            if (
                isinstance(test, Test)
                and test.measure.name == "change"
                and test.value == 0.0
                and slots.asks("list", "why")
            ):
                slots.chunks = [
                    structs.replace(chunk, kind="measure", value=test.measure, words=()) if at == one.start else chunk
                    for at, chunk in enumerate(slots.chunks)
                ]
                slots.used |= one.used - {one.start}
            else:
                kept.append(one)
        return kept
    return found


def _alternatives(conditions: Sequence[Condition]) -> bool:
    tests = [_test_of(condition) for condition in conditions]
    return all(test is not None for test in tests) and len({test.measure.name for test in tests if test}) == 1


def _test_of(condition: Condition) -> Test | None:
    """The one test of a condition; None of several."""
    if isinstance(condition, Not):
        return _test_of(condition.item)
    return condition if isinstance(condition, Test) else None


def _has_or(slots: Slots, at: int) -> bool:
    """Whether "or" stands before a chunk, with at most fillers between."""
    before = at - 1
    while before >= 0 and slots.kind(before) == "filler":
        before -= 1
    if before >= 0 and slots.kind(before) == "or":
        slots.used.add(before)
        return True
    return False


def _is_question(slots: Slots) -> bool:
    """Whether a clause asks for yes or no: it begins with an auxiliary verb."""
    for at, words in enumerate(slots.words):
        first = words.split()[0] if words else ""
        if first in _AUX:
            return True
        if slots.kind(at) not in {"filler", "and", "time"}:
            return False
    return False


def _operation(
    slots: Slots, subject: Subject, where: Condition | None, found: Sequence[Found]
) -> tuple[Operation, Condition | None]:
    """What is done, and a condition that a superlative among a set adds."""
    named = subject.scope == "market" or (
        subject.scope in {"coins", "assets"} and bool(subject.coins or subject.assets)
    )
    superlatives = [at for at in slots.free(lambda chunk: chunk.has("super"))]
    for kind, make in (("why", Why),):
        if slots.asks(kind):
            _take_asks(slots, kind)
            return make(), None
    if slots.asks("record"):
        _take_asks(slots, "record", "any", "list")
        _take(slots, "measure")
        tests = [
            test for one in found if (test := _test_of(one.condition)) is not None and test.measure.name == "verdict"
        ]
        return Record("verdicts", str(tests[0].value) if tests else None), None
    for kind, side in (("buy", "long"), ("short", "short")):
        if slots.asks(kind) and not superlatives and where is None:
            _take_asks(slots, kind)
            _take(slots, "side")
            return Screen(side), None
    if slots.asks("count") and not named:
        _take_asks(slots, "count")
        return Count(), None
    if slots.asks("share") and where is not None:
        _take_asks(slots, "share")
        return Share(), None
    if slots.asks("since") and named:
        _take_asks(slots, "since")
        return When("since"), None
    if (
        slots.asks("when")
        and named
        and not superlatives
        and any(
            (measure := chunk.as_("measure")) is not None and measure.name in {"high", "low"} for chunk in slots.chunks
        )
    ):
        _take_asks(slots, "when")
        low = any((m := chunk.as_("measure")) is not None and m.name == "low" for chunk in slots.chunks)
        return Extreme("min" if low else "max"), None
    if slots.asks("when") and where is not None and named and not superlatives:
        _take_asks(slots, "when")
        return When("last"), None
    if where is not None and not named and slots.asks("any") and slots.words[0].startswith("any"):
        _take_asks(slots, "any")
        return Exists("any"), None
    if where is not None and not named:
        for quantifier in ("any", "all", "none"):
            if slots.asks(quantifier) and (quantifier != "any" or _is_question(slots)):
                _take_asks(slots, quantifier)
                if quantifier != "all" or _is_question(slots):
                    return Exists(quantifier), None
    if superlatives:
        return _superlative(slots, subject, superlatives, named=named), None
    if slots.asks("mean") and (named or subject.scope == "market"):
        _take_asks(slots, "mean")
        slots.chunks = [
            structs.replace(chunk, kind="measure", value=structs.replace(measure, mean=True), words=())
            if at not in slots.used and (measure := chunk.as_("measure")) is not None
            else chunk
            for at, chunk in enumerate(slots.chunks)
        ]
    for how in ("mean", "median", "sum"):
        if slots.asks(how) and not named and subject.scope != "market":
            _take_asks(slots, how)
            return Aggregate(how), None
    if slots.asks("rank") and named and len(subject.coins) == 1 and slots.first("measure") is not None:
        _take_asks(slots, "position", "rank", "list")
        return Position(), None
    if slots.asks("position") and named and slots.first("measure") is not None and _rank_word(slots):
        _take_asks(slots, "position", "rank", "list")
        return Position(), None
    if slots.asks("rank") and named and len(subject.coins) > 1:
        _take_asks(slots, "rank", "list")
        return Compare("most"), None
    if slots.asks("rank") and not named:
        _take_asks(slots, "rank")
        return Rank("most", _limit(slots, _SUPERLATIVE_PLURAL * 2)), None
    if slots.asks("ratio") and named and len(subject.coins) + len(subject.assets) == 2:
        _take_asks(slots, "ratio")
        return Ratio(), None
    if slots.asks("compare") and len(subject.coins) + len(subject.assets) > 1:
        _take_asks(slots, "compare")
        return Compare(), None
    if where is not None:
        if named:
            return Check(), None
        limit = _limit(slots, None)
        return List(limit), None
    if not named and subject.scope in {"all", "category"} and slots.asks("list") and slots.first("measure") is None:
        return List(_limit(slots, None)), None
    return Value(), None


def _rank_word(slots: Slots) -> bool:
    return any(
        word in {"rank", "ranked", "place", "position", "ranking"} for words in slots.words for word in words.split()
    )


def _superlative(slots: Slots, subject: Subject, superlatives: Sequence[int], *, named: bool) -> Operation:
    first = superlatives[0]
    value: Super = slots.chunks[first].as_("super")
    slots.used.add(first)
    slots.both = value.both
    signs = slots.free(lambda chunk: chunk.has("sign"))
    if signs:
        # "Most negative" is the least.
        slots.used.add(signs[0])
        if slots.chunks[signs[0]].as_("sign") < 0:
            value = structs.replace(value, direction="least" if value.direction == "most" else "most")
    after = first + 1
    while slots.kind(after) in {"filler", "number"}:
        after += 1
    direction = slots.chunks[after].as_("direction") if after < len(slots.chunks) else None
    if value.measure is None and direction is not None and after not in slots.used:
        # "The greatest gain", "the largest fall".
        turned = value.direction if direction > 0 else ("least" if value.direction == "most" else "most")
        value = Super(turned, "change", value.plural)
        slots.used.add(after)
    for later in superlatives[1:]:
        other: Super = slots.chunks[later].as_("super")
        if (
            value.measure is None
            and later == first + 1 + sum(slots.kind(at) in {"number", "filler"} for at in range(first + 1, later))
            and other.measure is not None
        ):
            value = other
            slots.used.add(later)
        elif other.direction == value.direction:
            slots.used.add(later)
    days = slots.free(lambda chunk: chunk.kind == "word" and chunk.value.lower() in {"day", "days"})
    if named and days:
        slots.used.add(days[0])
        _imply(slots, first, "change")
    if named and len(subject.coins) + len(subject.assets) == 1:
        _take_asks(slots, "when")
        if value.measure is not None:
            slots.used |= set(slots.free(lambda chunk: (m := chunk.as_("measure")) is not None and m.name == "price"))
            _imply(slots, first, value.measure)
        return Extreme("max" if value.direction == "most" else "min")
    if named:
        if value.measure is not None:
            _imply(slots, first, value.measure)
        _take_asks(slots, "compare", "list")
        _take(slots, "or")
        return Compare(value.direction)
    if value.measure is not None:
        _imply(slots, first, value.measure)
    plural = value.plural or any(
        slots.kind(at) in {"set", "category"} and slots.words[at].endswith("s") for at in range(len(slots.chunks))
    )
    singular = any(
        words in {"which coin", "what coin", "the coin", "which one", "coin", "token", "which token"}
        for words in slots.words
    )
    default = 1 if singular and not value.plural else _SUPERLATIVE_PLURAL if plural else 1
    limit = _limit(slots, default) or default
    _take_asks(slots, "rank", "list")
    return Rank(value.direction, min(limit, _MOST_ROWS))


def _imply(slots: Slots, at: int, name: str) -> None:
    """Let a superlative stand for its measure, unless one is named."""
    if not slots.free(
        lambda chunk: (
            chunk.has("measure") and (m := chunk.as_("measure") or chunk.value).name != "trend" and m is not None
        )
    ):
        slots.chunks = [
            structs.replace(chunk, kind="measure", value=Measure(name), words=()) if place == at else chunk
            for place, chunk in enumerate(slots.chunks)
        ]
        slots.used.discard(at)


def _limit(slots: Slots, default: int | None) -> int | None:
    """A plain number: how many are wanted."""
    for at in slots.free(lambda chunk: chunk.kind == "number" and chunk.value.unit is None and not chunk.value.scaled):
        if (
            at
            and slots.words[at - 1] in {"the", "all", "both", "those", "these"}
            and not slots.words[at][:1].isdigit()
            and default is None
        ):
            slots.used.add(at)
            continue
        value = slots.chunks[at].value.value
        if value == int(value) and 1 <= value <= 1_000:
            slots.used.add(at)
            return int(value)
    return default


def _measures(slots: Slots, operation: Operation) -> tuple[tuple[int, Measure], ...]:
    """The measures named, with their places; frames beside a trend are taken."""
    del operation
    found: list[tuple[int, Measure]] = []
    for at, chunk in enumerate(slots.chunks):
        if at in slots.used:
            continue
        measure = chunk.value if chunk.kind == "measure" and not chunk.words else chunk.as_("measure")
        following = slots.kind(at + 1)
        if (
            slots.words[at] == "at"
            and at
            and slots.kind(at - 1) in {"coin", "asset"}
            and following in {"", "and", "or"}
        ):
            measure = Measure("price")
        if measure is None:
            continue
        slots.used.add(at)
        for beside in (at - 1, at + 1):
            timed = measure.name in {"high", "low"} and any(other.kind == "time" for other in slots.chunks)
            if slots.kind(beside) == "frame" and beside not in slots.used and not timed:
                measure, taken = qualify(measure, slots.chunks[beside])
                if taken:
                    slots.used.add(beside)
        found.append((at, measure))
    return tuple(found)


def _timed(
    slots: Slots, measures: Sequence[tuple[int, Measure]], times: Sequence[int], operation: Operation
) -> tuple[tuple[Measure, ...], Time]:
    """Give each time to the measure it stands beside; the rest is the query's."""
    left = list(times)
    done: list[Measure] = []
    for place, (at, measure) in enumerate(measures):
        windowed = measure.name in WINDOWED
        spans = [time for time in left if span_of(slots.chunks[time].value) is not None]
        if windowed and measure.over is None and spans and not isinstance(operation, Extreme | When):
            following = measures[place + 1][0] if place + 1 < len(measures) else len(slots.chunks)
            chosen = next((time for time in spans if time == at - 1), None)
            chosen = chosen if chosen is not None else next((time for time in spans if at < time < following), None)
            chosen = chosen if chosen is not None else spans[0]
            over = span_of(slots.chunks[chosen].value)
            done.append(structs.replace(measure, over=over))
            slots.used.add(chosen)
            if len(spans) > 1 or place + 1 == len(measures):
                left.remove(chosen)
        else:
            done.append(measure)
    left = [time for time in left if time not in slots.used]
    if done and done[-1].name in WINDOWED and done[-1].over is not None:
        # "24h, 7d and 30d change": one measure for each window.
        for time in list(left):
            span = span_of(slots.chunks[time].value)
            if span is not None and isinstance(slots.chunks[time].value, Window | Between):
                done.append(structs.replace(done[-1], over=span))
                slots.used.add(time)
                left.remove(time)
    time = _one_time(slots, left)
    return _filled(done, time), time


def _filled(measures: Sequence[Measure], time: Time) -> tuple[Measure, ...]:
    """Measures in the query's span: of the price the change over it, of funding its mean."""
    filled: list[Measure] = []
    for measure in measures:
        if measure.name == "funding" and measure.over is None and isinstance(time, Window | Between):
            filled.append(structs.replace(measure, over=time, mean=True))
        else:
            filled.append(measure)
    return tuple(dict.fromkeys(filled))


def _one_time(slots: Slots, times: Sequence[int]) -> Time:
    """The one time left; a second one stays unread."""
    if not times:
        return Now()
    slots.used.add(times[0])
    time: Time = slots.chunks[times[0]].value
    return time


def _take(slots: Slots, *kinds: str) -> None:
    slots.used |= {
        at
        for at in range(len(slots.chunks))
        if at not in slots.used and any(slots.chunks[at].has(kind) for kind in kinds)
    }


def _take_asks(slots: Slots, *values: str) -> None:
    slots.used |= set(slots.asks(*values))


def _compose(
    slots: Slots,
    subject: Subject,
    measures: tuple[Measure, ...],
    time: Time,
    where: Condition | None,
    operation: Operation,
) -> list[Query]:
    """Put the slots together; a subject that nothing is asked about is described."""
    _take_asks(slots, "list", "overview", "compare", "rank", "any", "all")
    _take(slots, "set", "among", "and", "or")
    if isinstance(operation, Extreme):
        measures = _extreme_measures(measures)
    correlated = [place for place, measure in enumerate(measures) if measure.name in {"correlation", "strength"}]
    if correlated and len(subject.coins) > 1:
        other = BITCOIN if BITCOIN in subject.coins and len(subject.coins) == 2 else subject.coins[-1]
        measures = tuple(
            structs.replace(measure, other=other) if place in correlated else measure
            for place, measure in enumerate(measures)
        )
        subject = structs.replace(subject, coins=tuple(coin for coin in subject.coins if coin != other))
        operation = Value() if isinstance(operation, Compare) and operation.direction is None else operation
    if subject.scope == "coins" and not subject.coins and not subject.assets:
        if any(measure.name in {"fear_greed", "breadth", "market_regime"} for measure in measures):
            subject = structs.replace(subject, scope="market")
        elif where is not None or isinstance(
            operation, Rank | Count | Share | Exists | List | Aggregate | Screen | Record
        ):
            subject = structs.replace(subject, scope="all")
        elif measures and {measure.name for measure in measures} <= {"regime", "trend", "sentiment"}:
            subject = structs.replace(subject, scope="market")
        else:
            return []
    if subject.scope == "market" and isinstance(where, Test) and where.measure.name == "regime":
        where = structs.replace(where, measure=Measure("market_regime"))
    if any(measure.name == "drawdown" for measure in measures) or (
        _far(slots) and any(m.name == "high" for m in measures)
    ):
        measures = tuple(
            structs.replace(measure, name="drawdown") for measure in measures if measure.name != "high" or _far(slots)
        )[:1]
    if subject.scope == "market":
        measures = tuple(structs.replace(m, name="market_regime") if m.name == "regime" else m for m in measures)
    if isinstance(operation, Value) and subject.scope == "all" and measures:
        operation = Rank("most", 10)
    if (
        subject.scope == "category"
        and isinstance(operation, Value)
        and measures
        and measures[0].name not in {"sentiment"}
    ):
        operation = Rank("most", 10)
    span = time if isinstance(time, Window | Between) else None
    if (
        isinstance(operation, Value | Compare)
        and not measures
        and span is not None
        and (subject.coins or subject.assets)
    ):
        measures, time = (Measure("change", over=span),), Now()
    if (
        isinstance(operation, Rank)
        and not measures
        and (test := _test_of(where) if where is not None else None) is not None
    ):
        measures = (test.measure,)
    if isinstance(operation, Rank) and not measures:
        measures = (Measure("change"),)
    if (
        isinstance(operation, Rank)
        and isinstance(time, Window | Between)
        and measures[0].name in WINDOWED | {"funding"}
    ):
        measures = (structs.replace(measures[0], over=time, mean=measures[0].name == "funding"), *measures[1:])
        time = Now()
    if isinstance(operation, Rank) and isinstance(time, Window | Between) and measures[0].name == "price":
        measures, time = (Measure("change", over=time),), Now()
    if isinstance(operation, Value) and len(measures) == 1 and measures[0].name == "change" and isinstance(time, At):
        over = span_of(time)
        measures, time = (structs.replace(measures[0], over=over),), Now()
    query = Query(subject=subject, measures=measures, time=time, where=where, operation=operation)
    if (
        isinstance(operation, Compare)
        and operation.direction
        and len(subject.coins) == 2
        and not subject.assets
        and len(measures) == 1
        and _is_question(slots)
    ):  # noqa: PLR2004
        # "Did ETH outperform BTC?" asks for yes or no.
        first, second = subject.coins
        test = Test(measures[0], "gt" if operation.direction == "most" else "lt", coin=second)
        return [Query(subject=structs.replace(subject, coins=(first,)), time=time, where=test, operation=Check())]
    if isinstance(operation, Count | Share) and (parts := _contradicting(where)):
        return [structs.replace(query, where=part) for part in parts]
    if subject.coins and subject.assets:
        coins = structs.replace(query, subject=structs.replace(subject, assets=()))
        return [coins, structs.replace(query, subject=structs.replace(subject, scope="assets", coins=()))]
    return [query]


def _contradicting(where: Condition | None) -> tuple[Condition, ...]:
    """Tests that cannot hold together, to be counted one by one: "how many gained and how many lost"."""
    if not isinstance(where, All):
        return ()
    tests = [test for item in where.items if (test := _test_of(item)) is not None]
    if (
        len(tests) != len(where.items)
        or len({test.measure.name for test in tests}) != 1
        or tests[0].measure.name in {"price"}
    ):
        return ()
    if all(test.op == "eq" and test.measure.frame == tests[0].measure.frame for test in tests) and len(
        {test.value for test in tests}
    ) == len(tests):
        return where.items
    opposite = {("gt", "lt"), ("lt", "gt")}
    if len(tests) == 2 and (tests[0].op, tests[1].op) in opposite and tests[0].value == tests[1].value == 0.0:  # noqa: PLR2004
        over = tests[0].measure.over or tests[1].measure.over
        return tuple(structs.replace(test, measure=structs.replace(test.measure, over=over)) for test in tests)
    return ()


def _far(slots: Slots) -> bool:
    return any(words.startswith("how far") for words in slots.words)


def _extreme_measures(measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    return measures or (Measure("price"),)
