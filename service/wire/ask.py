"""What travels on the question route: the question, what it was taken for, how it is answered, and the answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

MOST_CHARACTERS: Final = 8_000
"""Of all messages together."""

Role = Literal["user", "assistant"]
Archetype = Literal["base", "trader", "analyst", "risk-manager", "explainer"]
"""For whom an answer is written: changes what is stressed and how much is said, never a fact."""

Intent = Literal[
    "price",
    "overview",
    "verdict",
    "trend",
    "funding",
    "carry",
    "sentiment",
    "correlation",
    "comparison",
    "ranking",
    "regime",
    "breadth",
    "crossings",
    "alerts",
    "category",
    "category-sentiment",
    "rwa",
    "rwa-list",
    "history",
    "walkforward",
    "track-record",
    "wallets",
    "transcripts",
    "convert",
    "definition",
    "account",
    "pricing",
    "help",
    "smalltalk",
    "forecast",
    "out-of-scope",
]
"""What a question is about."""

Refusal = Literal["unknown-symbol", "ambiguous", "language", "forecast", "out-of-scope", "not-available"]
"""Why a question is not answered with figures: each is said in a sentence, and costs nothing."""

Order = Literal["most", "least"]
Side = Literal["long", "short"]
Unit = Literal["h", "d"]
Timeframe = Literal["daily", "weekly"]


WalletAddress = Annotated[
    str,
    Meta(
        pattern=r"^0x[0-9a-fA-F]{40}\Z",
        description="An EVM address of the caller's: counts only if the credential has proven it",
    ),
]
DeviceId = Annotated[
    str,
    Meta(
        pattern=r"^[!-~]{8,128}\Z",
        description="An anonymous device's identifier, 8 to 128 printable characters: one free question",
    ),
]
CommandContext = Annotated[
    str, Meta(max_length=2_000, description="What the caller has just looked at, as text: a command, its output")
]


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """One turn of the conversation."""

    role: Role
    content: Annotated[str, Meta(max_length=MOST_CHARACTERS)]


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a question.

    Raises:
        ValueError: If the last message is not the user's or says nothing, or there are too many characters.
    """

    messages: Annotated[
        list[Message],
        Meta(
            min_length=1,
            max_length=20,
            description="The conversation, oldest first; ends with `user`",
            examples=[[{"role": "user", "content": "How is SOL doing?"}]],
        ),
    ]
    walletAddress: WalletAddress | None = None
    deviceId: DeviceId | None = None
    raw: Annotated[bool, Meta(description="Answer what was found, without prose")] = False
    archetype: Annotated[Archetype, Meta(description="For whom the answer is written")] = "base"
    commandContext: CommandContext | None = None

    def __post_init__(self) -> None:
        """Look at what no schema says."""
        last = self.messages[-1]
        if last.role != "user":
            raise ValueError("the last of messages must have the role user")
        if not last.content.strip():
            raise ValueError("the last of messages says nothing: write a question")
        if sum(len(message.content) for message in self.messages) > MOST_CHARACTERS:
            raise ValueError(f"messages hold more than {MOST_CHARACTERS} characters in all")


class Period(Struct, frozen=True):
    """So many hours or days back."""

    count: int
    unit: Unit


class Amount(Struct, frozen=True):
    """An amount that was named: of US dollars (`unit` is `USD`), or of a coin by its ticker; null of neither."""

    value: float
    unit: str | None


class Entities(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a question names.

    Attributes:
        coins: Canonical tickers, in the order in which they are named.
        assets: Ids of real-world assets (`xyz:AAPL`).
        categories: Exact names.
        unknown: What is named as a coin, an asset or a category and is none here, as it was written.
        candidates: What may have been meant, by what was written; tickers, ids or names.
        excluded: Tickers that are to be left out ("except BTC").
        period: How far back.
        timeframe: Which of the trends.
        amount: An amount of money or of a coin.
        side: Of a position.
        days: For how many days something is held.
        metric: What is ranked or compared: a field of a scan's row.
        order: Whether the most or the least of it is wanted.
        trend: Which state coins are to be in.
        limit: How many are wanted.
        term: The word to be defined, a key of the glossary.
        type: The type of real-world assets.
        action: Which of a tool's answers is wanted where it has several (`positions`, `confidence`, `prefer`, `flip`).
        part: Which part of a table is asked about: a strategy, a route by its id, a side of funding (`hot`, `cold`).
        topics: Topics of the economy, as `transcripts` tells them apart.
        shows: Ids of feeds that are read.
        wallets: Addresses of watched wallets, named or written out.
    """

    coins: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    candidates: Mapping[str, tuple[str, ...]] = {}
    excluded: tuple[str, ...] = ()
    period: Period | None = None
    timeframe: Timeframe | None = None
    amount: Amount | None = None
    side: Side | None = None
    days: float | None = None
    metric: str | None = None
    order: Order | None = None
    trend: Literal["UP", "HODL", "DOWN"] | None = None
    limit: int | None = None
    term: str | None = None
    type: str | None = None
    action: str | None = None
    part: str | None = None
    topics: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()


class Classification(Struct, frozen=True, kw_only=True):
    """What a question was taken for.

    Attributes:
        intent: What it is about.
        entities: What it names, what earlier messages name where it leaves that out.
        follow_up: Whether it was read with the help of earlier messages.
        why: Whether reasons are asked for.
        refusal: Why it will not be answered with figures; null: it will.
        language: ISO 639-1 of the language it is written in; `und` where nobody can say.
    """

    intent: Intent
    entities: Entities
    follow_up: bool = False
    why: bool = False
    refusal: Refusal | None = None
    language: str = "en"


class Classified(Struct, frozen=True):
    """What a question was understood as: its typed queries, or why it is refused."""

    understanding: Any


class PlannedStep(Struct, frozen=True):
    """One call of a tool: `needs` are the ids of steps whose results it is made from."""

    id: str
    tool: str
    args: Mapping[str, Any]
    needs: tuple[str, ...] = ()


class Plan(Struct, frozen=True):
    """What is looked up; steps that need no other run beside each other."""

    steps: tuple[PlannedStep, ...]


class Step(Struct, frozen=True, kw_only=True):
    """What a step found: the payload that the route of the same name answers.

    `as_of` is the observation time of its oldest input (ISO 8601 UTC), null where it has none. Where it failed,
    `result` is null and `error` says why.
    """

    id: str
    tool: str
    args: Mapping[str, Any]
    result: Any
    as_of: str | None
    error: str | None = None


class Source(Struct, frozen=True):
    """Where an answer's figures come from: a route that gives the same payload, and of when it is."""

    tool: str
    path: str | None
    as_of: str | None
    stale: tuple[str, ...] = ()


class Told(Struct, frozen=True):
    """An answer as JSON: prose, what it rests on, and where that comes from."""

    text: str
    steps: tuple[Step, ...]
    sources: tuple[Source, ...]


class Findings(Struct, frozen=True):
    """An answer without prose (`raw`)."""

    classification: Any
    plan: Plan
    steps: tuple[Step, ...]


class Text(Struct, frozen=True):
    """A piece of an answer's prose; the pieces in their order are the whole text."""

    text: str


class Done(Struct, frozen=True):
    """The end of an answer. `engine` says who wrote it; `as_of` is of the oldest step, null where there is none."""

    engine: Literal["rules", "model"]
    as_of: str | None
    sources: tuple[Source, ...]


class Failed(Struct, frozen=True):
    """The end of an answer that could not be finished, and the body of every failure of the question route."""

    error: str


Event = Classified | Plan | Step | Text | Done | Failed
"""What an answer is made of, in this order: classification, plan, steps, text, and done or failed."""
