"""Composes typed queries, writes them as questions in many ways, and compares what the parser reads with them.

Run it: `python -m tests.ask.composed [COUNT [SEED]]` prints how many of each kind come back as they were composed.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from fixtures.coins import CATEGORIES, COINS
from service.ask.glossary import TERMS
from service.ask.parser.parse import Names, Parser
from service.ask.query import (
    Aggregate,
    All,
    Any_,
    At,
    Between,
    Changed,
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
    Position,
    Profit,
    Query,
    Rank,
    Ratio,
    Share,
    Span,
    Subject,
    Test,
    Time,
    Value,
    ValueOf,
    When,
    Window,
)
from service.clock import DAY_MS, iso
from tests.ask.universe import known

NOW_MS: Final = 1_795_433_358_000
TODAY_MS: Final = NOW_MS // DAY_MS * DAY_MS

_COINS: Final = {
    "BTC": ("BTC", "btc", "bitcoin", "Bitcoin", "$BTC"),
    "ETH": ("ETH", "eth", "ether", "Ethereum"),
    "SOL": ("SOL", "sol", "solana", "$SOL"),
    "DOGE": ("DOGE", "doge", "dogecoin"),
    "XRP": ("XRP", "xrp", "ripple"),
    "AVAX": ("AVAX", "avax", "avalanche"),
    "LINK": ("LINK", "chainlink", "$LINK"),
    "AAVE": ("AAVE", "aave"),
    "HYPE": ("HYPE", "hyperliquid", "$HYPE"),
    "UNI": ("UNI", "uniswap"),
    "SUI": ("SUI", "sui", "$SUI"),
    "WIF": ("WIF", "wif", "dogwifhat"),
    "LTC": ("LTC", "litecoin"),
    "TIA": ("TIA", "celestia"),
}
_SETS: Final[Sequence[tuple[Subject, tuple[str, ...]]]] = (
    (Subject(scope="all"), ("coins", "tokens", "cryptos", "all coins")),
    (Subject(scope="category", categories=("Meme",)), ("memes", "meme coins", "memecoins")),
    (Subject(scope="category", categories=("Layer 1 (L1)",)), ("L1s", "layer 1s", "layer 1 coins")),
    (Subject(scope="category", categories=("Layer 2 (L2)",)), ("L2s", "layer 2s", "layer 2 tokens")),
    (Subject(scope="category", categories=("Decentralized Finance (DeFi)",)), ("DeFi coins", "defi tokens")),
    (Subject(scope="category", categories=("Artificial Intelligence (AI)",)), ("AI coins", "AI tokens")),
    (Subject(scope="all", excluded=("BTC",)), ("alts", "altcoins", "coins except BTC", "coins without bitcoin")),
    (Subject(scope="all", excluded_categories=("Meme",)), ("coins that are not memes", "coins excluding memes")),
)
_PLAIN: Final = {
    "price": ("price", "current price"),
    "volume": ("volume", "24h volume", "trading volume"),
    "open_interest": ("open interest", "OI"),
    "market_cap": ("market cap", "mcap", "market capitalization"),
    "funding": ("funding", "funding rate"),
    "score": ("score", "verdict score"),
}
_STATES: Final = {
    "trend": ("trend",),
    "verdict": ("verdict",),
    "regime": ("regime",),
    "sentiment": ("sentiment", "mood"),
}
_WINDOWED: Final = {
    "change": ("change", "return", "performance"),
    "volatility": ("volatility", "realized volatility"),
    "high": ("high",),
    "low": ("low",),
}
_ADJECTIVES: Final = {
    Window(24, "h", "24 hours"): ("24h", "24 hour"),
    Window(7, "d", "7 days"): ("7d", "7 day", "7-day"),
    Window(30, "d", "30 days"): ("30d", "30 day", "30-day"),
    Window(90, "d", "90 days"): ("90d", "90 day"),
    Window(3, "h", "3 hours"): ("3 hour", "3h"),
}
_SPANS: Final[dict[Span, tuple[str, ...]]] = {
    Window(24, "h", "24 hours"): ("over the last 24 hours", "in the past 24h"),
    Window(7, "d", "7 days"): ("over the last 7 days", "in the past week", "over 7 days", "over the last week"),
    Window(30, "d", "30 days"): (
        "over the last 30 days",
        "in the past month",
        "over 30 days",
        "during the last 30 days",
    ),
    Window(90, "d", "90 days"): ("over the last 90 days", "in the past 90 days"),
    Between(TODAY_MS, None, "today"): ("today",),
    Between(1_793_491_200_000, None, "this month"): ("this month", "month to date"),
    Between(1_767_225_600_000, None, "this year"): ("this year", "year to date", "ytd"),
}
_TIMES: Final[dict[Time, tuple[str, ...]]] = {
    At(TODAY_MS - DAY_MS, whole_day=True, words="yesterday"): ("yesterday",),
    At(TODAY_MS - 7 * DAY_MS, whole_day=True, words="7 days ago"): ("a week ago", "7 days ago"),
    At(TODAY_MS - 30 * DAY_MS, whole_day=True, words="30 days ago"): ("30 days ago", "a month ago"),
    At(1_791_158_400_000, whole_day=True, words="2026-10-05"): (
        "on October 5",
        "on 2026-10-05",
        "on the 5th of October",
    ),
}
_CHATTER: Final = ("", "", "", "please ", "hey, ", "pls ", "can you tell me ", "I want to know ", "quick question: ")
_TAILS: Final = ("", "", "", " please", " right now", " thanks", " pls")

Composed = tuple[str, str, Query]
"""The kind, the question, and the query it was written from."""


def _coin(dice: random.Random) -> tuple[str, str]:
    key = dice.choice(sorted(_COINS))
    return key, dice.choice(_COINS[key])


def _measure(dice: random.Random) -> tuple[Measure, str]:
    """A measure and words that stand before or without a name."""
    kind = dice.randrange(3)
    if kind == 0:
        name = dice.choice(sorted(_WINDOWED))
        span = dice.choice(list(_ADJECTIVES))
        return Measure(name, over=span), f"{dice.choice(_ADJECTIVES[span])} {dice.choice(_WINDOWED[name])}"
    table = _PLAIN if kind == 1 else _STATES
    name = dice.choice(sorted(table))
    return Measure(name), dice.choice(table[name])


def _number(dice: random.Random) -> tuple[Measure, str]:
    """A measure whose values are numbers."""
    while True:
        measure, words = _measure(dice)
        if measure.name not in _STATES:
            return measure, words


def _threshold(dice: random.Random, measure: Measure) -> tuple[float, str]:
    if measure.name in {"change", "funding", "volatility"}:
        value = dice.choice((5, 10, 20, 50))
        return float(value), f"{value}{dice.choice(('%', ' %', ' percent'))}"
    if measure.name in {"volume", "open_interest", "market_cap"}:
        value, words = dice.choice(((1e9, "1 billion"), (5e7, "$50m"), (1e8, "100 million"), (2e9, "$2b")))
        return value, words
    if measure.name == "score":
        return 1.0, "1"
    value = dice.choice((1, 10, 100))
    return float(value), f"${value}"


def _condition(dice: random.Random) -> tuple[Condition, str, str]:
    """A condition, and how it is said after "with" or "have", and after "are" or "is"; one of both may be empty."""
    match dice.randrange(5):
        case 0:
            measure, words = _number(dice)
            value, said = _threshold(dice, measure)
            op, phrase = dice.choice(
                (("gt", "above"), ("gt", "over"), ("lt", "below"), ("lt", "under"), ("ge", "of at least"))
            )
            return Test(measure, op, value), f"{words} {phrase} {said}", ""  # type: ignore[arg-type]
        case 1:
            sign, op = dice.choice((("negative", "lt"), ("positive", "gt")))
            return Test(Measure("funding"), op, 0.0), f"{sign} funding", ""  # type: ignore[arg-type]
        case 2:
            frame = dice.choice((None, "daily", "weekly"))
            state, words = dice.choice((("UP", "uptrend"), ("DOWN", "downtrend")))
            named = f"{frame} {words}" if frame else words
            article = "an" if named[0] in "aeiou" else "a"
            return Test(Measure("trend", frame=frame), "eq", state), f"{article} {named}", f"in {article} {named}"  # type: ignore[arg-type]
        case 3:
            measure, op, value, words = dice.choice(
                (
                    ("verdict", "ge", "bull", "bullish"),
                    ("verdict", "le", "bear", "bearish"),
                    ("regime", "eq", "risk-on", "risk-on"),
                    ("verdict", "eq", "strong-bull", "strong-bull"),
                )
            )
            return Test(Measure(measure), op, value), "", words  # type: ignore[arg-type]
        case _:
            span = dice.choice([one for one in _SPANS])
            up = dice.random() < 0.5
            if dice.random() < 0.5:
                return (
                    Test(Measure("change", over=span), "gt" if up else "lt", 0.0),
                    "",
                    f"{'up' if up else 'down'} {dice.choice(_SPANS[span])}",
                )
            value = dice.choice((5.0, 10.0))
            test = Test(Measure("change", over=span), "gt" if up else "lt", value if up else -value)
            return test, "", f"{'up' if up else 'down'} more than {value:g}% {dice.choice(_SPANS[span])}"


def _where(dice: random.Random) -> tuple[Condition, str]:
    """One or two conditions behind a set: "with negative funding and in an uptrend"."""
    items, said = [], []
    for _ in range(dice.choice((1, 1, 2, 2))):
        condition, having, being = _condition(dice)
        if any(_name(condition) == _name(other) for other in items):
            continue
        negated = being and not having and dice.random() < 0.2
        if having and (not being or dice.random() < 0.5):
            said.append(
                f"{'with' if not said else 'and'} {having}"
                if not said or said[0].startswith("with")
                else f"with {having}"
            )
        else:
            said.append(f"{'that are' if not said else 'and that are'} {'not ' if negated else ''}{being}")
        items.append(Not(condition) if negated else condition)
    return (items[0] if len(items) == 1 else All(tuple(items))), " ".join(said)


def _name(condition: Condition) -> str:
    return _name(condition.item) if isinstance(condition, Not) else condition.measure.name  # type: ignore[union-attr]


def _value(dice: random.Random) -> Composed:
    measures, words = zip(*(_measure(dice) for _ in range(dice.choice((1, 1, 1, 2, 3)))), strict=True)
    coins, names = zip(*(_coin(dice) for _ in range(dice.choice((1, 1, 1, 2)))), strict=True)
    said, named = _joined(dice, words), _joined(dice, names)
    single = names[0] if len(names) == 1 else None
    forms = [
        f"{said} of {named}",
        f"what is the {said} of {named}?",
        f"{said} for {named}",
        f"{named} {said}",
        f"show me the {said} of {named}",
    ]
    if single:
        forms += [f"what's {single}'s {said}?", f"whats the {said} on {single}"]
    query = Query(subject=Subject(coins=_unique(coins)), measures=_with_score(_unique(measures)))
    if len(query.measures) == len(query.subject.coins) == 1 and query.measures[0].name in {"high", "low"}:
        extreme = Extreme("max" if query.measures[0].name == "high" else "min")
        name, over = query.measures[0].name, query.measures[0].over
        query = Query(subject=query.subject, measures=(Measure(name),), time=over or Now(), operation=extreme)
    return "value", dice.choice(forms), query


def _past(dice: random.Random) -> Composed:
    name = dice.choice(("price", "market_cap", "trend", "verdict"))
    words = dice.choice({**_PLAIN, **_STATES}[name])
    coin, named = _coin(dice)
    time = dice.choice(list(_TIMES))
    when = dice.choice(_TIMES[time])
    words = words.removeprefix("current ")
    forms = [
        f"{words} of {named} {when}",
        f"what was the {words} of {named} {when}?",
        f"what was {named}'s {words} {when}?",
        f"{named} {words} {when}",
    ]
    return (
        "past",
        dice.choice(forms),
        Query(subject=Subject(coins=(coin,)), measures=_with_score((Measure(name),)), time=time),
    )


def _change(dice: random.Random) -> Composed:
    coin, named = _coin(dice)
    span = dice.choice(list(_SPANS))
    when = dice.choice(_SPANS[span])
    forms = [
        f"how much did {named} move {when}?",
        f"{named} performance {when}",
        f"return of {named} {when}",
        f"how has {named} performed {when}?",
        f"how much is {named} up {when}?",
    ]
    return "change", dice.choice(forms), Query(subject=Subject(coins=(coin,)), measures=(Measure("change", over=span),))


def _rank(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS)
    named = dice.choice(words)
    measure, said = _number(dice)
    most = dice.random() < 0.6
    limit = dice.choice((1, 3, 5, 10))
    high = dice.choice(("highest", "most", "largest")) if most else dice.choice(("lowest", "least", "smallest"))
    top = "top" if most else "bottom"
    if limit == 1:
        forms = [f"which of the {named} has the {high} {said}?"]
    else:
        forms = [
            f"{top} {limit} {named} by {said}",
            f"which {limit} {named} have the {high} {said}?",
            f"the {limit} {named} with the {high} {said}",
            f"list the {limit} {named} with the {high} {said}",
        ]
    query = Query(subject=subject, measures=(measure,), operation=Rank("most" if most else "least", limit))
    return "rank", dice.choice(forms), query


def _movers(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS)
    named = dice.choice(words)
    span = dice.choice(list(_SPANS))
    when = dice.choice(_SPANS[span])
    most = dice.random() < 0.5
    limit = dice.choice((3, 5, 10))
    verb = "gained" if most else "lost"
    forms = [
        f"top {limit} {'gainers' if most else 'losers'} among {named} {when}",
        f"which {limit} {named} {verb} the most {when}?",
        f"{limit} {'best' if most else 'worst'} performing {named} {when}",
    ]
    query = Query(
        subject=subject, measures=(Measure("change", over=span),), operation=Rank("most" if most else "least", limit)
    )
    return "movers", dice.choice(forms), query


def _list(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS[:6])
    where, said = _where(dice)
    forms = [
        f"{dice.choice(words)} {said}",
        f"list {dice.choice(words)} {said}",
        f"show me all {dice.choice(words)} {said}".replace("all all", "all"),
        f"which {dice.choice(words)} are there {said}?".replace("are there that are", "are").replace(
            "are there with", "are there with"
        ),
    ]
    return "list", dice.choice(forms), Query(subject=subject, where=where, operation=List())


def _either(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS[:6])
    (one, _, first), (other, _, second) = (_being(dice) for _ in range(2))
    forms = [
        f"{dice.choice(words)} that are {first} or {second}",
        f"which {dice.choice(words)} are {first} or {second}?",
    ]
    return "either", dice.choice(forms), Query(subject=subject, where=Any_((one, other)), operation=List())


def _being(dice: random.Random) -> tuple[Condition, str, str]:
    while True:
        condition, having, being = _condition(dice)
        if being:
            return condition, having, being


def _count(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS[:6])
    named = dice.choice(words)
    where, said = _where(dice)
    if dice.random() < 0.6:
        said = said.removeprefix("with ").removeprefix("that are ") if False else said
        return (
            "count",
            dice.choice((f"how many {named} are there {said}?", f"number of {named} {said}")),
            Query(subject=subject, where=where, operation=Count()),
        )
    return (
        "share",
        f"what share of {named} are {said.removeprefix('that are ')}?",
        Query(subject=subject, where=where, operation=Share()),
    )


def _check(dice: random.Random) -> Composed:
    coin, named = _coin(dice)
    condition, having, being = _condition(dice)
    forms = [f"is {named} {being}?"] if being else [f"does {named} have {having}?"]
    return "check", dice.choice(forms), Query(subject=Subject(coins=(coin,)), where=condition, operation=Check())


def _exists(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS[:6])
    condition, _, being = _being(dice)
    quantifier = dice.choice(("any", "all"))
    return (
        "exists",
        f"are {quantifier} {dice.choice(words)} {being}?".replace("all all", "all"),
        Query(subject=subject, where=condition, operation=Exists(quantifier)),
    )  # type: ignore[arg-type]


def _compare(dice: random.Random) -> Composed:
    (one, first), (other, second) = _two(dice)
    subject = Subject(coins=(one, other))
    measure, said = _number(dice)
    high = dice.choice(("higher", "lower"))
    direction = "most" if high == "higher" else "least"
    if dice.random() < 0.4:
        return (
            "compare",
            dice.choice((f"compare {first} and {second}", f"{first} vs {second}")),
            Query(subject=subject, operation=Compare()),
        )
    return (
        "compare",
        f"which has the {high} {said}, {first} or {second}?",
        Query(subject=subject, measures=(measure,), operation=Compare(direction)),
    )  # type: ignore[arg-type]


def _two(dice: random.Random) -> tuple[tuple[str, str], tuple[str, str]]:
    one = _coin(dice)
    while (other := _coin(dice))[0] == one[0]:
        pass
    return one, other


def _against(dice: random.Random) -> Composed:
    (one, first), (other, second) = _two(dice)
    measure, said = _number(dice)
    op, phrase = dice.choice((("gt", "higher"), ("lt", "lower")))
    query = Query(subject=Subject(coins=(one,)), where=Test(measure, op, coin=other), operation=Check())  # type: ignore[arg-type]
    return "against", f"is {first}'s {said} {phrase} than {second}'s?", query


def _position(dice: random.Random) -> Composed:
    coin, named = _coin(dice)
    measure, said = _number(dice)
    return (
        "position",
        dice.choice((f"where does {named} rank by {said}?", f"what is {named}'s rank by {said}?")),
        Query(subject=Subject(coins=(coin,)), measures=(measure,), operation=Position()),
    )


def _aggregate(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS[:6])
    measure, said = _number(dice)
    how, phrase = dice.choice((("mean", "average"), ("median", "median"), ("sum", "total")))
    return (
        "aggregate",
        dice.choice(
            (f"{phrase} {said} of {dice.choice(words)}", f"what is the {phrase} {said} of {dice.choice(words)}?")
        ),
        Query(subject=subject, measures=(measure,), operation=Aggregate(how)),
    )  # type: ignore[arg-type]


def _changed(dice: random.Random) -> Composed:
    subject, words = dice.choice(_SETS[:6])
    span = dice.choice([one for one in _SPANS if one.words != "today"])
    state, said = dice.choice((("UP", "an uptrend"), ("DOWN", "a downtrend")))
    return (
        "changed",
        f"which {dice.choice(words)} flipped to {said} {dice.choice(_SPANS[span])}?",
        Query(subject=subject, where=Changed(Measure("trend"), state, span), operation=List()),
    )


def _since(dice: random.Random) -> Composed:
    coin, named = _coin(dice)
    state, said = dice.choice((("UP", "an uptrend"), ("DOWN", "a downtrend")))
    query = Query(subject=Subject(coins=(coin,)), where=Test(Measure("trend"), "eq", state), operation=When("since"))
    return "since", dice.choice((f"since when is {named} in {said}?", f"how long has {named} been in {said}?")), query


def _money(dice: random.Random) -> Composed:
    (one, first), (other, second) = _two(dice)
    amount, more = dice.choice((2, 10, 1.5)), dice.choice((3, 100))
    match dice.randrange(4):
        case 0:
            holdings = (Holding(float(amount), one), Holding(float(more), other))
            return (
                "holdings",
                f"I have {amount} {first} and {more} {second}, what is it worth?",
                Query(subject=Subject(coins=(one, other)), operation=ValueOf(holdings)),
            )
        case 1:
            return (
                "convert",
                f"convert {amount} {first} to {second}",
                Query(subject=Subject(coins=(one, other)), operation=Convert(Holding(float(amount), one), (other,))),
            )
        case 2:
            price = dice.choice((20, 150, 3200))
            return (
                "profit",
                f"I bought {amount} {first} at ${price}, what is my profit?",
                Query(subject=Subject(coins=(one,)), operation=Profit(Holding(float(amount), one), float(price))),
            )
        case _:
            return (
                "ratio",
                f"ratio of {first} to {second}",
                Query(subject=Subject(coins=(one, other)), operation=Ratio()),
            )


def _with_score(measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """A verdict is told with its score."""
    if Measure("verdict") not in measures:
        return measures
    at = measures.index(Measure("verdict")) + 1
    return (*measures[:at], Measure("score"), *(one for one in measures[at:] if one.name != "score"))


def _unique(items: Sequence[str] | Sequence[Measure]) -> tuple:  # type: ignore[type-arg]
    return tuple(dict.fromkeys(items))


def _joined(dice: random.Random, words: Sequence[str]) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {dice.choice(('and', '&'))} {words[-1]}"


KINDS: Final[Sequence[Callable[[random.Random], Composed]]] = (
    _value, _value, _past, _change, _rank, _rank, _movers, _list, _list, _either, _count, _count, _check, _check, _exists,
    _compare, _against, _position, _aggregate, _changed, _since, _money,
)  # fmt: skip


def compose(dice: random.Random) -> Composed:
    """One question, its kind and its query."""
    kind, text, query = dice.choice(KINDS)(dice)
    opening, tail = dice.choice(_CHATTER), dice.choice(_TAILS)
    if opening and text[:2] not in {"I "}:
        text = f"{opening}{text[0].lower() if opening.endswith(' ') and text[1:2].islower() else text[0]}{text[1:]}"
    if not text.endswith("?"):
        text += tail
    return kind, text.lower() if dice.random() < 0.15 and "$" not in text else text, query


def parser() -> Parser:
    """A parser of the bundled coins."""
    terms: dict[str, str] = {}
    for key, term in TERMS.items():
        for name in (key.replace("-", " "), term.title.lower(), *term.synonyms):
            terms.setdefault(name, key)
    return Parser(Names(known(), {}, {}, terms))


def main() -> None:
    """Compose, parse and compare."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    dice = random.Random(sys.argv[2] if len(sys.argv) > 2 else "composed")  # noqa: S311 - a replayable choice
    reader, right, all_ = parser(), Counter[str](), Counter[str]()
    refused: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for _ in range(count):
        kind, text, query = compose(dice)
        understood = reader.read([text], NOW_MS)
        all_[kind] += 1
        if understood.queries == (query,) and not understood.ignored:
            right[kind] += 1
        else:
            refused[kind] += understood.refusal is not None
            shown[kind] += 1
            if shown[kind] <= 4:
                print(
                    f"{kind}: {text}\n   composed {query}\n   read     {understood.refusal or understood.queries} {understood.ignored}\n"
                )
    for kind in sorted(all_):
        print(f"{kind:12} {right[kind]:5} of {all_[kind]:5}, refused {refused[kind]}")
    print(f"all          {sum(right.values()):5} of {sum(all_.values()):5}, refused {sum(refused.values())}")


assert iso and CATEGORIES and COINS and Now and Value and When
if __name__ == "__main__":
    main()
