"""The classes of the command table. Imports almost nothing: the table is loaded at every start."""

from __future__ import annotations

import gc

# `signal` itself takes four milliseconds to load.
from _signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask  # type: ignore[import-not-found]
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CATALOGUE = f"{__file__.removesuffix('command.py')}catalogue.json"
"""Path of the commands of the offers, written by `make commands`."""

_LONGEST_CHOICES = 20
"""Letters: a longer list of choices gets a name in the usage, and is listed in the help text."""


class Arguments(SimpleNamespace):
    """Parsed values of a command line by name (`max_price` of `--max-price`), with the `command` itself."""


class Argument(NamedTuple):
    """One argument or option of a command.

    Attributes:
        name: `symbol` for a positional argument, `--count` for an option.
        summary: Help text, lower case, the default in brackets.
        kind: `text`, `number` (an integer), or `flag`.
        choices: Allowed values, if the list is closed.
        default: Value if it is not given.
        metavar: Placeholder in the help.
        required: Whether an option must be given.
        exclusive: Options with the same word here exclude each other.
        parse: `module:function` that parses the text and raises `ValueError` with what is wrong.
        parameter: Query or path parameter of the offer that it sets; a flag sets it to 1.
    """

    name: str
    summary: str
    kind: str = "text"
    choices: tuple[str, ...] = ()
    default: object = None
    metavar: str = ""
    required: bool = False
    exclusive: str = ""
    parse: str = ""
    parameter: str = ""

    @property
    def named(self) -> bool:
        """Whether it is an option."""
        return self.name.startswith("--")

    @property
    def key(self) -> str:
        """Name of its value: `max_price` of `--max-price`."""
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def shown(self) -> str:
        """Placeholder of its value in the help: `SYMBOL`, `h|d`."""
        if self.metavar:
            return self.metavar
        choices = "|".join(self.choices)
        return choices if 0 < len(choices) <= _LONGEST_CHOICES else self.key.upper()


class CommandRoute(NamedTuple):
    """The API route of a command.

    Attributes:
        path: Path template: `/api/cli/coin/risk/{symbol}`.
        price: USDC per call once the quota is spent, as decimal text; empty if the route is free and never counted.
        entries: Name of the list in the answer's data, if the answer is a list.
        public: Whether it is called without a token.
        envelope: Whether the answer is in the envelope.
        view: Function of `show` that shows the answer; empty if it is named after the offer.
    """

    path: str
    price: str = ""
    entries: str = ""
    public: bool = False
    envelope: bool = True
    view: str = ""


class Command(NamedTuple):
    """One command.

    Attributes:
        words: As typed after `verdict`: `coin risk`.
        summary: What it does, lower case, without a full stop.
        run: `module:function` of (arguments, environment) that returns the exit code.
        arguments: Its arguments and options.
        example: A complete line: `verdict coin risk BTC`.
        offer: Id of its offer, if it has one.
        route: Its route, if the command only calls it and shows the answer.
        fixed: Parameters that the command sets itself: `(("action", "history"),)`.
        default: Whether it runs if its last word is left out: `regime` runs `regime active`.
    """

    words: str
    summary: str
    run: str
    arguments: tuple[Argument, ...] = ()
    example: str = ""
    offer: str = ""
    route: CommandRoute | None = None
    fixed: tuple[tuple[str, str], ...] = ()
    default: bool = False


class LazyCommand(NamedTuple):
    """A Click command or group that is imported when it is used.

    Attributes:
        words: Its name: `mcp`.
        summary: One sentence for the help of `verdict`.
        where: `module:name` of the Click command.
    """

    words: str
    summary: str
    where: str


if TYPE_CHECKING:
    Sections = Sequence[tuple[str, Sequence[Command | LazyCommand]]]

CONNECTING = (Argument("--url", "the service (VERDICT_URL, else what is configured)", metavar="URL"),)
"""Options of every command that calls a service."""

SHAPING = (
    Argument(
        "--json",
        "print the answer as JSON, as is done where the output is no terminal",
        kind="flag",
        exclusive="format",
    ),
    Argument("--ndjson", "print a JSON object a line: the entries of a list", kind="flag", exclusive="format"),
    Argument("--csv", "print comma-separated values, where there are entries", kind="flag", exclusive="format"),
    Argument(
        "--fields",
        "only these fields, by name, parted by commas",
        metavar="A,B",
        parse="service.cli.output_format:names_in",
    ),
)
"""Options of every command that shows data."""

PAYING = (
    Argument("--dry-run", "show the request and its price, and send nothing", kind="flag"),
    Argument("--yes", "pay without asking, below the ceilings", kind="flag"),
    Argument(
        "--max-price",
        "most that this call may cost, in USDC (0.10)",
        metavar="USDC",
        parse="service.client.config:read_usdc",
    ),
)
"""Options of every command that may cost something."""

OFFERED = (*CONNECTING, *SHAPING, *PAYING)
"""Options of every command that calls a priced route and shows its answer."""


def load(where: str) -> Callable[..., Any]:
    """The function at `module:function`."""
    module, _, name = where.partition(":")
    # Extension modules that are interrupted while they load bring the interpreter down: an interrupt waits so long.
    before = pthread_sigmask(SIG_BLOCK, (SIGINT,))
    gc.disable()  # a fifth of the time goes into looking for garbage in modules, which have none
    try:
        # What importlib offers for this takes a millisecond to load.
        function: Callable[..., Any] = getattr(__import__(module, None, None, (name,)), name)
    finally:
        gc.freeze()
        gc.enable()
        pthread_sigmask(SIG_SETMASK, before)
    return function
