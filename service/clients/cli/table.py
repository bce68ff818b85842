"""The table of the clients' commands, under the titles that help gives them. Imports nothing but rows."""

from service.clients.cli import catalogue
from service.clients.cli.rows import account, agents, asking, paying, shell, signin

SECTIONS = (
    ("ask and follow", asking.COMMANDS),
    ("read the market", catalogue.COMMANDS),
    ("you", (*signin.COMMANDS, *account.COMMANDS, *paying.COMMANDS)),
    ("other programs", (*agents.COMMANDS, *shell.COMMANDS)),
)
