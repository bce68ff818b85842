import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from service.admin import serve
from service.admin.first_keys import FirstKeys, command, renew_first_keys, store, welcome
from service.admin.folder import run_in_folder
from service.client import credentials
from service.client.credentials import StoredCredential
from service.client.errors import RefusalError
from tests.fakes.handful import handful
from tests.fakes.ports import held_port
from tests.fakes.serving import PATIENCE_S, Serving, ended, environment, run_verdict, serving, wait_until
from tests.fakes.stuck_pipe import status_at, stuck_pipe

DROPPED = {"CapInh", "CapPrm", "CapEff", "CapAmb"}
NOTHING = "0" * 16

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")


def status_of(process: int | str) -> dict[str, str]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def given_up(process: int) -> bool:
    status = status_of(process)
    bounds = {"CapBnd"} if os.geteuid() == 0 else set()
    return status["NoNewPrivs"] == "1" and {status[name] for name in DROPPED | bounds} == {NOTHING}


@pytest.mark.machine
@on_linux
def test_a_process_that_serves_has_no_capability_gains_none_and_leaves_no_core(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        process = running.process.pid
        limits = Path(f"/proc/{process}/limits").read_text().splitlines()
        core = next(line for line in limits if line.startswith("Max core file size"))
        assert given_up(process)
        assert core.split()[4:6] == ["0", "0"]
        assert status_of(process)["Umask"] == "0077"
        assert running.ask("/healthz")[0] == 200
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert made
    assert [path.name for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


@pytest.mark.machine
@on_linux
def test_workers_and_their_parent_have_given_up_the_same(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as running:
        running.wait_for("listening", 2)
        workers = {record["process_id"] for record in running.records if record["message"] == "listening"}
        assert len(workers) == 2
        assert all(map(given_up, {running.process.pid, *workers}))


@pytest.mark.machine
@on_linux
@pytest.mark.skipif(os.geteuid() != 0, reason="the folder of another can only be made by root")
def test_root_is_told_that_it_is_not_needed_and_cannot_open_the_folder_of_another(tmp_path: Path) -> None:
    folder = tmp_path / "of another"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12_345, 12_345)
    refused = run_verdict("serve", port="0", source="fixtures", data_dir=str(folder))
    assert refused.returncode == 1
    assert f"cannot write to the data folder {folder} (Permission denied)" in refused.stderr
    running = Serving(data_dir=str(tmp_path / "own"))
    with ended(running):
        running.wait_for("Started as root, which is not needed. Run the service as its own user.")


@pytest.mark.parametrize(
    ("started", "typed"),
    [
        ("/opt/a folder/verdict", "'/opt/a folder/verdict'"),
        ("/opt/verdict", "/opt/verdict"),
        ("/home/somebody/verdict/service/__main__.py", "/usr/nowhere/python -m service"),
    ],
)
def test_what_it_says_to_type_is_what_was_typed(started: str, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [started, "serve"])
    monkeypatch.setattr(sys, "executable", "/usr/nowhere/python")
    assert command() == typed


def test_a_command_beside_the_interpreter_is_typed_for_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "verdict").touch()
    monkeypatch.setattr(sys, "argv", ["/home/somebody/verdict/service/__main__.py", "serve"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert command() == str(tmp_path / "verdict")


def test_a_folder_that_cannot_be_made_is_refused_with_the_setting_to_change(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RefusalError, match=r"\(Not a directory\): make it writable .* VERDICT_DATA_DIR"):
        serve._make_folder(tmp_path / "file" / "data")


def test_a_folder_on_a_full_disk_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("service.admin.serve.tempfile.TemporaryFile", refuse)
    with pytest.raises(RefusalError, match=r"^The disk of the data folder .* is full"):
        serve._make_folder(tmp_path)


@pytest.fixture
def first(tmp_path: Path) -> dict[str, str]:
    """The environment of a first start, with a profile of its own."""
    return {"VERDICT_DATA_DIR": str(tmp_path / "data"), "VERDICT_SOURCE": "fixtures", "HOME": str(tmp_path)}


URL = "http://127.0.0.1:8402"


def test_the_first_keys_of_an_earlier_start_are_revoked_and_their_users_kept(first: dict[str, str]) -> None:
    old, new = (run_in_folder(first, renew_first_keys, make=True) for _ in range(2))
    listed = run_in_folder(first, lambda folder: folder.admin.list_keys())
    live = {(key.name, key.user_id): key.prefix for key in listed if key.revoked_ms is None}
    assert {user for _, user in live} == {key.user_id for key in listed} == {1, 2}
    assert new.pro.startswith(str(live["make run", 1]))
    assert new.free.startswith(str(live["make run, free", 2]))
    assert {str(key.prefix) for key in listed if key.revoked_ms is not None} == {key[:19] for key in old[:2]}
    grants = run_in_folder(first, lambda folder: folder.admin.list_grants())
    assert [(grant.user_id, grant.tier) for grant in grants] == [(1, "pro")]


def test_the_pro_key_replaces_only_what_an_earlier_start_has_stored(first: dict[str, str]) -> None:
    assert "is stored" in store(first, URL, FirstKeys("verdict_sk_AAAAAAAArest", "verdict_sk_XXXXXXXXrest"))
    keys = FirstKeys("verdict_sk_BBBBBBBBrest", "verdict_sk_CCCCCCCCrest")
    assert "is stored" in store(first, URL, keys)
    assert credentials.find(first, URL) == StoredCredential(keys.pro, "api_key", None, None, "make run")
    assert "VERDICT_TOKEN is set" in store({**first, "VERDICT_TOKEN": "x"}, URL, keys)
    for kept in (
        StoredCredential("verdict_sk_AAAAAAAArest", "api_key", None, None),
        StoredCredential("eyJ.eyJ.sig", "session", "0x00", None),
    ):
        credentials.keep(first, URL, kept, keyring=False)
        assert "stored for http://127.0.0.1:8402 before; `verdict logout` ends that" in store(first, URL, keys)
        assert credentials.find(first, URL) == kept


def test_a_key_that_a_wallets_owner_named_like_the_first_keys_gets_nothing(first: dict[str, str]) -> None:
    theirs = run_in_folder(first, lambda folder: folder.admin.create_key("make run", wallet=f"0x{7:040x}"), make=True)
    keys = run_in_folder(first, renew_first_keys)
    listed = {str(key.prefix): key for key in run_in_folder(first, lambda folder: folder.admin.list_keys())}
    assert listed[theirs.prefix].revoked_ms is None
    assert theirs.user_id not in {key.user_id for prefix, key in listed.items() if prefix != theirs.prefix}
    grants = run_in_folder(first, lambda folder: folder.admin.list_grants())
    assert theirs.user_id not in {grant.user_id for grant in grants}
    assert keys.pro != theirs.key


def test_a_profile_that_cannot_be_written_does_not_stop_the_service(first: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder belongs")
    environment = {**first, "XDG_STATE_HOME": str(tmp_path / "state")}
    said = store(environment, URL, FirstKeys("verdict_sk_BBBBBBBBrest", "verdict_sk_CCCCCCCCrest"))
    assert "Set VERDICT_TOKEN" in said
    assert "BBBB" not in said


def test_the_first_lines_name_both_keys_and_a_command_that_works(first: dict[str, str]) -> None:
    keys = FirstKeys("verdict_sk_BBBBBBBBrest", "verdict_sk_CCCCCCCCrest")
    said = welcome(first, "http://127.0.0.1:9000", keys, data="recorded", page=False)
    assert "Pro key   verdict_sk_BBBBBBBBrest" in said
    assert "Free key  verdict_sk_CCCCCCCCrest   10 questions, then 1 a day" in said
    assert "VERDICT_URL=http://127.0.0.1:9000 " in said
    assert "VERDICT_URL" not in welcome(first, URL, keys, data="recorded", page=True)


@pytest.mark.process
@pytest.mark.parametrize("arguments", [(), ("--workers", "2"), ("--first-key",)])
def test_a_service_whose_log_nobody_reads_answers_and_stops(tmp_path: Path, arguments: tuple[str, ...]) -> None:
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
            process.terminate()
            assert process.wait(PATIENCE_S) == 0  # not -14, which is the kernel's alarm for what did not end
        finally:
            process.kill()
            process.wait(PATIENCE_S)
