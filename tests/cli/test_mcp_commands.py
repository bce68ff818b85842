"""`verdict mcp install`: what becomes of the configuration file of a host."""

import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from service.client import credentials
from service.client.credentials import StoredCredential
from service.interpreter import command_line
from service.mcp import serving
from tests.cli.commanding import Terminal, Told, typed

ENTRY = {"command": "/opt/bin/verdict", "args": ["mcp"]}
BARE = '{"mcpServers": {"verdict": {"command": "/opt/bin/verdict", "args": ["mcp"]}}}'
URL = "http://127.0.0.1:8402"


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/verdict"])
    monkeypatch.setattr(sys, "platform", "linux")


def install(home: Path, client: str, *words: str, **environment: str) -> Told:
    return typed("mcp", "install", "--client", client, *words, environment={"HOME": str(home), **environment})


def cursor(home: Path, text: str) -> Path:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("client", "name", "table", "entry"),
    [
        ("claude", ".config/Claude/claude_desktop_config.json", "mcpServers", ENTRY),
        ("cursor", ".cursor/mcp.json", "mcpServers", ENTRY),
        ("vscode", ".vscode/mcp.json", "servers", {"type": "stdio", **ENTRY}),
    ],
)
def test_a_missing_file_is_created_with_the_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str, name: str, table: str, entry: Mapping[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    told = install(tmp_path, client, "--yes")
    assert told.code == 0
    assert '    "verdict": {\n' in told.out
    assert json.loads((tmp_path / name).read_text()) == {table: {"verdict": entry}}


def test_claude_desktop_has_its_file_elsewhere_on_macos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert install(tmp_path, "claude", "--yes").code == 0
    assert (tmp_path / "Library/Application Support/Claude/claude_desktop_config.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t"mcpServers": {\n\t\t"other": {"command": "x", "env": {"KEY": "secret"}}\n\t},\n\t"z": [1,2,  3]\n}',
        '{\r\n    "z": [1,2,  3],\r\n    "mcpServers": {\r\n    }\r\n}\r\n',
        '{"z": "caf\u00e9"}',
        '{"z": "caf\\u00e9"}',
        '{\n  "z": [1,2,  3],\n  "mcpServers": {"verdict": {"url": "http://127.0.0.1:8403/mcp"}, "other": {}}\n}\n',
        "{}",
        " \n",
        "",
    ],
)
def test_everything_else_in_a_json_file_keeps_its_value_and_the_file_its_indent_and_line_ends(
    tmp_path: Path, text: str
) -> None:
    path = cursor(tmp_path, text)
    told = install(tmp_path, "cursor", "--yes")
    assert ("The old entry's url will be removed." in told.out) == ("url" in text)
    after = path.read_bytes().decode()
    before = json.loads(text) if text.strip() else {}
    assert told.code == 0
    assert json.loads(after) == {**before, "mcpServers": {**before.get("mcpServers", {}), "verdict": ENTRY}}
    assert ("\r\n    " in after, "\n\t\t" in after) == ("\r\n    " in text, "\n\t\t" in text)
    assert ("\u00e9" in after, "\\u00e9" in after) == ("\u00e9" in text, "\\u00e9" in text)
    assert "secret" not in told.out + told.err
    assert path.with_name("mcp.json.bak").read_bytes().decode() == text
    assert "nothing to change in" in install(tmp_path, "cursor", "--yes").err


def test_an_entry_that_starts_a_command_keeps_its_other_fields_and_variables(tmp_path: Path) -> None:
    env = {"VERDICT_TOKEN": "t", "VERDICT_URL": "http://old"}
    old = {"command": "old", "args": ["mcp", "--pay"], "env": env, "headers": {"X": "s3cret"}, "key": "s3cret"}
    path = cursor(tmp_path, json.dumps({"mcpServers": {"verdict": old}}))
    told = install(tmp_path, "cursor", "--yes")
    entry = {
        **ENTRY,
        "args": ["mcp", "--pay"],
        "env": {"VERDICT_TOKEN": "t"},
        **{name: old[name] for name in ("headers", "key")},
    }
    assert json.loads(path.read_text()) == {"mcpServers": {"verdict": entry}}
    assert path.with_name("mcp.json.bak").exists()
    shown = {**entry, "env": {"VERDICT_TOKEN": "..."}, "headers": "...", "key": "..."}
    assert json.loads(told.out.partition("\n")[2]) == {"mcpServers": {"verdict": shown}}


def test_a_second_change_keeps_the_first_backup_and_names_another_service(tmp_path: Path) -> None:
    path = cursor(tmp_path, "{}")
    path.chmod(0o640)
    install(tmp_path, "cursor", "--yes")
    install(tmp_path, "cursor", "--yes", VERDICT_URL="https://verdict.example.org/")
    entry = json.loads(path.read_text())["mcpServers"]["verdict"]
    assert entry == {**ENTRY, "env": {"VERDICT_URL": "https://verdict.example.org"}}
    assert path.with_name("mcp.json.bak").read_text() == "{}"
    assert path.with_name("mcp.json.bak1").exists()
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o640}


@pytest.mark.parametrize("text", ["", '# mine\nmodel = "x"', '[mcp_servers.docs]\ncommand = "d"\n'])
def test_a_toml_file_gets_a_table_at_its_end(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    told = install(tmp_path, "codex", "--yes", "--url", "https://v.example.org", CODEX_HOME=str(tmp_path))
    after = path.read_text()
    assert (told.code, told.out) == (0, f"{path}:\n{after.removeprefix(text).lstrip()}")
    assert after.startswith(text)
    entry = {**ENTRY, "env": {"VERDICT_URL": "https://v.example.org"}}
    assert tomllib.loads(after)["mcp_servers"]["verdict"] == entry


@pytest.mark.parametrize(
    ("client", "text", "told"),
    [
        (
            "cursor",
            '{"a": 1, // mine\n}',
            f"If it holds comments, which are not supported, add this by hand: {BARE}\n",
        ),
        ("cursor", "[" * 9_999, "is not valid JSON: "),
        (
            "cursor",
            '{"z": [{"a": {"b": 1}, "a": {"c": 2}}]}',
            'The key "a" occurs twice in one object. Keep one of them. ',
        ),
        ("cursor", '{"z": 1.50}', "The number 1.50 would be written as 1.5. Write it like that, or as a string. "),
        ("cursor", f'{{"z": 0.{"1" * 99}}}', "would be written as 0.1111111111111111. "),
        ("cursor", "[]", "does not hold a JSON object"),
        ("cursor", '{"z": 1e999}', "The form of mcpServers cannot be extended"),
        ("cursor", '{"z": "\u00e9\\ud800"}', "The form of mcpServers cannot be extended"),
        ("cursor", '{"mcpServers": []}', "mcpServers is not a table of servers"),
        ("cursor", '{"mcpServers": {"verdict": {"command": "a", "env": ["x"]}}}', "Correct it. "),
        ("codex", "a = ", "is not valid TOML"),
        (
            "codex",
            '[mcp_servers.verdict]\ncommand = "other"\n',
            "The entry verdict exists and cannot be changed automatically.",
        ),
        ("codex", 'mcp_servers = { docs = { command = "d" } }\n', "by hand: verdict = { command = "),
    ],
)
def test_a_file_that_cannot_be_changed_safely_stays_as_it_is(tmp_path: Path, client: str, text: str, told: str) -> None:
    path = tmp_path / ".codex" / "config.toml" if client == "codex" else cursor(tmp_path, "")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    refused = install(tmp_path, client, "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert told in refused.err
    assert "Nothing was changed." in refused.err
    assert [file.read_text() for file in path.parent.iterdir()] == [text]


def test_without_a_terminal_the_change_is_only_shown(tmp_path: Path) -> None:
    path = cursor(tmp_path, "{}")
    told = install(tmp_path, "cursor")
    assert told.code == 1
    assert '"/opt/bin/verdict"' in told.out
    assert told.err == f"verdict: {path} was not changed. Run this command again with --yes to write it.\n"
    assert path.read_text() == "{}"


@pytest.mark.parametrize(("reply", "written"), [("y\n", True), ("Yes\n", True), ("n\n", False), ("", False)])
def test_a_person_is_asked_before_the_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: str, written: bool
) -> None:
    path = cursor(tmp_path, "{}")
    monkeypatch.setattr(sys, "stdin", Terminal(reply))
    words = ("mcp", "install", "--client", "cursor")
    told = typed(*words, environment={"HOME": str(tmp_path)}, terminal=True)
    assert told.code == (0 if written else 1)
    assert f"Write {path}? [y/N] " in told.err
    assert ("verdict" in path.read_text()) is written


def test_what_a_host_needs_besides_is_said(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    told = install(tmp_path, "claude", "--yes", **environment)
    assert f"No API key is stored for {URL}." in told.err
    assert "claude mcp add verdict -- /opt/bin/verdict mcp\n" in told.err
    credentials.keep(environment, URL, StoredCredential("verdict_sk_a", "api_key", None, None), keyring=False)
    assert "API key" not in install(tmp_path, "claude", "--yes", **environment).err


def test_without_a_home_folder_it_says_to_set_one() -> None:
    told = typed("mcp", "install", "--client", "cursor", "--yes", environment={})
    assert (told.code, "Set HOME." in told.err) == (1, True)


def test_a_file_that_is_not_text_is_named_and_left_alone(tmp_path: Path) -> None:
    path = cursor(tmp_path, "")
    path.write_bytes(b"\xff")
    told = install(tmp_path, "cursor", "--yes")
    assert (told.code, f"{path} cannot be read: it is not UTF-8 text." in told.err) == (1, True)
    assert [file.read_bytes() for file in path.parent.iterdir()] == [b"\xff"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / ".cursor").write_text("a file")
    told = install(tmp_path, "cursor", "--yes")
    assert told.code == 1
    assert "mcp.json cannot be written" in told.err


@pytest.mark.parametrize("script", ["/opt/bin/verdict", "/opt/service/__main__.py"])
def test_the_host_starts_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(sys, "argv", [script])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    program, *rest = command_line()
    assert Path(program).is_absolute()
    assert rest == ([] if script == "/opt/bin/verdict" else ["-m", "service"])


def test_mcp_alone_serves_and_hands_on_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr(serving, "serve", lambda *args, **options: served.append((args, options)))
    assert typed("mcp", "--http", "--port", "0", "--budget", "5000", "--url", "http://127.0.0.1:9").code == 0
    options = {"http": True, "port": 0, "budget": 5000, "pay": False}
    assert served == [(("http://127.0.0.1:9", {}), options)]
    assert "--url" in typed("mcp", "--url", "ftp://somewhere").err
