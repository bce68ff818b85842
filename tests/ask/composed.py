"""Composes typed queries, writes them as questions in many ways, and compares what the parser reads with them.

`python -m tests.ask.composed [COUNT [SEED]]` prints how many of each kind come back as they were composed.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from service.ask.describe import describe
from service.ask.query import (
    Aggregate,
    Any_,
    Changed,
    Check,
    Compare,
    Convert,
    Count,
    Direction,
    Exists,
    Extreme,
    Holding,
    List,
    Measure,
    Now,
    Operation,
    Portfolio,
    Position,
    Profit,
    Query,
    Rank,
    Ratio,
    Share,
    Subject,
    Test,
    ValueOf,
    When,
)
from service.ask.understanding import Understanding
from tests.ask.universe import parser
from tests.ask.wordings import (
    NARROWED,
    NOW_MS,
    PLAIN,
    SETS,
    SPANS,
    STATES,
    TIMES,
    Dice,
    being,
    coin,
    condition,
    measured,
    number,
    pair,
    span,
    where,
)

_OPENINGS: Final = (
    *[""] * 5, "please ", "hey, ", "pls ", "can you tell me ", "I want to know ", "quick question: ", "yo, ", "hi! ",
    "just tell me ",
)  # fmt: skip
_ENDINGS: Final = (*[""] * 4, " please", " right now", " thanks", " pls", " thx", " rn", "!", " ...")
_MARKS: Final = ("?", "?", "?", "", "??", " ?")


class Composed(NamedTuple):
    """A question, its kind, and the query that it was written from."""

    kind: str
    text: str
    query: Query


class Read(NamedTuple):
    """A composed question and what the parser understood."""

    composed: Composed
    understood: Understanding

    @property
    def right(self) -> bool:
        """Whether it came back as it was composed, and no word was left over."""
        return self.understood.queries == (self.composed.query,) and not self.understood.ignored


def _of(
    kind: str, dice: Dice, forms: Sequence[str], subject: Subject, operation: Operation, *measures: Measure
) -> Composed:
    return Composed(kind, dice.choice(forms), Query(subject=subject, measures=measures, operation=operation))


def _value(dice: Dice) -> Composed:
    asked = [measured(dice) for _ in range(dice.choice((1, 1, 1, 2, 3)))]
    coins = [coin(dice) for _ in range(dice.choice((1, 1, 1, 2)))]
    said, named = _joined(dice, [words for _, words in asked]), _joined(dice, [name for _, name in coins])
    forms = [
        f"{said} of {named}",
        f"what is the {said} of {named}?",
        f"{said} for {named}",
        f"{named} {said}",
        f"show me the {said} of {named}",
        f"gimme the {said} of {named}",
        f"{named}: {said}?",
        f"{said} on {named}?",
    ]
    if len(coins) == 1:
        forms += [f"what's {named}'s {said}?", f"whats the {said} on {named}"]
    symbols = tuple(dict.fromkeys(symbol for symbol, _ in coins))
    measures = _with_score([*dict.fromkeys(measure for measure, _ in asked)])
    query = Query(subject=Subject(coins=symbols), measures=measures)
    first = measures[0]
    if len(measures) == len(symbols) == 1 and first.name in {"high", "low"}:
        extreme = Extreme("max" if first.name == "high" else "min")
        query = Query(
            subject=query.subject, measures=(Measure(first.name),), time=first.over or Now(), operation=extreme
        )
    return Composed("value", dice.choice(forms), query)


def _past(dice: Dice) -> Composed:
    name = dice.choice(("price", "market_cap", "trend", "verdict"))
    words = dice.choice({**PLAIN, **STATES}[name]).removeprefix("current ")
    symbol, named = coin(dice)
    time = dice.choice([*TIMES])
    when = dice.choice(TIMES[time])
    forms = [
        f"{words} of {named} {when}",
        f"what was the {words} of {named} {when}?",
        f"what was {named}'s {words} {when}?",
        f"{named} {words} {when}",
    ]
    query = Query(subject=Subject(coins=(symbol,)), measures=_with_score([Measure(name)]), time=time)
    return Composed("past", dice.choice(forms), query)


def _change(dice: Dice) -> Composed:
    symbol, named = coin(dice)
    over, when = span(dice)
    forms = [
        f"how much did {named} move {when}?",
        f"{named} performance {when}",
        f"return of {named} {when}",
        f"how has {named} performed {when}?",
        f"how much is {named} up {when}?",
        f"how did {named} do {when}?",
    ]
    query = Query(subject=Subject(coins=(symbol,)), measures=(Measure("change", over=over),))
    return Composed("change", dice.choice(forms), query)


def _rank(dice: Dice) -> Composed:
    subject, words = dice.choice(NARROWED)
    named = dice.choice(words)
    measure, said = number(dice)
    most = dice.random() < 0.6
    limit = dice.choice((1, 3, 5, 10))
    high = dice.choice(("highest", "most", "largest", "biggest") if most else ("lowest", "least", "smallest"))
    forms = [
        f"{'top' if most else 'bottom'} {limit} {named} by {said}",
        f"which {limit} {named} have the {high} {said}?",
        f"the {limit} {named} with the {high} {said}",
        f"list the {limit} {named} with the {high} {said}",
    ]
    if limit == 1:
        forms = [f"which of the {named} has the {high} {said}?"]
    return _of("rank", dice, forms, subject, Rank("most" if most else "least", limit), measure)


def _places(dice: Dice) -> Composed:
    subject, words = dice.choice(NARROWED)
    measure, said = number(dice)
    first, count = dice.choice((2, 3, 4)), dice.choice((2, 3, 7))
    forms = [
        f"{dice.choice(words)} ranked {first} to {first + count - 1} by {said}",
        f"{dice.choice(words)} by {said}, places {first} to {first + count - 1}",
    ]
    return _of("places", dice, forms, subject, Rank("most", count, first - 1), measure)


def _movers(dice: Dice) -> Composed:
    subject, words = dice.choice(NARROWED)
    named = dice.choice(words)
    over, when = span(dice)
    limit = dice.choice((3, 5, 10))
    direction: Direction = dice.choice(("most", "least"))
    movers, verb, best = (
        ("gainers", "gained", "best") if direction == "most" else ("losers", "lost", "worst")
    )  # fmt: skip
    forms = [
        f"top {limit} {movers} among {named} {when}",
        f"which {limit} {named} {verb} the most {when}?",
        f"{limit} {best} performing {named} {when}",
        f"the {limit} {best} performing {named} {when}",
    ]
    return _of("movers", dice, forms, subject, Rank(direction, limit), Measure("change", over=over))


def _list(dice: Dice) -> Composed:
    subject, words = dice.choice(SETS)
    found, said = where(dice)
    named = dice.choice(words)
    forms = [
        f"{named} {said}",
        f"list {named} {said}",
        f"show me all {named} {said}".replace("all all", "all"),
        f"which {named} are there {said}?".replace("are there that are", "are"),
        f"give me {named} {said}",
        f"find {named} {said}",
    ]
    return Composed("list", dice.choice(forms), Query(subject=subject, where=found, operation=List()))


def _either(dice: Dice) -> Composed:
    subject, words = dice.choice(SETS)
    (one, _, first), (other, _, second) = being(dice), being(dice)
    named = dice.choice(words)
    forms = [
        f"{named} that are {first} or {second}",
        f"which {named} are {first} or {second}?",
        f"list {named} that are either {first} or {second}",
    ]
    return Composed("either", dice.choice(forms), Query(subject=subject, where=Any_((one, other)), operation=List()))


def _count(dice: Dice) -> Composed:
    subject, words = dice.choice(SETS)
    named = dice.choice(words)
    found, said = where(dice)
    if dice.random() < 0.6:
        forms = [
            f"how many {named} are there {said}?",
            f"number of {named} {said}",
            f"count the {named} {said}".replace("the all", "all"),
        ]
        return Composed("count", dice.choice(forms), Query(subject=subject, where=found, operation=Count()))
    text = f"what share of {named} are {said.removeprefix('that are ')}?"
    return Composed("share", text, Query(subject=subject, where=found, operation=Share()))


def _check(dice: Dice) -> Composed:
    symbol, named = coin(dice)
    found, having, is_ = condition(dice)
    text = f"is {named} {is_}?" if is_ else f"does {named} have {having}?"
    return Composed("check", text, Query(subject=Subject(coins=(symbol,)), where=found, operation=Check()))


def _exists(dice: Dice) -> Composed:
    subject, words = dice.choice(SETS)
    found, _, is_ = being(dice)
    quantifier = dice.choice(("any", "all"))
    text = f"are {quantifier} {dice.choice(words)} {is_}?".replace("all all", "all")
    operation = Exists("any" if quantifier == "any" else "all")
    return Composed("exists", text, Query(subject=subject, where=found, operation=operation))


def _compare(dice: Dice) -> Composed:
    (one, first), (other, second) = pair(dice)
    subject = Subject(coins=(one, other))
    if dice.random() < 0.4:
        return _of("compare", dice, [f"compare {first} and {second}", f"{first} vs {second}"], subject, Compare())
    measure, said = number(dice)
    direction: Direction = dice.choice(("most", "least"))
    high = "higher" if direction == "most" else "lower"
    forms = [f"which has the {high} {said}, {first} or {second}?", f"who has the {high} {said}: {first} or {second}?"]
    return _of("compare", dice, forms, subject, Compare(direction), measure)


def _against(dice: Dice) -> Composed:
    (one, first), (other, second) = pair(dice)
    measure, said = number(dice)
    more = dice.random() < 0.5
    test = Test(measure, "gt" if more else "lt", coin=other)
    text = f"is {first}'s {said} {'higher' if more else 'lower'} than {second}'s?"
    return Composed("against", text, Query(subject=Subject(coins=(one,)), where=test, operation=Check()))


def _position(dice: Dice) -> Composed:
    symbol, named = coin(dice)
    measure, said = number(dice)
    forms = [f"where does {named} rank by {said}?", f"what is {named}'s rank by {said}?"]
    return _of("position", dice, forms, Subject(coins=(symbol,)), Position(), measure)


def _aggregate(dice: Dice) -> Composed:
    subject, words = dice.choice(SETS)
    measure, said = number(dice)
    how, phrase = dice.choice(
        ((Aggregate("mean"), "average"), (Aggregate("median"), "median"), (Aggregate("sum"), "total"))
    )
    named = dice.choice(words)
    forms = [f"{phrase} {said} of {named}", f"what is the {phrase} {said} of {named}?"]
    return _of("aggregate", dice, forms, subject, how, measure)


def _changed(dice: Dice) -> Composed:
    subject, words = dice.choice(SETS)
    over = dice.choice([one for one in SPANS if one.words != "today"])
    state, said = dice.choice((("UP", "an uptrend"), ("DOWN", "a downtrend")))
    text = f"which {dice.choice(words)} flipped to {said} {dice.choice(SPANS[over])}?"
    changed = Changed(Measure("trend"), state, over)
    return Composed("changed", text, Query(subject=subject, where=changed, operation=List()))


def _since(dice: Dice) -> Composed:
    symbol, named = coin(dice)
    state, said = dice.choice((("UP", "an uptrend"), ("DOWN", "a downtrend")))
    forms = [f"since when is {named} in {said}?", f"how long has {named} been in {said}?"]
    test = Test(Measure("trend"), "eq", state)
    query = Query(subject=Subject(coins=(symbol,)), where=test, operation=When("since"))
    return Composed("since", dice.choice(forms), query)


def _holdings(dice: Dice) -> Composed:
    (one, first), (other, second) = pair(dice)
    amount, more = dice.choice((2.0, 10.0, 1.5)), dice.choice((3.0, 100.0))
    held = f"{amount:g} {first} and {more:g} {second}"
    forms = [f"I have {held}, what is it worth?", f"what are {held} worth?", f"value of {held}"]
    holdings = (Holding(amount, one), Holding(more, other))
    return _of("holdings", dice, forms, Subject(coins=(one, other)), ValueOf(holdings))


def _convert(dice: Dice) -> Composed:
    (one, first), (other, second) = pair(dice)
    amount = dice.choice((2.0, 10.0, 1.5))
    forms = [f"convert {amount:g} {first} to {second}", f"{amount:g} {first} in {second}?"]
    return _of("convert", dice, forms, Subject(coins=(one, other)), Convert(Holding(amount, one), (other,)))


def _profit(dice: Dice) -> Composed:
    symbol, named = coin(dice)
    amount, price = dice.choice((2.0, 10.0, 1.5)), dice.choice((20.0, 150.0, 3200.0))
    bought = f"I bought {amount:g} {named} at ${price:g}"
    forms = [f"{bought}, what is my profit?", f"{bought}, how much am I up?"]
    return _of("profit", dice, forms, Subject(coins=(symbol,)), Profit(Holding(amount, symbol), price))


def _portfolio(dice: Dice) -> Composed:
    (one, first), (other, second) = pair(dice)
    entry, price = dice.choice((20.0, 150.0)), dice.choice((3.5, 3200.0))
    bought = f"I bought 2 {first} at ${entry:g} and 10 {second} at ${price:g}"
    forms = [f"{bought}, what is my profit?", f"{bought}, pnl per position and in total"]
    positions = (Profit(Holding(2.0, one), entry), Profit(Holding(10.0, other), price))
    return _of("portfolio", dice, forms, Subject(coins=(one, other)), Portfolio(positions))


def _ratio(dice: Dice) -> Composed:
    (one, first), (other, second) = pair(dice)
    return _of("ratio", dice, [f"ratio of {first} to {second}"], Subject(coins=(one, other)), Ratio())


def _with_score(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """A verdict is told with its score, where nobody asks for that anyway."""
    if Measure("verdict") not in measures or Measure("score") in measures:
        return tuple(measures)
    at = measures.index(Measure("verdict")) + 1
    return (*measures[:at], Measure("score"), *measures[at:])


def _joined(dice: Dice, words: Sequence[str]) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {dice.choice(('and', '&'))} {words[-1]}"


_KINDS: Final[Sequence[Callable[[Dice], Composed]]] = (
    _value, _value, _past, _change, _rank, _rank, _movers, _places, _list, _list, _either, _count, _count, _check,
    _check,
    _exists, _compare, _against, _position, _aggregate, _changed, _since, _holdings, _convert, _profit, _portfolio,
    _ratio,
)  # fmt: skip


def compose(dice: Dice) -> Composed:
    """One question, with what people write around it."""
    kind, text, query = dice.choice(_KINDS)(dice)
    opening, ending = dice.choice(_OPENINGS), dice.choice(_ENDINGS)
    if opening and not text.startswith(("I ", "gimme ", "count ")):
        first = text[0].lower() if text[1:2].islower() else text[0]
        text = f"{opening}{first}{text[1:]}"
    text = text[:-1] + dice.choice(_MARKS) if text.endswith("?") else text + ending
    if dice.random() < 0.15 and "$" not in text:
        text = text.lower()
    return Composed(kind, text, query)


def examine(count: int, dice: Dice) -> Iterator[Read]:
    """Compose questions and read them."""
    for _ in range(count):
        composed = compose(dice)
        yield Read(composed, parser().read([composed.text], NOW_MS))


def report(read: Iterator[Read]) -> Iterator[str]:
    """How many of each kind came back; of those that did not, how many were refused."""
    by_kind: dict[str, Counter[str]] = {}
    for one in read:
        refused = one.understood.refusal is not None
        found = "right" if one.right else "refused" if refused else "wrong"
        by_kind.setdefault(one.composed.kind, Counter())[found] += 1
    yield "composed questions: right, wrong, refused"
    all_: Mapping[str, Counter[str]] = {"all": sum(by_kind.values(), Counter())}
    for kind, counts in [*sorted(by_kind.items()), *all_.items()]:
        yield f"    {kind:12} {counts['right']:5} {counts['wrong']:4} {counts['refused']:4}   of {counts.total():5}"


def main() -> None:
    """Print the scores, and some questions that were read otherwise."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    read = [*examine(count, random.Random(sys.argv[2] if len(sys.argv) > 2 else "composed"))]  # noqa: S311 - replayable
    for one in [one for one in read if not one.right][:40]:
        read_as = one.understood.refusal or "; ".join(map(describe, one.understood.queries))
        lines = (one.composed.text, f"composed {describe(one.composed.query)}", f"read {read_as}")
        sys.stdout.write("\n    ".join(lines) + f" {one.understood.ignored}\n")
    sys.stdout.write("\n".join(report(iter(read))) + "\n")


if __name__ == "__main__":
    main()
