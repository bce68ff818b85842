"""Commands about the wallet that pays, and what it has paid."""

from service.clients.cli.command import SHAPING, Command

_JSON = SHAPING[0]

COMMANDS = (
    Command(
        "wallet show",
        "show the wallet that pays, the ceilings, and what is signed for today",
        "service.clients.cli.purse:show",
        (_JSON,),
        example="verdict wallet",
        bare=True,
    ),
    Command(
        "wallet receipts",
        "list the receipts kept on this machine, newest first; needs no service",
        "service.clients.cli.purse:receipts",
        (_JSON,),
        example="verdict wallet receipts",
    ),
)
