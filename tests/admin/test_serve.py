"""`verdict serve`: the port it listens on, the privileges it drops, the first keys, and a log without a reader."""

import errno
import os
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from service.admin import listener, serve
from service.admin.first_keys import FirstKeys, command, renew_first_keys, store, welcome
from service.admin.folder import run_in_folder
from service.admin.listener import UNSENT_BYTES, listen, url_of
from service.client import credentials
from service.client.credentials import StoredCredential
from service.client.errors import RefusalError
from tests.cli.commanding import typed
from tests.fakes.handful import handful
from tests.fakes.ports import held_port
from tests.fakes.serving import PATIENCE_S, Serving, ended, environment, run_verdict, wait_until
from tests.fakes.stuck_pipe import status_at, stuck_pipe

URL = "http://127.0.0.1:8402"
KEYS = FirstKeys("verdict_sk_BBBBBBBBrest", "verdict_sk_CCCCCCCCrest")
HAS_IPV6 = socket.has_ipv6 and Path("/proc/net/if_inet6").exists()


def test_the_help_lists_every_setting_with_its_default_in_80_columns() -> None:
    told = typed("serve", "--help")
    assert told.code == 0
    assert "VERDICT_PORT (8402)\n      port to listen on" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--workers 0", "0 is not in the range 1<=x<=64."),
        ("--first-key --workers 2", "--first-key works with one process only. "),
    ],
)
def test_workers_are_1_to_64_and_go_without_first_keys(words: str, said: str) -> None:
    told = typed("serve", *words.split())
    assert (told.code, told.out, said in told.err) == (1, "", True)


@pytest.mark.parametrize(
    ("host", "tls", "url"),
    [
        ("127.0.0.1", False, "http://127.0.0.1:"),
        ("127.0.0.1", True, "https://127.0.0.1:"),
        ("0.0.0.0", False, "http://127.0.0.1:"),
        pytest.param("::1", False, "http://[::1]:", marks=pytest.mark.skipif(not HAS_IPV6, reason="no IPv6 here")),
    ],
)
def test_the_url_of_a_free_port_is_that_of_callers_on_this_machine(host: str, tls: bool, url: str) -> None:
    with listen(host, 0) as held:
        assert url_of(held, tls=tls) == f"{url}{held.getsockname()[1]}"


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("192.0.2.1", "That is not an address of this machine. Set VERDICT_HOST to one"),
        *((host, "Set VERDICT_HOST and VERDICT_PORT") for host in ("a..b", "999.1.2.3", "x" * 300)),
    ],
)
def test_what_cannot_be_listened_on_is_refused_with_the_setting_to_change(host: str, said: str) -> None:
    with pytest.raises(RefusalError) as refused:
        listen(host, 0)
    assert str(refused.value).startswith(f"Cannot listen on {host}:0. ")
    assert said in str(refused.value)


def test_a_privileged_port_is_refused_to_an_ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_args: object, **_kwargs: object) -> socket.socket:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", deny)
    with pytest.raises(RefusalError, match=r"This user may not use that port\. Set VERDICT_PORT to 1024 or more"):
        listen("127.0.0.1", 80)


@pytest.mark.promise("operator.restart")
def test_a_port_that_becomes_free_is_waited_for_and_one_that_stays_taken_refused(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pauses: list[float] = []
    with held_port() as port, listen("127.0.0.1", port) as taken:
        monkeypatch.setattr(listener, "_pause", pauses.append)
        with pytest.raises(RefusalError) as refused:
            listen("127.0.0.1", port, timeout_s=5)
        remedy = "The port is in use. Stop the program that listens there, or set VERDICT_PORT (0 takes a free port)."
        assert str(refused.value) == f"Cannot listen on 127.0.0.1:{port}. {remedy}"
        monkeypatch.setattr(listener, "_pause", lambda _: taken.close())
        listen("127.0.0.1", port, timeout_s=5).close()
    assert sum(pauses) == pytest.approx(5)
    said = f"127.0.0.1:{port} is in use. Waiting up to 5 s for it to become free."
    assert [record.getMessage() for record in caplog.records] == [said] * 2


@pytest.mark.machine
def test_of_answers_that_nobody_reads_the_kernel_takes_little() -> None:
    with listen("127.0.0.1", 0) as held, socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        reader.connect(held.getsockname())
        writer, _ = held.accept()
        taken = 0
        with writer, suppress(BlockingIOError):
            writer.setblocking(False)  # noqa: FBT003 - the socket's own way
            while taken < 4 * UNSENT_BYTES:
                taken += writer.send(bytes(UNSENT_BYTES))
    assert taken < 4 * UNSENT_BYTES


def given_up(process: int) -> bool:
    """Whether a process has no capability, gains none, writes private files and leaves no core."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    limits = Path(f"/proc/{process}/limits").read_text().splitlines()
    core = next(line for line in limits if line.startswith("Max core file size"))
    sets = ["CapInh", "CapPrm", "CapEff", "CapAmb", *(["CapBnd"] if os.geteuid() == 0 else [])]
    assert {status[name] for name in sets} == {"0" * 16}
    return (status["NoNewPrivs"], status["Umask"], *core.split()[4:6]) == ("1", "0077", "0", "0")


@pytest.mark.machine
@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
@pytest.mark.parametrize("arguments", [("--workers", "2"), ("--first-key",)])
def test_a_service_drops_privileges_and_answers_and_stops_where_nobody_reads_its_log(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    with held_port() as port, stuck_pipe() as log:
        settings = {"port": str(port), "source": "fixtures", "data_dir": str(tmp_path), "log_level": "debug"}
        reader, stdout = os.pipe()
        os.close(reader)  # what is printed for a person reaches nobody either
        process = subprocess.Popen(
            [sys.executable, "-m", "service", "serve", *arguments],
            env=environment({**settings, "fixtures_dir": str(handful())}),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=log,
        )
        os.close(stdout)
        try:
            wait_until(lambda: status_at(port, "/readyz") == 200)
            assert status_at(port, "/healthz") == 200
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            assert all(map(given_up, [process.pid, *map(int, children)]))
            assert len(children) >= 2 * ("--workers" in arguments)
            process.terminate()
            assert process.wait(PATIENCE_S) == 0  # not -14, which is the kernel's alarm for what did not end
        finally:
            process.kill()
            process.wait(PATIENCE_S)
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert made
    assert [path.name for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


@pytest.mark.machine
@pytest.mark.skipif(os.geteuid() != 0, reason="the folder of another can only be made by root")
def test_root_is_told_that_it_is_not_needed_and_cannot_open_the_folder_of_another(tmp_path: Path) -> None:
    folder = tmp_path / "of another"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12_345, 12_345)
    refused = run_verdict("serve", port="0", source="fixtures", data_dir=str(folder))
    assert refused.returncode == 1
    assert f"Cannot write to the data folder {folder} (Permission denied)." in refused.stderr
    running = Serving(data_dir=str(tmp_path / "own"))
    with ended(running):
        running.wait_for("Started as root, which is not needed. Run the service as its own user.")


def test_a_folder_that_cannot_be_made_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "file").touch()
    with pytest.raises(RefusalError, match=r"\(Not a directory\)\. Make it writable .* VERDICT_DATA_DIR"):
        serve._make_folder(tmp_path / "file" / "data")
    monkeypatch.setattr("service.admin.serve.tempfile.TemporaryFile", refuse)
    with pytest.raises(RefusalError, match=r"^The disk of the data folder .* is full"):
        serve._make_folder(tmp_path)


@pytest.mark.parametrize(
    ("started", "beside", "typed"),
    [
        ("/opt/a folder/verdict", False, "'/opt/a folder/verdict'"),
        ("/opt/verdict", False, "/opt/verdict"),
        ("/home/somebody/verdict/service/__main__.py", False, "{folder}/python -m service"),
        ("/home/somebody/verdict/service/__main__.py", True, "{folder}/verdict"),
    ],
)
def test_what_it_says_to_type_is_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: str, beside: bool, typed: str
) -> None:
    if beside:
        (tmp_path / "verdict").touch()
    monkeypatch.setattr(sys, "argv", [started, "serve"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert command() == typed.format(folder=tmp_path)


@pytest.fixture
def first(tmp_path: Path) -> dict[str, str]:
    """The environment of a first start, with a profile of its own."""
    return {"VERDICT_DATA_DIR": str(tmp_path / "data"), "VERDICT_SOURCE": "fixtures", "HOME": str(tmp_path)}


def test_the_first_keys_replace_those_of_an_earlier_start_and_no_wallet_owners(first: dict[str, str]) -> None:
    theirs = run_in_folder(first, lambda folder: folder.admin.create_key("make run", wallet=f"0x{7:040x}"), make=True)
    old, new = (run_in_folder(first, renew_first_keys) for _ in range(2))
    listed = run_in_folder(first, lambda folder: folder.admin.list_keys())
    live = {key.prefix: (key.name, key.user_id) for key in listed if key.revoked_ms is None}
    assert live == {theirs.prefix: ("make run", 1), new.pro[:19]: ("make run", 2), new.free[:19]: ("make run, free", 3)}
    assert {key.prefix for key in listed if key.revoked_ms is not None} == {key[:19] for key in old}
    grants = run_in_folder(first, lambda folder: folder.admin.list_grants())
    assert [(grant.user_id, grant.tier) for grant in grants] == [(2, "pro")]


def test_the_pro_key_replaces_only_what_an_earlier_start_has_stored(first: dict[str, str], tmp_path: Path) -> None:
    assert "is stored" in store(first, URL, FirstKeys("verdict_sk_AAAAAAAArest", "verdict_sk_XXXXXXXXrest"))
    assert "is stored" in store(first, URL, KEYS)
    assert credentials.find(first, URL) == StoredCredential(KEYS.pro, "api_key", None, None, "make run")
    assert "VERDICT_TOKEN is set" in store({**first, "VERDICT_TOKEN": "x"}, URL, KEYS)
    for kept in (
        StoredCredential("verdict_sk_AAAAAAAArest", "api_key", None, None),
        StoredCredential("eyJ.eyJ.sig", "session", "0x00", None),
    ):
        credentials.keep(first, URL, kept, keyring=False)
        assert f"stored for {URL} before. `verdict logout` removes it." in store(first, URL, KEYS)
        assert credentials.find(first, URL) == kept
    (tmp_path / "state").write_text("a file where a folder belongs")
    unwritable = store({**first, "XDG_STATE_HOME": str(tmp_path / "state")}, URL, KEYS)
    assert ("Set VERDICT_TOKEN" in unwritable, "BBBB" in unwritable) == (True, False)


def test_the_first_lines_name_both_keys_and_a_command_that_works(first: dict[str, str]) -> None:
    said = welcome(first, "http://127.0.0.1:9000", KEYS, data="recorded", page=False)
    assert f"Pro key   {KEYS.pro}" in said
    assert f"Free key  {KEYS.free}   10 questions, then 1 a day" in said
    assert "VERDICT_URL=http://127.0.0.1:9000 " in said
    assert "VERDICT_URL" not in welcome(first, URL, KEYS, data="recorded", page=True)
