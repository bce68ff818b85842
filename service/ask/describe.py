"""A query in plain English: the line "Read as" under every answer, and the names of measures."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import structs

from service.ask import query as q
from service.ask.measure_table import MEASURES, Unit

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_ADVERBS: Final = frozenset(
    ["this", "last", "today", "yesterday", "since", "between", "from", "on", "in", "at", "over"]
)

_ORDER: Final[Mapping[str, str]] = {"most": "highest", "max": "highest", "least": "lowest", "min": "lowest"}

_COMPARATORS: Final[Mapping[str, str]] = {
    "lt": "below",
    "le": "at most",
    "gt": "above",
    "ge": "at least",
    "eq": "equal to",
    "ne": "not equal to",
}


_DAY_HOURS: Final = 24
_UNITS: Final = {Unit.USD: " USD", Unit.PERCENT: " %", Unit.PERCENT_A_YEAR: " % a year", Unit.SPREAD: " % a year"}


def label_of(measure: q.Measure) -> str:
    """What a measure is called, with its window and its other coin: `7-day change`, `correlation with BTC`."""
    by = "" if measure.per is None else f" divided by {MEASURES[measure.per].label}"
    unit = "" if measure.counted_in is None else f" in {measure.counted_in}"
    return f"{'absolute ' if measure.absolute else ''}{_label_of(measure)}{unit}{rate_words(measure)}{by}"


def rate_words(measure: q.Measure) -> str:
    """The time that a rate is given for, empty for a year: ` per hour`, ` per 8 hours`, ` per day`."""
    hours = measure.per_hours
    if hours is None or measure.notional is not None:
        return ""
    count, unit = (hours, "hour") if hours % _DAY_HOURS else (hours // _DAY_HOURS, "day")
    return f" per {unit}" if count == 1 else f" per {count} {unit}s"


def _label_of(measure: q.Measure) -> str:
    row = MEASURES[measure.name]
    label = row.label
    if measure.name == "volume" and measure.over is not None:
        label = "volume"
    if measure.name == "trend":
        label = f"{measure.frame or 'daily'} trend"
    if measure.name == "carry":
        label = f"funding received by a {measure.side or 'long'}"
        if measure.notional is not None:
            return f"{label} of {number(measure.notional)} USD over {measure.over.words if measure.over else 'a day'}"
    if measure.name == "correlation":
        label = f"correlation with {measure.other or 'BTC'}"
    if measure.name == "strength":
        label = f"return against {measure.other or 'BTC'}"
    if measure.mean or (measure.name == "funding" and measure.over is not None):
        label = f"mean {label}"
    if measure.over is None:
        return label
    if isinstance(measure.over, q.Window):
        return f"{_adjective(measure.over)} {label}"
    return f"{label} {time_words(measure.over)}"


def is_date(words: str) -> bool:
    """Whether the words of a time are a date."""
    return _DAY.fullmatch(words) is not None


def _adjective(window: q.Window) -> str:
    return f"{window.count}-{'hour' if window.unit == 'h' else 'day'}"


def number(value: float) -> str:
    """A number as it was asked for."""
    return f"{value:,.15g}"


def time_words(time: q.Time) -> str:
    """When, as a phrase; empty for the present."""
    if isinstance(time, q.Now):
        return ""
    if isinstance(time, q.Window):
        return f"over {time.words}"
    if isinstance(time, q.At):
        return f"on {time.words}" if is_date(time.words) else time.words
    first = time.words.split(" ", 1)[0].lower()
    if is_date(time.words):
        return f"on {time.words}"
    return time.words if first in _ADVERBS else f"{'from' if ' to ' in time.words else 'in'} {time.words}"


def _list(words: tuple[str, ...] | list[str], last: str = "and") -> str:
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


def subject_words(subject: q.Subject) -> str:
    """What a query is about."""
    if subject.scope == "coins":
        found = _list(subject.coins) if subject.coins else "no coin"
        found += f" among coins in {_list(subject.categories, 'or')}" if subject.categories else ""
    elif subject.scope == "assets":
        kind = f"real-world assets of type {subject.asset_type}" if subject.asset_type else "real-world assets"
        found = _list(subject.assets) if subject.assets else kind
    elif subject.categories:
        names = subject.categories
        joined = _list(names, "and" if subject.together or subject.each else "or")
        found = f"{'the categories' if subject.each else 'coins in'} {joined}"
    else:
        found = {"all": "all coins", "category": "categories", "market": "the market"}.get(subject.scope, "")
        found = found or {"wallets": "watched wallets", "shows": "shows", "service": "this service"}[subject.scope]
        names = (*subject.wallets, *subject.shows)
        found = _list(names) if names else found
    left_out = (*subject.excluded, *subject.excluded_categories)
    return f"{found} without {_list(left_out)}" if left_out else found


def condition_words(condition: q.Condition) -> str:
    """A condition as a phrase."""
    if isinstance(condition, q.Test):
        return _test_words(condition)
    if isinstance(condition, q.Changed):
        to = "" if condition.to is None else f" to {condition.to}"
        return f"{label_of(condition.measure)} changed{to} {time_words(condition.within)}"
    if isinstance(condition, q.Ranked):
        which = "of them" if condition.own else "coins"
        first = f"among the {condition.limit} {which}" if condition.limit > 1 else "the one"
        return f"{first} with the {_ORDER[condition.direction]} {label_of(condition.measure)}"
    if isinstance(condition, q.Not):
        return f"not ({condition_words(condition.item)})"
    joined = [condition_words(item) for item in condition.items]
    joined = [
        f"({words})" if isinstance(item, q.All | q.Any_) else words
        for item, words in zip(condition.items, joined, strict=True)
    ]
    return _list(joined, "and" if isinstance(condition, q.All) else "or")


def _test_words(test: q.Test) -> str:
    label, is_state = label_of(test.measure), isinstance(test.value, str)
    return f"{label}{' is' if is_state else ''} {_bound_words(test)}"


def _bound_words(test: q.Test) -> str:
    """What a measure is compared with: `UP`, `not neutral`, `above 5 %`, `below that of BTC`."""
    op = _COMPARATORS[test.op]
    if test.to is not None:
        bound = f"{op} its {label_of(test.to)}"
    elif test.coin is not None:
        bound = f"{op} that of {test.coin}"
    elif test.total is not None:
        bound = f"{op} the total of {subject_words(test.total)}"
    elif isinstance(test.value, str):
        bound = f"{ {'eq': '', 'ne': 'not '}.get(test.op, f'{op} ') }{test.value}"
    else:
        converted = test.measure.per or test.measure.counted_in
        unit = "" if converted else _UNITS.get(MEASURES[test.measure.name].unit, "")
        unit = " %" if test.measure.per_hours else unit
        bound = f"{op} {number(test.value or 0)}{unit}"
    return bound if test.at is None else f"{bound} {time_words(test.at)}"


def clause_words(subject: str, condition: q.Condition, verb: str) -> str:
    """A condition as a clause: `BTC's daily trend has been UP`; several as `BTC, daily trend is UP and …, was true`."""
    if isinstance(condition, q.Test):
        return f"{subject}'s {label_of(condition.measure)} {verb} {_bound_words(condition)}"
    return f"{subject}, {condition_words(condition)}, {verb} true"


def having_words(condition: q.Condition) -> str:
    """A condition as what things have: `a daily trend of UP and funding below 0 % a year`."""
    if isinstance(condition, q.Test):
        label, bound = label_of(condition.measure), _bound_words(condition)
        if isinstance(condition.value, str) and condition.op in {"eq", "ne"}:
            bound = f"other than {bound[4:]}" if condition.op == "ne" else f"of {bound}"
        return f"{_article(label)}{label} {bound}"
    if isinstance(condition, q.Changed):
        to = "" if condition.to is None else f" to {condition.to}"
        label = label_of(condition.measure)
        return f"{_article(label)}{label} that changed{to} {time_words(condition.within)}"
    if isinstance(condition, q.Ranked):
        which = condition_words(condition)
        return f"a place {which}" if condition.limit > 1 else which.replace("the one with ", "")
    if isinstance(condition, q.Not):
        item = condition.item
        if isinstance(item, q.Test) and isinstance(item.value, str) and item.op == "eq":
            return having_words(structs.replace(item, op="ne"))
        return f"not ({having_words(item)})"
    parts = [having_words(item) for item in condition.items]
    parts = [
        f"({words})" if isinstance(item, q.All | q.Any_) else words
        for item, words in zip(condition.items, parts, strict=True)
    ]
    return _list(parts, "and" if isinstance(condition, q.All) else "or")


def _article(label: str) -> str:
    if label.startswith(("funding", "open interest", "mean funding", "volatility", "sentiment", "days", "breadth")):
        return ""
    return "an " if re.match(r"[aeio]|8|11\b|18\b", label) else "a "


def _measures(query: q.Query) -> str:
    both = isinstance(query.operation, q.Value | q.Compare)
    labels = [
        "daily and weekly trend" if both and one.name == "trend" and one.frame is None else label_of(one)
        for one in query.measures
    ]
    return _list(labels) if labels else "overview"


def _holding(holding: q.Holding) -> str:
    return f"{number(holding.amount)} {holding.unit}"


def _convert(_query: q.Query, operation: q.Convert) -> str:
    return f"{_holding(operation.holding)} in {_list(operation.into or ('USD',))}"


def _value_of(query: q.Query, operation: q.ValueOf) -> str:
    what = _measures(query) if query.measures else "value"
    return f"{what} of {_list([_holding(item) for item in operation.holdings])}"


def _rank(query: q.Query, operation: q.Rank) -> str:
    if not operation.skip:
        side = "top" if operation.direction == "most" else "lowest"
        return f"ranked by {_measures(query)}, {side} {operation.limit}"
    first, last = operation.skip + 1, operation.skip + operation.limit
    places = f"place {first}" if first == last else f"places {first} to {last}"
    return f"ranked by {_measures(query)}, the {_ORDER[operation.direction]} first, {places}"


def _compare(query: q.Query, operation: q.Compare) -> str:
    order = f", the {_ORDER[operation.direction]} first" if operation.direction else ""
    how = {None: "", "sum": "total "}.get(operation.how, f"{operation.how} ")
    return f"compared by {how}{_measures(query)}{order}"


def _profit(_query: q.Query, operation: q.Profit) -> str:
    size = "" if operation.holding is None else f" of {_holding(operation.holding)}"
    entry = "" if operation.entry_price is None else f" at {number(operation.entry_price)} USD"
    since = "" if operation.since is None else f" opened {time_words(operation.since) or 'now'}"
    return f"profit of a {operation.side}{size}{entry}{since}"


def _portfolio(query: q.Query, operation: q.Portfolio) -> str:
    return "; ".join(
        f"{coin}: {_profit(query, one)}" for coin, one in zip(query.subject.coins, operation.positions, strict=True)
    )


def _route(_: q.Query, operation: q.Route) -> str:
    args = "".join(
        f", {'how many' if name == 'count' else f'{name} {value}'}" for name, value in operation.args.items()
    )
    return f"{operation.topic.replace('_', ' ').replace('-', ' ')}{args}"


_OPERATIONS: Final[Mapping[type, Callable[[q.Query, Any], str]]] = {
    q.Value: lambda query, _: _measures(query),
    q.Check: lambda _query, _: "yes or no",
    q.List: lambda query, one: (
        f"list{f', first {one.limit}' if one.limit else ''}" + (f", with {_measures(query)}" if query.measures else "")
    ),
    q.Rank: _rank,
    q.Position: lambda query, one: f"place by {_ORDER[one.direction]} {_measures(query)}",
    q.Count: lambda query, _: "on how many days" if query.counts_days else "how many",
    q.Share: lambda _query, _: "which share",
    q.Exists: lambda _query, one: f"whether {one.quantifier}",
    q.Extreme: lambda query, one: f"{_ORDER.get(one.which, one.which)} {_measures(query)} with its date",
    q.Aggregate: lambda query, one: f"{one.how} of {_measures(query)}",
    q.Compare: _compare,
    q.Why: lambda query, _: f"why {label_of(query.measures[0])}" if query.measures else "why",
    q.When: lambda query, one: (
        f"{'since when' if one.edge == 'since' else f'when {one.edge}'}"
        + (f" {_measures(query)}" if query.measures else "")
    ),
    q.Explain: lambda _query, one: f"definition of {one.term}",
    q.Convert: _convert,
    q.Ratio: lambda query, _: f"ratio of {_measures(query) if query.measures else 'price'}",
    q.ValueOf: _value_of,
    q.Profit: _profit,
    q.Portfolio: _portfolio,
    q.Screen: lambda _query, one: f"those whose verdict favours a {one.side}",
    q.Record: lambda _query, one: f"how past {f'{one.state} ' if one.state else ''}{one.of} did",
    q.Route: _route,
}

_OWN_SUBJECT: Final = (q.Explain, q.Convert, q.ValueOf, q.Portfolio, q.Route)
"""Operations that say themselves what they are about."""


_TAKEN_OVER: Final = frozenset({"volume", "funding"})
"""Measures whose present value has a window of its own, which the span of a query replaces."""

_DATED: Final = (q.Extreme, q.When, q.Why)


def _usual_window(days: int) -> q.Window:
    return q.Window(24, "h", "24 hours") if days == 1 else q.Window(days, "d", f"{days} days")


_USUAL: Final[Mapping[str, q.Window]] = {
    row.name: _usual_window(row.usual_days) for row in MEASURES.values() if row.windowed and row.name != "correlation"
}
"""Windows of measures for which none is named. Of correlations the coin table has the usual one."""


def _usual(measure: q.Measure) -> q.Measure:
    return structs.replace(measure, over=measure.over or _USUAL.get(measure.name))


def _usual_in(condition: q.Condition) -> q.Condition:
    if isinstance(condition, q.Test):
        other = None if condition.to is None else _usual(condition.to)
        return condition if condition.at else structs.replace(condition, measure=_usual(condition.measure), to=other)
    if isinstance(condition, q.Ranked):
        return structs.replace(condition, measure=_usual(condition.measure))
    if isinstance(condition, q.Changed):
        return condition
    if isinstance(condition, q.Not):
        return q.Not(_usual_in(condition.item))
    return structs.replace(condition, items=tuple(map(_usual_in, condition.items)))


def spanned(query: q.Query) -> q.Query:
    """The query with the windows of its measures: the usual one of each, or the span of the query."""
    if isinstance(query.operation, _DATED):
        return query
    if isinstance(query.time, q.Now):
        where = None if query.where is None else _usual_in(query.where)
        return structs.replace(query, measures=tuple(map(_usual, query.measures)), where=where)
    if isinstance(query.time, q.At):
        return query
    measures = tuple(
        structs.replace(one, over=query.time) if one.name in _TAKEN_OVER and one.over is None else one
        for one in query.measures
    )
    return structs.replace(query, measures=measures)


def describe(query: q.Query) -> str:
    """A query in one line: "coins in Layer 1 (L1), ranked by 30-day change, top 5"."""
    query = spanned(query)
    parts = [_OPERATIONS[type(query.operation)](query, query.operation)]
    subject = query.subject
    named = subject.coins or subject.categories or subject.assets or subject.wallets or subject.shows
    own = subject.scope == "service" or isinstance(query.operation, _OWN_SUBJECT)
    if not own or (named and isinstance(query.operation, q.Route)):
        parts.insert(0, subject_words(subject))
    if query.where is not None:
        parts.insert(1, f"where {condition_words(query.where)}")
    measured = {measure.over for measure in query.measures}
    when = "" if measured == {query.time} else time_words(query.time)
    return ", ".join([*parts, when] if when else parts)
