"""What a command is. Imports nothing: this is loaded before anything is known of what is asked."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_SHORT = 20
"""Longest list of choices that stands for itself; what is longer has a name, and is listed beside it."""


class Argument:
    """One argument of a command.

    Args:
        name: `symbol` for one that is given by its place, `--count` for one that is given by name.
        summary: What it is, in a few words, its default in brackets.
        kind: `text`, `number` (an integer), or `flag` (given or not).
        choices: What it may be, if that is a closed list.
        default: Where it is not given.
        metavar: How it is shown in help.
        required: Whether a named one has to be given.
        many: Whether it is a list, perhaps empty.
        optional: Whether one that is given by its place may be left out.
        apart: Named arguments with the same word here exclude each other.
        read: `module:function` that reads the text and raises `ValueError` with what is wrong.
        hidden: Whether help keeps it to itself.
        parameter: Parameter of the offer that it fills, if it fills one; a flag fills it with 1.
        run: `module:function` that runs the command instead where this flag is given.
    """

    __slots__ = (
        "apart", "choices", "default", "hidden", "kind", "many", "metavar", "name", "optional", "parameter", "read",
        "required", "run", "summary",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - a row of a table, written by keyword
        self,
        name: str,
        summary: str,
        *,
        kind: str = "text",
        choices: Sequence[str] = (),
        default: object = None,
        metavar: str = "",
        required: bool = False,
        many: bool = False,
        optional: bool = False,
        apart: str = "",
        read: str = "",
        hidden: bool = False,
        parameter: str = "",
        run: str = "",
    ) -> None:
        self.name = name
        self.summary = summary
        self.kind = kind
        self.choices = choices
        self.default = default
        self.metavar = metavar
        self.required = required
        self.many = many
        self.optional = optional
        self.apart = apart
        self.read = read
        self.hidden = hidden
        self.parameter = parameter
        self.run = run

    @property
    def named(self) -> bool:
        """Whether it is given by name: `--count`."""
        return self.name.startswith("--")

    @property
    def key(self) -> str:
        """Where its value is found: `max_price` of `--max-price`."""
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def shown(self) -> str:
        """What stands for its value in help: `SYMBOL`, `h|d`."""
        if self.metavar:
            return self.metavar
        choices = "|".join(self.choices)
        return choices if 0 < len(choices) <= _SHORT else self.key.upper()


class Route:
    """Where a command about an offer asks.

    Args:
        path: As the manifest writes it: `/api/cli/coin/risk/{symbol}`.
        price: What a call costs once the quota is spent, in decimal USDC; empty where it is free and never counted.
        entries: Name of the list in the answer that is its entries, if it is a list of entries.
        public: Whether it is asked without a token.
        envelope: Whether the answer is in one.
        view: Module of `show` that shows the answer; empty where it is named after the offer.
    """

    __slots__ = ("entries", "envelope", "path", "price", "public", "view")

    def __init__(
        self,
        path: str,
        price: str = "",
        *,
        entries: str = "",
        public: bool = False,
        envelope: bool = True,
        view: str = "",
    ) -> None:
        self.path = path
        self.price = price
        self.entries = entries
        self.public = public
        self.envelope = envelope
        self.view = view


class Command:
    """One command.

    Args:
        words: As it is typed after `verdict`: `coin risk`.
        summary: What it does, lower case, without a full stop.
        run: `module:function` of (arguments, environment) that gives the exit code.
        arguments: What it takes.
        example: A whole line that can be typed: `verdict coin risk BTC`.
        offer: Id of the offer it is about, if it is about one.
        route: Where it is asked, if all that the command does is ask that and show the answer.
        fixed: Parameters of the offer that its words decide: `(("action", "history"),)`.
        bare: Whether it is also run where its last word is left out: `regime` is `regime active`.
        more: `module:function` that gives a further section of its help.
    """

    __slots__ = (
        "arguments", "bare", "example", "fixed", "more", "offer", "route", "run", "summary", "words",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - a row of a table, written by keyword
        self,
        words: str,
        summary: str,
        run: str,
        arguments: Sequence[Argument] = (),
        *,
        example: str,
        offer: str = "",
        route: Route | None = None,
        fixed: Sequence[tuple[str, str]] = (),
        bare: bool = False,
        more: str = "",
    ) -> None:
        self.words = words
        self.summary = summary
        self.run = run
        self.arguments = arguments
        self.example = example
        self.offer = offer
        self.route = route
        self.fixed = fixed
        self.bare = bare
        self.more = more


CONNECTING = (Argument("--url", "the service (VERDICT_URL, else what is configured)", metavar="URL"),)
"""Taken by every command that calls a service."""

SHAPING = (
    Argument(
        "--json", "print the answer as JSON, as is done where the output is no terminal", kind="flag", apart="form"
    ),
    Argument("--ndjson", "print a JSON object a line: the entries of a list", kind="flag", apart="form"),
    Argument("--csv", "print comma-separated values, where there are entries", kind="flag", apart="form"),
    Argument(
        "--fields",
        "only these fields, by name, parted by commas",
        metavar="A,B",
        read="service.clients.cli.fields:names_in",
    ),
)
"""Taken by every command that shows data."""

PAYING = (
    Argument("--dry-run", "show the request and its price, and send nothing", kind="flag"),
    Argument("--yes", "pay without asking, below the ceilings", kind="flag"),
    Argument(
        "--max-price",
        "most that this call may cost, in USDC (0.10)",
        metavar="USDC",
        read="service.clients.profile.config:read_usdc",
    ),
)
"""Taken by every command that may cost something."""

OFFERED = (*CONNECTING, *SHAPING, *PAYING)
"""Taken by every command that asks a priced route and shows its answer."""
