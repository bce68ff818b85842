"""Typed queries: what the parser understands of a question, and the only thing the planner sees.

    Query = subject x measures x time x conditions x operation

Shown by `raw`, by `verdict ask --explain` and as the line "Read as" under every answer.
"""

from typing import Literal

from msgspec import Struct

Scope = Literal["coins", "all", "category", "assets", "market", "wallets", "shows", "service"]
"""What kind of thing a query is about. `coins`: the coins named; `all`: every coin; `category`: its members."""

Direction = Literal["most", "least"]
Unit = Literal["h", "d"]
Comparator = Literal["lt", "le", "gt", "ge", "eq", "ne"]
Extremum = Literal["max", "min", "first", "last"]
Figure = Literal["mean", "median", "sum"]


class Subject(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a query is about.

    Attributes:
        scope: Which kind of thing.
        coins: Canonical tickers, in the order of the question.
        categories: Exact names of categories; several are joined by or.
        assets: Ids of real-world assets, such as `xyz:AAPL`.
        asset_type: A type of real-world assets, such as `metal`.
        wallets: Addresses of watched wallets.
        shows: Ids of shows.
        excluded: Tickers that are left out.
        excluded_categories: Categories whose members are left out.
        together: Coins are in all of the categories, not in one of them.
        each: Each category named is one thing, instead of its members.
    """

    scope: Scope = "coins"
    coins: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    asset_type: str | None = None
    wallets: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    excluded_categories: tuple[str, ...] = ()
    each: bool = False
    together: bool = False


class Now(Struct, frozen=True, tag="now", tag_field="time"):
    """The present."""


class At(Struct, frozen=True, omit_defaults=True, tag="at", tag_field="time"):
    """One instant or day of the past.

    Attributes:
        at_ms: Epoch milliseconds. Of a day, its first.
        whole_day: The day as a whole is meant, so a price is its close.
        words: As it is said back, such as `yesterday` or `2026-10-05`.
        instant_ms: Of so many days before now, the instant itself: prices and states are those of then.
    """

    at_ms: int
    whole_day: bool
    words: str
    instant_ms: int | None = None


class Window(Struct, frozen=True, tag="window", tag_field="time"):
    """The last so many hours or days until now.

    Attributes:
        count: At least 1.
        unit: Hours or days. A week is 7 days, a month 30, a year 365.
        words: As it is said back, such as `7 days`.
    """

    count: int
    unit: Unit
    words: str


class Between(Struct, frozen=True, omit_defaults=True, tag="between", tag_field="time"):
    """Calendar time.

    Attributes:
        start_ms: First millisecond, inclusive.
        end_ms: Last, exclusive; null: until now.
        words: As it is said back, such as `this week` or `June 2026`.
        instants: Of a span between two times ago, these: changes are measured between the prices at them.
    """

    start_ms: int
    end_ms: int | None
    words: str
    instants: tuple[int, int] | None = None


Time = Now | At | Window | Between
Span = Window | Between


class Measure(Struct, frozen=True, omit_defaults=True):
    """What is measured.

    Attributes:
        name: A key of `service.ask.measures.MEASURES`.
        over: The window of a measure that has one; null: its usual one.
        other: A coin it is measured against: correlation, strength.
        frame: Which trend: `daily` or `weekly`; null: daily, or both where only the trend is asked for.
        mean: The mean over the window instead of the present value, where both exist (funding).
        side: Of a position: `long` or `short`.
        notional: Size of a position in USD.
        per: Another measure that it is divided by.
        absolute: Its size without its sign.
        counted_in: An amount of US dollars given in a coin: its ticker, or `coins` for the coin measured itself.
        per_hours: A rate given per so many hours instead of a year.
    """

    name: str
    over: Span | None = None
    other: str | None = None
    frame: Literal["daily", "weekly"] | None = None
    mean: bool = False
    side: Literal["long", "short"] | None = None
    notional: float | None = None
    per: str | None = None
    absolute: bool = False
    counted_in: str | None = None
    per_hours: int | None = None


class Test(Struct, frozen=True, tag="test", tag_field="condition", omit_defaults=True):
    """A measure compared with a value, with another measure of the same coin, or with the same measure of a coin.

    Attributes:
        measure: What is compared.
        op: How.
        value: A number in the measure's unit, or a state such as `UP` or `strong-bull`.
        to: Another measure of the same coin, in place of `value`.
        coin: A coin whose measure is the value.
        total: Coins the sum of whose measure is the value.
        at: When it is to hold; null: at the query's time.
    """

    measure: Measure
    op: Comparator
    value: float | str | None = None
    to: Measure | None = None
    coin: str | None = None
    total: Subject | None = None
    at: Time | None = None


class Changed(Struct, frozen=True, tag="changed", tag_field="condition", omit_defaults=True):
    """A state that changed within a span: "flipped to UP this week".

    Attributes:
        measure: A state: trend, regime, verdict.
        to: The state after the change; null: any.
        within: Since when.
    """

    measure: Measure
    to: str | None
    within: Span


class Ranked(Struct, frozen=True, tag="ranked", tag_field="condition", omit_defaults=True):
    """Among the first so many by a measure: of all coins ("L1s in the top 20 by volume") or of those asked about.

    Attributes:
        measure: Ranks.
        direction: Which come first.
        limit: How many.
        own: Whether only what is asked about is ranked: "the 5 largest L1s".
    """

    measure: Measure
    direction: Direction
    limit: int
    own: bool = False


class Not(Struct, frozen=True, tag="not", tag_field="condition"):
    """The opposite."""

    item: "Condition"


class All(Struct, frozen=True, tag="all", tag_field="condition"):
    """Every one holds."""

    items: tuple["Condition", ...]


class Any_(Struct, frozen=True, tag="any", tag_field="condition"):  # noqa: N801 - `Any` is taken by typing
    """At least one holds."""

    items: tuple["Condition", ...]


Condition = Test | Changed | Ranked | Not | All | Any_


class Value(Struct, frozen=True, tag="value", tag_field="operation"):
    """The measures of each thing named."""


class Check(Struct, frozen=True, tag="check", tag_field="operation"):
    """Whether the conditions hold for the things named: yes or no for each."""


class List(Struct, frozen=True, tag="list", tag_field="operation"):
    """All that fulfil the conditions; `limit` null: as many as an answer shows."""

    limit: int | None = None


class Rank(Struct, frozen=True, tag="rank", tag_field="operation", omit_defaults=True):
    """The first so many by the first measure, behind the `skip` before them: 1 for "the second"."""

    direction: Direction
    limit: int
    skip: int = 0


class Position(Struct, frozen=True, tag="position", tag_field="operation"):
    """The place of the coins named among the subject set, by the first measure: "where does SOL rank by volume"."""

    direction: Direction = "most"


class Count(Struct, frozen=True, tag="count", tag_field="operation"):
    """How many things fulfil the conditions; of a coin that is named, on how many closed days (`Query.counts_days`)."""


class Share(Struct, frozen=True, tag="share", tag_field="operation"):
    """Which share fulfils the conditions, in percent."""


class Exists(Struct, frozen=True, tag="exists", tag_field="operation"):
    """Whether any, all, none or most of them, that is more than half, fulfil the conditions."""

    quantifier: Literal["any", "all", "none", "most"]


class Extreme(Struct, frozen=True, tag="extreme", tag_field="operation"):
    """The largest, smallest, first or last value of a measure within the query's time, with its date."""

    which: Extremum


class Aggregate(Struct, frozen=True, tag="aggregate", tag_field="operation"):
    """A figure over the coins of the subject: their mean, median or sum of the first measure."""

    how: Figure


class Compare(Struct, frozen=True, tag="compare", tag_field="operation", omit_defaults=True):
    """The things named side by side; `direction`: which of them has the most or least of the first measure.

    `how`: categories are compared by this figure of their coins; null: by their own values.
    """

    direction: Direction | None = None
    how: Figure | None = None


class Why(Struct, frozen=True, tag="why", tag_field="operation"):
    """What moved beside a coin in the query's time."""


class When(Struct, frozen=True, tag="when", tag_field="operation"):
    """Since when the conditions hold, when they first held, or when they last began to hold."""

    edge: Literal["since", "first", "last"]


class Explain(Struct, frozen=True, tag="explain", tag_field="operation"):
    """A definition; `term` is a key of the glossary."""

    term: str


class Holding(Struct, frozen=True):
    """An amount of a coin (`unit` a ticker) or of US dollars (`USD`)."""

    amount: float
    unit: str


class Convert(Struct, frozen=True, tag="convert", tag_field="operation"):
    """What an amount is worth in other units."""

    holding: Holding
    into: tuple[str, ...]


class Ratio(Struct, frozen=True, tag="ratio", tag_field="operation"):
    """The first measure of the first coin divided by that of the second."""


class ValueOf(Struct, frozen=True, tag="value_of", tag_field="operation"):
    """What holdings are worth together, at the query's time."""

    holdings: tuple[Holding, ...]


class Profit(Struct, frozen=True, tag="profit", tag_field="operation", omit_defaults=True):
    """Profit or loss of a position in the coin named since an entry price or instant.

    Attributes:
        holding: Its size; null: in percent alone.
        entry_price: In USD; null: the price at `since`.
        since: When it was opened; null: `entry_price` is given.
        side: Long or short.
    """

    holding: Holding | None
    entry_price: float | None = None
    since: Time | None = None
    side: Literal["long", "short"] = "long"


class Portfolio(Struct, frozen=True, tag="portfolio", tag_field="operation"):
    """Profit or loss of several positions and their total: one for each coin of the subject, in its order."""

    positions: tuple[Profit, ...]


class Screen(Struct, frozen=True, tag="screen", tag_field="operation"):
    """What the data say for one side, where somebody asks what to buy or short. Never advice."""

    side: Literal["long", "short"]


class Record(Struct, frozen=True, tag="record", tag_field="operation"):
    """How past verdicts, regime trades or walk-forward strategies did; `state`: of one verdict."""

    of: Literal["verdicts", "regime", "walkforward"]
    state: str | None = None


class Route(Struct, frozen=True, tag="route", tag_field="operation", omit_defaults=True):
    """What one data route answers as it stands: alerts, crossings, breadth, quotes, transfers, listings, account.

    Attributes:
        topic: A key of `service.ask.routes.ROUTES`.
        args: Parameters of the route, as text.
    """

    topic: str
    args: dict[str, str] = {}


Operation = (
    Value
    | Check
    | List
    | Rank
    | Position
    | Count
    | Share
    | Exists
    | Extreme
    | Aggregate
    | Compare
    | Why
    | When
    | Explain
    | Convert
    | Ratio
    | ValueOf
    | Profit
    | Portfolio
    | Screen
    | Record
    | Route
)


class Query(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One request of a question. See the module."""

    subject: Subject = Subject()
    measures: tuple[Measure, ...] = ()
    time: Time = Now()
    where: Condition | None = None
    operation: Operation = Value()

    @property
    def counts_days(self) -> bool:
        """Whether days are counted instead of things: "on how many days did ETH rise"."""
        return isinstance(self.operation, Count) and bool(self.subject.coins)
