"""What makes a shell know the commands."""

from service.clients.cli.command import Argument, Command

COMMANDS = (
    Command(
        "completions",
        "print what makes a shell complete commands and options",
        "service.clients.cli.completions:show",
        (Argument("shell", "which", choices=("bash", "zsh", "fish")),),
        example="verdict completions bash",
        more="service.clients.cli.completions:how",
    ),
)
