"""Click commands that call one API route, made from rows of the table."""

from typing import Any, Final

import click

from service.cli.commands import CatalogueRow, RouteParameter, load
from service.cli.environment import PAYING, SHAPING, Utf8Text, VerdictCommand, WholeNumber, exclude, url_option

_LONGEST_CHOICES: Final = 20
"""Letters: a longer list of choices gets a name in the usage, and is listed in the help text."""


class RouteCommand(VerdictCommand):
    """A command that calls one route and shows its answer."""

    def __init__(self, row: CatalogueRow) -> None:
        super().__init__(
            row.words.split()[-1],
            params=[_parameter(parameter) for parameter in row.parameters],
            help=f"{row.summary[0].upper()}{row.summary[1:]}.",
            short_help=row.summary,
            example=row.example,
        )
        self.row = row
        for add in (url_option, *SHAPING, *(PAYING if row.price else PAYING[:1])):
            add(self)

    def invoke(self, ctx: click.Context) -> int:
        """Call the route and show its answer; the exit code."""
        exclude(ctx, ["as_json", "ndjson", "csv"])
        code: int = load("service.cli.calling:call")(self.row, ctx.obj, ctx.params)
        return code


def _parameter(parameter: RouteParameter) -> click.Parameter:
    kind: click.ParamType[Any] = WholeNumber() if parameter.kind == "number" else Utf8Text()
    if parameter.choices:
        kind = click.Choice(parameter.choices)
    choices = "|".join(parameter.choices)
    is_long = len(choices) > _LONGEST_CHOICES
    metavar = parameter.metavar or ("" if is_long else choices) or parameter.name.upper()
    if not parameter.typed:
        return click.Argument([parameter.name], type=kind, metavar=metavar, help=parameter.help)
    text = f"{parameter.help.removesuffix('.')}: {', '.join(parameter.choices)}." if is_long else parameter.help
    if parameter.kind == "flag":
        return click.Option([parameter.typed, parameter.name], is_flag=True, help=text)
    return click.Option(
        [parameter.typed, parameter.name], type=kind, metavar=metavar, required=parameter.required, help=text
    )
