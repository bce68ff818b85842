"""Entries for this server in the configuration files of MCP hosts, written into the text: the rest stays as it is.

Sources: the hosts' documentation of `claude_desktop_config.json` (Claude Desktop), `mcp.json` (Cursor, VS Code) and
`config.toml` (Codex).
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from service.client.errors import RefusalError

NAME: Final = "verdict"
"""Name of the entry."""

Entry = dict[str, Any]


class Host(NamedTuple):
    """One MCP host.

    Attributes:
        title: Its name.
        path: Path of its file, by environment variables and `sys.platform`.
        table: Key of the table of servers.
        fixed: Further fields of the entry.
        insert: Text with the entry, by the text, the key of the table and the entry.
        parse: Document of a text; raises `ValueError`.
    """

    title: str
    path: Callable[[Mapping[str, str], str], Path]
    table: str
    fixed: Entry
    insert: Callable[[str, str, Entry], str]
    parse: Callable[[str], Any]


def with_entry(host: Host, path: Path, text: str, entry: Entry) -> str:
    """The text of a configuration file with an entry for this server, the same text if the entry is there already.

    An entry that starts a command keeps its other fields and variables, in JSON. In TOML it is not changed.

    Raises:
        RefusalError: If the text is not valid, or the entry cannot be written without changing something else.
    """
    before = _parsed(host, path, text)
    servers = before.get(host.table, {})
    if not isinstance(servers, dict):
        raise RefusalError(f"{path}: {host.table} is not a table of servers. Correct it; nothing was changed.")
    old = servers.get(NAME)
    wanted = {**host.fixed, **entry}
    if isinstance(old, dict) and "command" in old:
        variables, arguments = old.get("env") or {}, old.get("args")
        if not isinstance(variables, dict):
            raise RefusalError(f"{path}: env of {NAME} is not a table of variables. Correct it; nothing was changed.")
        env = {**{name: value for name, value in variables.items() if name != "VERDICT_URL"}, **entry.get("env", {})}
        kept = {name: value for name, value in old.items() if name != "env"}
        wanted = {**kept, **wanted, **({"env": env} if env else {})}
        if isinstance(arguments, list) and arguments[: len(entry["args"])] == entry["args"]:
            wanted["args"] = arguments  # with options that were added by hand
    if old == wanted:
        return text
    try:
        after = host.insert(text, host.table, wanted)
        if host.parse(after) == {**before, host.table: {**servers, NAME: wanted}}:
            return after
    except ValueError:
        pass
    way = (
        f"its {NAME} entry is another, and is not changed automatically. Delete it and run this command again"
        if old is not None
        else f"its {host.table} has a form that is not extended automatically. Add {NAME} by hand"
    )
    raise RefusalError(f"{path}: {way}; nothing was changed.")


def _parsed(host: Host, path: Path, text: str) -> dict[str, Any]:
    try:
        found = host.parse(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        reason = f"is not valid {'TOML' if host.parse is tomllib.loads else 'JSON (comments are not supported)'}"
        raise RefusalError(f"{path} {reason}: {error}. Correct it; nothing was changed.") from None
    if not isinstance(found, dict):
        raise RefusalError(f"{path} does not hold a JSON object. Correct it; nothing was changed.")
    return found


_SPACE: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)


def _insert_json(text: str, table: str, entry: Entry) -> str:
    """Set `table.verdict` in a JSON text, in the text's own indent and line ends."""
    indented = _INDENT.search(text)
    unit = indented[1] if indented else "  "
    text = text if text.strip() else "{}\n"
    start = _after_space(text, 0)
    members = _members(text, start)
    if table in members:
        return _set(text, members[table][0], NAME, entry, unit, 2)
    return _set(text, start, table, {NAME: entry}, unit, 1)


def _set(text: str, start: int, key: str, value: Any, unit: str, depth: int) -> str:
    """Set a member of the object that begins at `start` and whose members are indented `depth` times."""
    members = _members(text, start)
    line = "\r\n" if "\r\n" in text else "\n"
    inside = start + 1
    rest = text[_after_space(text, inside) :]
    is_one_line = bool(members) and "\n" not in text[inside : len(text) - len(rest)]
    written = json.dumps(value, indent=None if is_one_line else unit, ensure_ascii=False)
    written = written.replace("\n", line + unit * depth)
    if key in members:
        first, last = members[key]
        return text[:first] + written + text[last:]
    # A new member comes first, so that no other line changes.
    member = f"{json.dumps(key)}: {written}"
    if is_one_line:
        return f"{text[:inside]}{member}, {rest}"
    outer = "," + text[inside:] if members else f"{line}{unit * (depth - 1)}{rest}"
    return f"{text[:inside]}{line}{unit * depth}{member}{outer}"


def _members(text: str, start: int) -> dict[str, tuple[int, int]]:
    """Where the values of an object begin and end. The text is valid JSON."""
    decode = json.JSONDecoder().raw_decode
    spans: dict[str, tuple[int, int]] = {}
    at = _after_space(text, start + 1)
    while text[at] != "}":
        key, at = decode(text, at)
        first = _after_space(text, _after_space(text, at) + 1)
        _, last = decode(text, first)
        spans[key] = (first, last)
        at = _after_space(text, last)
        at = _after_space(text, at + 1) if text[at] == "," else at
    return spans


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _insert_toml(text: str, table: str, entry: Entry) -> str:
    """Append a table to a TOML text. The result is not valid if the table is there already."""
    env = ", ".join(f"{name} = {_quoted(value)}" for name, value in entry.get("env", {}).items())
    lines = [
        f"[{table}.{NAME}]",
        f"command = {_quoted(entry['command'])}",
        f"args = [{', '.join(map(_quoted, entry['args']))}]",
        *([f"env = {{ {env} }}"] if env else []),
    ]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _in_home(*names: str) -> Callable[[Mapping[str, str], str], Path]:
    return lambda environment, _platform: _home(environment).joinpath(*names)


def _home(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("HOME", ""))
    if not home.is_absolute():
        raise RefusalError("HOME is not set, so the folder of the configuration is not known. Set HOME.")
    return home


def _of_claude(environment: Mapping[str, str], platform: str) -> Path:
    folder = ("Library", "Application Support") if platform == "darwin" else (".config",)
    return _home(environment).joinpath(*folder, "Claude", "claude_desktop_config.json")


def _of_codex(environment: Mapping[str, str], _platform: str) -> Path:
    chosen = environment.get("CODEX_HOME")
    return (Path(chosen) if chosen else _home(environment) / ".codex") / "config.toml"


HOSTS: Final[Mapping[str, Host]] = {
    "claude": Host("Claude Desktop", _of_claude, "mcpServers", {}, _insert_json, json.loads),
    "cursor": Host("Cursor", _in_home(".cursor", "mcp.json"), "mcpServers", {}, _insert_json, json.loads),
    "vscode": Host(
        "VS Code",
        lambda _environment, _platform: Path.cwd() / ".vscode" / "mcp.json",
        "servers",
        {"type": "stdio"},
        _insert_json,
        json.loads,
    ),
    "codex": Host("Codex", _of_codex, "mcp_servers", {}, _insert_toml, tomllib.loads),
}


def entry_of(command: Sequence[str], url: str | None) -> Entry:
    """The entry that starts this server.

    Args:
        command: The program and its first arguments: the path of `verdict`.
        url: The service, if it is not the default one.
    """
    program, *arguments = command
    return {
        "command": program,
        "args": [*arguments, "mcp"],
        **({"env": {"VERDICT_URL": url}} if url else {}),
    }
