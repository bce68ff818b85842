"""Entries for this server in the configuration files of MCP hosts. JSON is rewritten, TOML is appended to.

Sources: the hosts' documentation of `claude_desktop_config.json` (Claude Desktop), `mcp.json` (Cursor, VS Code) and
`config.toml` (Codex).
"""

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from service.client.errors import RefusalError

NAME: Final = "verdict"
"""Name of the entry."""

_SHOWN: Final = ("command", "args", "type")
"""Fields of an entry that are shown as they are; others may hold secrets."""

_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)

Entry = dict[str, Any]


def _read_json(text: str) -> Any:
    """Decode a JSON text. Raises `ValueError` also if writing it again would lose something."""
    return json.loads(text, object_pairs_hook=_without_repeats, parse_float=_as_written)


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"The key {json.dumps(twice[:60])} occurs twice in one object. Keep one of them.")
    return found


def _as_written(text: str) -> float:
    value = float(text)
    if math.isfinite(value) and repr(value) != text:
        raise ValueError(f"The number {text[:40]} would be written as {value!r}. Write it like that, or as a string.")
    return value


class Host(NamedTuple):
    """One MCP host.

    Attributes:
        title: Its name.
        path: Path of its file, by environment variables and `sys.platform`.
        table: Key of the table of servers.
        fixed: Further fields of the entry.
        parse: Document of a text; raises `ValueError`.
    """

    title: str
    path: Callable[[Mapping[str, str], str], Path]
    table: str = "mcpServers"
    fixed: Mapping[str, Any] = {}
    parse: Callable[[str], Any] = _read_json


def with_entry(host: Host, path: Path, text: str, entry: Entry) -> str:
    """The text of a configuration file with an entry for this server; the same text if it has that entry.

    An entry that starts a command keeps its other fields and variables, in JSON. In TOML it is not changed.

    Raises:
        RefusalError: If the text is not valid, or the entry cannot be written without changing something else.
    """
    wanted = {**host.fixed, **entry}
    before = _parsed(host, path, text, wanted)
    servers = before.get(host.table, {})
    if not isinstance(servers, dict):
        raise RefusalError(f"{path}: {host.table} is not a table of servers. Correct it. Nothing was changed.")
    old = servers.get(NAME)
    if isinstance(old, dict) and "command" in old:
        variables, arguments = old.get("env") or {}, old.get("args")
        if not isinstance(variables, dict):
            raise RefusalError(f"{path}: env of {NAME} is not a table of variables. Correct it. Nothing was changed.")
        env = {**{name: value for name, value in variables.items() if name != "VERDICT_URL"}, **entry.get("env", {})}
        kept = {name: value for name, value in old.items() if name != "env"}
        wanted = {**kept, **wanted, **({"env": env} if env else {})}
        if isinstance(arguments, list) and arguments[: len(entry["args"])] == entry["args"]:
            wanted["args"] = arguments  # with options that were added by hand
    if old == wanted:
        return text
    document = {**before, host.table: {**servers, NAME: wanted}}
    try:
        after = _json(text, document) if host.parse is _read_json else _toml(text, host.table, wanted)
        if after.encode() and host.parse(after) == document:
            return after
    except (ValueError, TypeError):  # a date in TOML
        pass
    if old is not None:
        way = f"The entry {NAME} exists and cannot be changed automatically. Delete it and run this command again."
    else:
        is_json = host.parse is _read_json
        by_hand = json.dumps({NAME: wanted}, ensure_ascii=False)[1:-1] if is_json else f"{NAME} = {_inline(wanted)}"
        way = f"The form of {host.table} cannot be extended automatically. Add to it by hand: {by_hand}"
    raise RefusalError(f"{path}: Nothing was changed. {way}")


def shown(host: Host, before: str, after: str) -> list[str]:
    """Lines that show the new entry, its variables masked but for the service's URL, and what is lost of an old one.

    Args:
        host: Whose file it is.
        before: The text of the file.
        after: The text by `with_entry`.
    """
    if host.parse is not _read_json:
        return after.removeprefix(before).strip().splitlines()
    entry = host.parse(after)[host.table][NAME]
    masked = {name: value if name in _SHOWN else "..." for name, value in entry.items()}
    if "env" in entry:
        masked["env"] = {name: value if name == "VERDICT_URL" else "..." for name, value in entry["env"].items()}
    lines = json.dumps({host.table: {NAME: masked}}, indent=2, ensure_ascii=False).splitlines()
    old = host.parse(before).get(host.table, {}).get(NAME, {}) if before.strip() else {}
    lost = [name for name in old if name not in entry] if isinstance(old, dict) else []
    return [*lines, *([f"The old entry's {' and '.join(lost)} will be removed."] if lost else [])]


def _parsed(host: Host, path: Path, text: str, entry: Entry) -> dict[str, Any]:
    try:
        found = host.parse(text) if text.strip() else {}
    except (json.JSONDecodeError, RecursionError) as error:
        by_hand = json.dumps({host.table: {NAME: entry}}, ensure_ascii=False)
        raise RefusalError(
            f"{path} is not valid JSON: {error}. Nothing was changed. Correct it. If it holds comments, which are not "
            f"supported, add this by hand: {by_hand}"
        ) from None
    except ValueError as error:
        reason = f": {error}" if host.parse is _read_json else f" is not valid TOML: {error}. Correct it."
        raise RefusalError(f"{path}{reason} Nothing was changed.") from None
    if not isinstance(found, dict):
        raise RefusalError(f"{path} does not hold a JSON object. Correct it. Nothing was changed.")
    return found


def _json(text: str, document: Mapping[str, Any]) -> str:
    """A document as JSON, with the indent, line ends and character set of a text."""
    indent = found[1] if (found := _INDENT.search(text)) else "  "
    after = json.dumps(document, indent=indent, ensure_ascii=text.isascii(), allow_nan=False) + "\n"
    return after.replace("\n", "\r\n") if "\r\n" in text else after


def _inline(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_inline(inner)}' for name, inner in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _toml(text: str, table: str, entry: Entry) -> str:
    """A text with a table appended. The result is not valid TOML if the text already has the table."""
    lines = [f"[{table}.{NAME}]", *(f"{name} = {_inline(value)}" for name, value in entry.items())]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + "\n".join(lines) + "\n"


def _home(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("HOME", ""))
    if not home.is_absolute():
        raise RefusalError("HOME is not set, so the folder of the configuration file is not known. Set HOME.")
    return home


def _of_claude(environment: Mapping[str, str], platform: str) -> Path:
    folder = "Library/Application Support" if platform == "darwin" else ".config"
    return _home(environment) / folder / "Claude" / "claude_desktop_config.json"


def _of_codex(environment: Mapping[str, str], _platform: str) -> Path:
    chosen = environment.get("CODEX_HOME")
    return (Path(chosen) if chosen else _home(environment) / ".codex") / "config.toml"


HOSTS: Final[Mapping[str, Host]] = {
    "claude": Host("Claude Desktop", _of_claude),
    "cursor": Host("Cursor", lambda environment, _platform: _home(environment) / ".cursor" / "mcp.json"),
    "vscode": Host("VS Code", lambda *_: Path.cwd() / ".vscode" / "mcp.json", "servers", {"type": "stdio"}),
    "codex": Host("Codex", _of_codex, "mcp_servers", parse=tomllib.loads),
}


def entry_of(command: Sequence[str], url: str | None) -> Entry:
    """The entry that starts this server by a command (`verdict` and its first arguments), for a service at a URL."""
    program, *arguments = command
    return {"command": program, "args": [*arguments, "mcp"], **({"env": {"VERDICT_URL": url}} if url else {})}
