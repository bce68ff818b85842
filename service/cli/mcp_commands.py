"""`verdict mcp` serves tools to agents; `verdict mcp install` sets up the programs that use them."""

import shlex
import sys
from itertools import count
from pathlib import Path

import click

from service.cli.environment import Environment, VerdictGroup, url_option
from service.cli.terminal import agrees, can_ask, safe, tell
from service.client import config, credentials
from service.client.caller import url_of
from service.client.errors import DONE, FAILED, RefusalError
from service.client.files import write_whole
from service.interpreter import command_line
from service.mcp.host_config import HOSTS, entry_of, shown, with_entry

group = VerdictGroup(
    "mcp",
    default="serve",
    help="Serve tools to agents by the Model Context Protocol.",
    epilog="`verdict mcp` is short for `verdict mcp serve`.",
)


@group.command(
    "serve", short_help="Serve over standard input and output, or over HTTP.", example="verdict mcp serve --http"
)
@click.option("--http", is_flag=True, help="Listen on this machine; each caller brings its own API key.")
@click.option("--port", type=int, metavar="PORT", help="Where to listen with --http (8403).")
@click.option("--budget", type=int, metavar="BYTES", help="Most bytes of an answer (24576).")
@click.option("--pay", is_flag=True, help="Pay for calls below the ceilings, without asking; not with --http.")
@url_option
@click.pass_obj
def serve(
    environment: Environment, *, http: bool, port: int | None, budget: int | None, pay: bool, url: str | None
) -> int:
    """Serve tools by the Model Context Protocol, over standard input and output or over HTTP."""
    from service.mcp import serving  # noqa: PLC0415 - `install` does not need the protocol

    variables = environment.variables
    serving.serve(url_of(url, variables), variables, http=http, port=port, budget=budget, pay=pay)
    return DONE


@group.command(
    "install", short_help="Set up the program that uses the tools.", example="verdict mcp install --client cursor"
)
@click.option("--client", type=click.Choice(tuple(HOSTS)), required=True, help="The program.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@url_option
@click.pass_obj
def install(environment: Environment, *, client: str, yes: bool, url: str | None) -> int:
    """Write the configuration of a program so that it starts `verdict mcp`.

    Shows the change, asks, and keeps a copy of the file beside it.
    """
    host, service = HOSTS[client], url_of(url, environment.variables)
    command = command_line()
    path = host.path(environment.variables, sys.platform)
    try:
        content = path.read_bytes() if path.exists() else b""
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise RefusalError(f"{path} cannot be read: {reason}. Correct that and run this command again.") from None
    changed = with_entry(host, path, text, entry_of(command, None if service == config.URL else service))
    if changed == text:
        tell(f"{host.title} already starts Verdict. There is nothing to change in {path}.")
    else:
        sys.stdout.writelines(f"{safe(line)}\n" for line in (f"{path}:", *shown(host, text, changed)))
        sys.stdout.flush()
        if not yes and not can_ask():
            raise RefusalError(f"{path} was not changed. Run this command again with --yes to write it.")
        if not yes and not agrees(f"Write {path}?"):
            tell("Nothing was changed.")
            return FAILED
        _write(path, content, changed)
        tell(f"Restart {host.title} to use the tools.")
    if client == "claude":
        variable = "" if service == config.URL else f" --env {shlex.quote(f'VERDICT_URL={service}')}"
        tell(f"Claude Code has its own command: claude mcp add verdict{variable} -- {shlex.join([*command, 'mcp'])}")
    if credentials.find(environment.variables, service) is None:
        at = "" if service == config.URL else f" --url {service}"
        tell(f"No API key is stored for {service}. Run `verdict login --token{at}` before you use the tools.")
    return DONE


def _write(path: Path, before: bytes, after: str) -> None:
    """Replace the file, after keeping what is there under a new name. The file keeps its mode."""
    try:
        if (path.read_bytes() if path.exists() else b"") != before:
            raise RefusalError(
                f"Another program changed {path} meanwhile. Nothing was written. Run this command again."
            )
        if path.exists():
            mode = path.stat().st_mode & 0o777
            names = (path.with_name(f"{path.name}.bak{number or ''}") for number in count())
            backup = next(name for name in names if not name.exists())
            write_whole(backup, before)
            write_whole(path, after.encode())
            for written in (backup, path):
                written.chmod(mode)
            tell(f"Wrote {path}. The former file is {backup}.")
        else:
            write_whole(path, after.encode())
            tell(f"Wrote {path}.")
    except OSError as error:
        raise RefusalError(
            f"{path} cannot be written: {error.strerror}. Nothing was changed. Correct that and run this command again."
        ) from None
