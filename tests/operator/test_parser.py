from service.clients.cli.arguments import read
from service.clients.cli.words import find
from service.operator.rows import COMMANDS


def test_a_command_names_the_function_that_runs_it() -> None:
    typed = find(["keys", "revoke", "verdict_sk_abcdefgh"], COMMANDS)
    assert typed.command is not None
    assert read(typed.command, typed.rest).run == "service.operator.keys:revoke"
