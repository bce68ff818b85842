"""Somebody who has never seen it: every first thing one types or asks, and an answer that says what to do next."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.serving import PATIENCE_S, Serving, environment, live_at, run_verdict, serving

pytestmark = pytest.mark.process

RISK = "/api/cli/coin/risk/BTC"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


def told(service: Serving, path: str, key: str | None = None, method: str = "GET") -> tuple[int, str]:
    """Status and the error's message."""
    status, _, body = service.ask(path, key, method)
    return status, body["error"]["message"]


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "serve",
        "admin keys",
        "admin keys create",
        "admin keys list",
        "admin keys revoke",
        "admin grants",
        "admin grants add",
        "admin usage",
        "admin doctor",
        "admin backup",
    ],
)
def test_help_fits_a_terminal_of_80_columns_and_explains_every_word(typed: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "service", *typed.split(), "--help"],
        env={**environment({}), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.startswith(f"Usage: verdict {typed}".strip())
    for line in shown.splitlines():
        words = line.split("  ")
        assert not line.startswith("    ") or len(words) > 1


def test_help_leads_on_to_the_settings() -> None:
    assert "`verdict serve --help` lists the" in run_verdict("--help").stdout
    shown = run_verdict("serve", "--help").stdout
    for setting, choices in {"SOURCE": "fixtures: recorded upstreams; live: the real ones", "PORT": "8402"}.items():
        assert f"VERDICT_{setting}" in shown
        assert choices in shown


def test_a_command_without_its_rest_is_one_line_with_where_to_read_on() -> None:
    for typed in (
        "admin keys",
        "admin keys create",
        "admin grants add",
        "nonsense",
        "serve --workers many",
        "admin keys list --all",
    ):
        done = run_verdict(*typed.split())
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "--help`" in done.stderr
    assert "Usage: verdict" in run_verdict().stderr


def test_a_first_key_says_that_it_is_shown_once_and_which_service_it_opens(service: Serving) -> None:
    made = service.verdict("admin", "keys", "create", "--name", "me")
    assert service.ask(RISK, made.stdout.strip())[0] == 200
    assert "shown once" in made.stderr
    assert service.settings["data_dir"] in made.stderr


def test_a_key_that_does_not_open_says_why(service: Serving) -> None:
    key = service.make_key()
    for wrong, reason in {
        key[:-1] + ("x" if key[-1] != "x" else "y"): "Was it copied whole?",
        key[:25]: "verdict_sk_ and 36 characters",
        "sk-something-else": "neither an API key (verdict_sk_",
    }.items():
        status, message = told(service, RISK, wrong)
        assert status == 401
        assert reason in message
    status, message = told(service, RISK)
    assert status == 403
    assert "Authorization: Bearer" in message
    assert "verdict login" in message


def test_a_key_of_another_folder_is_not_known(service: Serving, tmp_path: Path) -> None:
    made = run_verdict("admin", "keys", "create", "--name", "me", data_dir=str(tmp_path))
    status, message = told(service, RISK, made.stdout.strip())
    assert (status, "not known to this service" in message) == (401, True)


@pytest.mark.promise("challenge.gate", "quota.402")
def test_a_spent_key_says_how_much_was_used_and_when_the_next_question_is_free(service: Serving) -> None:
    key = service.make_key()
    for _ in range(10):
        service.ask(RISK, key)
    status, fields, body = service.ask(RISK, key)
    assert status == 402
    assert "10 of 10 used" in body["error"]["message"]
    assert body["gate"]["reset_at"] in body["error"]["message"]
    assert body["gate"]["reset_at"].endswith("T00:00:00.000Z")
    assert {way["method"] for way in body["gate"]["unlock"]} == {"x402", "wait", "upgrade"}
    assert 0 < int(fields["ratelimit"].rpartition("t=")[2]) <= 86_400


@pytest.mark.parametrize(
    ("typed", "meant"), [("BITCOIN", "BTC"), ("BTCUSD", "BTC"), ("ETHUSD", "ETH"), ("SOLANA", "SOL")]
)
def test_an_unknown_symbol_names_the_one_that_was_meant(service: Serving, typed: str, meant: str) -> None:
    status, _, body = service.ask(f"/api/cli/coin/risk/{typed}", service.make_key())
    assert (status, body["error"]["code"]) == (404, "UNKNOWN_SYMBOL")
    assert meant in body["error"]["details"]["candidates"]
    assert meant in body["error"]["message"]


@pytest.mark.promise("symbols.case", "symbols.venue")
@pytest.mark.parametrize(
    ("typed", "meant"), [("xbt", "BTC"), ("1000PEPE", "PEPE"), ("KPEPE", "PEPE"), ("pepe", "PEPE"), ("eth", "ETH")]
)
def test_a_ticker_as_other_venues_write_it_is_answered_under_its_own(service: Serving, typed: str, meant: str) -> None:
    status, _, body = service.ask(f"/api/cli/coin/risk/{typed}", service.make_key())
    assert (status, body["data"]["symbol"]) == (200, meant)


def test_what_is_asked_wrongly_is_told_with_what_is_right(service: Serving) -> None:
    key = service.make_key()
    for path, method, expected in (
        ("/nowhere", "GET", (404, "/api/cli/manifest lists the routes")),
        ("/api/cli/coin/risk/BTC-USD", "GET", (400, "a ticker such as BTC")),
        (f"{RISK}?limit=5", "GET", (400, "limit is not a parameter of this route. It takes no parameters")),
        (f"{RISK}?key={key}", "GET", (400, "Authorization: Bearer")),
        ("/api/keys", "GET", (403, "verdict login")),
    ):
        status, message = told(service, path, key, method)
        assert (status, expected[1] in message) == (expected[0], True), message


def test_the_documents_lead_from_one_to_the_other(service: Serving) -> None:
    manifest = service.ask("/api/cli/manifest")[2]["data"]
    assert manifest["routes"]
    described = service.ask("/openapi.json")[2]["paths"]
    assert {route["path"] for route in manifest["routes"]} <= set(described)


def refused(*arguments: str, **settings: str) -> str:
    """What it says when it will not start: one line, besides its log."""
    done = run_verdict(*arguments, **{"port": "0", "source": "fixtures", **settings})
    assert done.returncode in {1, 2}
    lines = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"prot": "8402"}, "VERDICT_PROT is not a setting. `verdict serve --help` lists them."),
        ({"port": "http"}, "VERDICT_PORT takes a whole number"),
        ({"source": "recorded"}, "VERDICT_SOURCE takes fixtures or live"),
        ({"host": "192.0.2.1"}, "Set VERDICT_HOST to one, such as 127.0.0.1"),
        ({"host": "no such host"}, "Set VERDICT_HOST"),
        ({"hosts": "https://api.example.org"}, "VERDICT_HOSTS takes host names without scheme and port"),
        ({"hosts": "a..b"}, "VERDICT_HOSTS takes host names without scheme and port"),
        ({"cors_origins": "app.example.org"}, "VERDICT_CORS_ORIGINS takes origins such as https://app.example.org"),
        ({"tls_cert": "cert.pem"}, "Set both or neither."),
        ({"public_url": "api.example.org"}, "such as https://api.example.org"),
        ({"key_prefix": "mine"}, "must end in _sk_"),
        ({"fixtures_dir": "/nonexistent"}, "make fixtures"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_named_with_what_it_takes(tmp_path: Path, settings: dict[str, str], remedy: str) -> None:
    assert remedy in refused("serve", **{"data_dir": str(tmp_path), **settings})


def test_a_taken_port_names_the_setting_to_change(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused("serve", data_dir=str(tmp_path), port=port)
    assert f"Cannot listen on 127.0.0.1:{port}. The port is in use. Stop the program that listens there, or set" in said


def unprivileged() -> list[str]:
    """What makes a command heed the modes of folders: nothing for most, fewer capabilities for root."""
    if os.geteuid() != 0:
        return []
    lesser = [shutil.which("setpriv") or "false", "--bounding-set=-dac_override", "--inh-caps=-dac_override", "--"]
    if subprocess.run([*lesser, "true"], capture_output=True, timeout=PATIENCE_S, check=False).returncode != 0:
        pytest.skip("root may write anywhere, and there is no setpriv here that makes it less")
    return lesser


@pytest.mark.parametrize("typed", ["serve", "admin keys create --name me"])
def test_a_folder_that_is_read_only_is_named_with_the_setting_to_change(tmp_path: Path, typed: str) -> None:
    shut = tmp_path / "shut"
    shut.mkdir()
    shut.chmod(0o555)
    done = subprocess.run(
        [*unprivileged(), sys.executable, "-m", "service", *typed.split()],
        env=environment({"data_dir": str(shut), "source": "fixtures", "port": "0"}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert str(shut) in line
    assert "VERDICT_DATA_DIR" in line
    assert "writable" in line


@pytest.mark.parametrize(
    ("typed", "remedy"),
    [
        ("admin keys revoke verdict_sk_abcdefgh", "`verdict admin keys list` shows the prefixes"),
        ("admin keys create --name a --user 77", "`verdict admin keys list` shows the users"),
        ("admin keys create --name a --expires tomorrow", "such as 90m, 12h, 30d or 52w"),
        ("admin keys create --name a --wallet me", "0x and 40 hexadecimal digits"),
        ("admin grants add --user 77 --tier pro", "`verdict admin keys list` shows the users"),
        ("admin grants revoke 5", "`verdict admin grants list` shows them"),
        ("admin backup /nonexistent/verdict.db", "Name a file in a folder that exists"),
    ],
)
def test_an_operators_slip_is_told_with_where_to_look(service: Serving, typed: str, remedy: str) -> None:
    assert remedy in refused(*typed.split(), data_dir=service.settings["data_dir"])


def test_commands_in_the_wrong_folder_say_which_folder_it_is(tmp_path: Path) -> None:
    for typed in ("keys list", "usage", "grants list", "doctor", "quarantine"):
        said = run_verdict("admin", *typed.split(), data_dir=str(tmp_path / "none"))
        assert said.returncode == 1
        assert "VERDICT_DATA_DIR" in said.stderr + said.stdout, typed
    assert "./.data" in run_verdict("admin", "keys", "list", data_dir=str(tmp_path / "none")).stderr
    assert not (tmp_path / "none").exists()


def test_secrets_that_others_can_read_are_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    run_verdict("admin", "keys", "create", "--name", "me", data_dir=str(tmp_path))
    secrets = tmp_path / "secrets.toml"
    secrets.chmod(0o644)
    assert f"Run `chmod 600 {secrets}`." in refused("serve", data_dir=str(tmp_path))
    secrets.chmod(0o600)
    secrets.write_text("")
    assert "Restore it from a backup, or delete it" in refused("serve", data_dir=str(tmp_path))


@pytest.mark.promise("errors.upstream-unreachable", "upstreams.reasons")
def test_live_data_that_cannot_be_had_are_told_by_readyz_and_by_every_answer(tmp_path: Path) -> None:
    running = Serving(data_dir=str(tmp_path), **live_at("http://127.0.0.1:1"))
    try:
        running.wait_for("Waiting for Hyperliquid: connection refused")
        running.wait_for("Refresh failed.")
        key = running.make_key()
        status, _, body = running.ask("/readyz")
        assert (status, body["ready"], body["market"]["failing"]) == (503, False, True)
        status, _, body = running.ask(RISK, key)
        assert (status, body["error"]["code"]) == (502, "UPSTREAM_UNREACHABLE")
        told = {"upstream": "hyperliquid", "upstreamStatus": None, "upstreamBody": "connection refused"}
        assert body["error"]["details"] == told
        assert json.loads(running.verdict("admin", "usage", "--json").stdout)["users"] == []
    finally:
        assert running.stop() == 0
        running._listener.join(PATIENCE_S)
        for stream in (running.process.stdout, running.process.stderr):
            assert stream is not None
            stream.close()
