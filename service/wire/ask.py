"""The question route's payloads: the question, how it was read, what was found, and the answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

MOST_CHARACTERS: Final = 8_000
"""Of all messages together."""

Role = Literal["user", "assistant"]
Archetype = Literal["base", "trader", "analyst", "risk-manager", "explainer"]
"""For whom an answer is written: changes what is stressed and how much is said, never a fact."""

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


class Classified(Struct, frozen=True):
    """What a question was understood as: its typed queries, or why it is refused. Sent as the understanding alone."""

    understanding: Mapping[str, Any]


class PlannedStep(Struct, frozen=True):
    """One typed query: `tool` is `query`, `args` has `subject`, `measures`, `time`, `where` and `operation`."""

    id: str
    tool: str
    args: Mapping[str, Any]


class Plan(Struct, frozen=True):
    """The queries that are run, in the order of the question."""

    steps: tuple[PlannedStep, ...]


class Step(Struct, frozen=True, kw_only=True):
    """What a query found.

    `result` has a `title` (the query in words), `figures` by name, each a `value` with its `unit`, `columns` and
    `rows`, and `unknown`, the things left out because a value is not known; or a `refusal`. Dates and instants are
    epoch milliseconds. `as_of` is the observation time of its oldest input (ISO 8601 UTC), null where it has none.
    Where it failed, `result` is null and `error` says why.
    """

    id: str
    tool: str
    args: Mapping[str, Any]
    result: Any
    as_of: str | None
    error: str | None = None


class Source(Struct, frozen=True):
    """Where values come from: the route that answers them (`path`; null: no route does), and of when they are."""

    tool: str
    path: str | None
    as_of: str | None
    stale: tuple[str, ...] = ()


class QuestionAnswer(Struct, frozen=True):
    """An answer as JSON: prose, what it rests on, and where that comes from."""

    text: str
    steps: tuple[Step, ...]
    sources: tuple[Source, ...]


class Findings(Struct, frozen=True):
    """An answer without prose (`raw`).

    `classification` is how the question was read: `queries`, each with `subject`, `measures`, `time`, `where` and
    `operation`; or a `refusal` with its `reason`, the `words` that could not be read, `candidates` and what can be
    asked `instead`; or a `courtesy`. `ignored` are words that were not considered, `unknown` names that do not exist
    here. Fields at their default are left out.
    """

    classification: Mapping[str, Any]
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
