"""The same commands as verdict's, as Typer would have them: for the time that its help takes."""

from collections.abc import Callable

import typer

from service.cli.commands import SECTIONS

app = typer.Typer()


def body(summary: str) -> Callable[[str, int, str, bool], None]:
    def run(symbol: str, count: int = 24, unit: str = "h", json: bool = False) -> None:
        typer.echo(f"{symbol} {count} {unit} {json}")

    run.__doc__ = summary
    return run


groups: dict[str, typer.Typer] = {}
for command in (command for _, commands in SECTIONS for command in commands):
    first, _, rest = command.words.partition(" ")
    if rest and first not in groups:
        groups[first] = typer.Typer()
        app.add_typer(groups[first], name=first)
    (groups[first] if rest else app).command(rest or first)(body(command.summary))

if __name__ == "__main__":
    app()
