"""Commands about the person at the keyboard."""

from service.clients.cli.command import CONNECTING, SHAPING, Argument, Command

_JSON = SHAPING[0]
_NAMES = ("url", "keystore", "max-price", "max-day")
_NAME = Argument("name", "which", choices=_NAMES, metavar="NAME")
_CONFIG = "service.clients.cli.account.config"

COMMANDS = (
    Command(
        "whoami",
        "show whom the service takes you for, and your plan; costs nothing",
        "service.clients.cli.account.whoami:show",
        (_JSON, *CONNECTING),
        example="verdict whoami",
    ),
    Command(
        "keys rotate",
        "replace an API key of yours; the new one is shown this once",
        "service.clients.cli.account.keys:rotate",
        (
            Argument("prefix", "the key's display prefix, as `keys list --mine` shows it", metavar="PREFIX"),
            Argument("--grace", "how long the old one still works: 90m, 12h, 7d (0m)", default="0m", metavar="12h"),
            Argument("--json", "print the answer as JSON", kind="flag", apart="form"),
            *CONNECTING,
        ),
        example="verdict keys rotate verdict_sk_AbCd1234 --grace 12h",
    ),
    Command(
        "config list",
        "list what is chosen, and what holds where nothing is",
        f"{_CONFIG}:show",
        (_JSON,),
        example="verdict config list",
        bare=True,
    ),
    Command("config get", "print one value", f"{_CONFIG}:get", (_NAME,), example="verdict config get url"),
    Command(
        "config set",
        "choose one",
        f"{_CONFIG}:choose",
        (_NAME, Argument("value", "what it is to be", metavar="VALUE")),
        example="verdict config set max-price 0.05",
    ),
    Command("config unset", "choose it no more", f"{_CONFIG}:drop", (_NAME,), example="verdict config unset max-price"),
    Command("config path", "print where the choices are kept", f"{_CONFIG}:where", example="verdict config path"),
)
"""In the order of help."""
