"""The service as a process: how it starts, ends, is killed and comes back, and what it refuses to start with."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fakes.calls import check_exact
from tests.fakes.ports import held_port
from tests.fakes.serving import (
    PATIENCE_S,
    Serving,
    ended,
    environment,
    live_at,
    run_verdict,
    serving,
    wait_until,
)

pytestmark = pytest.mark.process

RISK = "/api/cli/coin/risk/BTC"


@pytest.fixture
def port() -> Iterator[int]:
    """Held for a service of this test, as the one after it is."""
    with held_port(2) as held:
        yield held


@pytest.mark.gate
def test_sigterm_ends_it_in_order_and_a_second_one_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        running.process.send_signal(signal.SIGTERM)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(PATIENCE_S) == 0
        assert running.wait_for("stopped")
    assert not [record for record in running.records if record["level"] == "error"]


def test_sigterm_ends_it_although_a_request_never_ends(tmp_path: Path) -> None:
    with serving(tmp_path, drain_seconds="1") as running, socket.create_connection(("127.0.0.1", running.port)) as held:
        held.sendall(b"POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n")
        held.sendall(b"Content-Length: 10\r\n\r\n{")
        running.ask("/healthz")
        running.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not listens(running.port))
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(PATIENCE_S) == 0


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_sigint_before_it_listens_ends_it_without_a_traceback(tmp_path: Path) -> None:
    running = Serving(data_dir=str(tmp_path))
    with ended(running):
        running.wait_for("This process is the leader and fetches from upstreams.")
        assert running.stop(signal.SIGINT) == 0
    assert not [line for line in running.lines if not line.startswith("{")]


@pytest.mark.promise("meter.durable")
def test_neither_kill_9_nor_a_restart_loses_a_key_or_the_count_of_an_answered_call(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        key = running.make_key()
        assert [running.ask(RISK, key)[0] for _ in range(3)] == [200] * 3
        running.process.kill()
        running.process.wait(PATIENCE_S)
    with serving(tmp_path) as running:
        assert running.ask(RISK, key)[1]["ratelimit"] == '"questions";r=6'
        assert running.stop() == 0
    with serving(tmp_path) as running:
        assert running.ask(RISK, key)[1]["ratelimit"] == '"questions";r=5'


@pytest.mark.gate
@pytest.mark.promise("operator.serve", "meter.processes")
def test_two_workers_share_keys_and_quota_exactly(tmp_path: Path, port: int) -> None:
    with serving(tmp_path, "--workers", "2", metrics_port=str(port)) as running:
        running.wait_for("ready", times=2)
        key = running.make_key()
        with ThreadPoolExecutor(16) as pool:
            statuses = Counter(pool.map(lambda _: running.ask(RISK, key)[0], range(40)))
        check_exact(statuses, 10, lambda: running.ask(RISK, key)[0])
        assert json.loads(running.verdict("admin", "usage", "--json").stdout)["users"][0]["total"] == 10
        leaders = [record for record in running.records if record["message"].startswith("This process is the leader")]
        assert len(leaders) == 1
        assert len({record["process_id"] for record in running.records if record["message"] == "ready"}) == 2
        assert running.stop() == 0
        running.wait_for("stopped", times=2)


def test_a_killed_worker_is_replaced_and_the_lead_passes_on(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as running:
        running.wait_for("ready", times=2)
        key = running.make_key("--tier", "pro")
        leader = running.wait_for("This process is the leader and fetches from upstreams.")["process_id"]
        os.kill(leader, signal.SIGKILL)
        running.wait_for("A worker ended. Starting another.")
        running.wait_for("This process is the leader and fetches from upstreams.", times=2)
        running.wait_for("ready", times=3)
        assert [running.ask(RISK, key)[0] for _ in range(8)] == [200] * 8
        assert json.loads(running.verdict("admin", "doctor", "--json").stdout)["ok"]


def test_workers_stop_in_order_when_their_parent_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as running:
        running.wait_for("ready", times=2)
        running.process.kill()
        running.wait_for("stopped", times=2)


@pytest.mark.skipif(sys.platform != "linux", reason="children are read from /proc")
@pytest.mark.promise("operator.orphans", "operator.restart")
@pytest.mark.parametrize("workers", [2, 4])
def test_a_restart_succeeds_at_once_after_the_parent_was_killed_while_workers_started(
    tmp_path: Path, port: int, workers: int
) -> None:
    settings = {"data_dir": str(tmp_path), "port": str(port)}
    first = Serving("--workers", str(workers), **settings)
    with ended(first):
        first.wait_for("listening")  # the first one; the next one is being started, and holds the listening socket
        wait_until(lambda: len(children_of(first.process.pid)) > 1)
        orphans = children_of(first.process.pid)
        first.process.kill()
        with restarted("--workers", str(workers), **settings) as second:
            second.wait_for("ready", times=workers)
            assert second.ask("/readyz")[0] == 200
        wait_until(lambda: not any(map(is_running, orphans)))
    assert not [line for line in first.lines + second.lines if "Traceback" in line]


@pytest.mark.skipif(sys.platform != "linux", reason="children are read from /proc")
@pytest.mark.promise("operator.orphans")
@pytest.mark.parametrize("workers", [2, 4])
def test_workers_under_load_end_when_their_parent_is_killed_and_a_restart_succeeds_at_once(
    tmp_path: Path, port: int, workers: int
) -> None:
    settings = {"data_dir": str(tmp_path), "port": str(port)}
    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
                with contextlib.closing(connection):
                    while not stop.is_set():
                        connection.request("GET", "/api/cli/manifest")
                        connection.getresponse().read()

    first = Serving("--workers", str(workers), **settings)
    with ended(first), ThreadPoolExecutor(4) as pool:
        first.wait_for("ready", times=workers)
        try:
            for _ in range(4):
                pool.submit(load)
            wait_until(lambda: first.ask("/readyz")[0] == 200)
            orphans = children_of(first.process.pid)
            assert len(orphans) >= workers
            first.process.kill()
            with restarted("--workers", str(workers), **settings) as second:
                second.wait_for("listening", times=workers)
                wait_until(lambda: not any(map(is_running, orphans)))
                stop.set()
        finally:
            stop.set()


def is_logged(running: Serving, message: str) -> bool:
    return any(record["message"] == message for record in running.records)


@contextlib.contextmanager
def restarted(*arguments: str, **settings: str) -> Iterator[Serving]:
    """Start it on a port that it may have to wait for; again, where a busy machine keeps the port taken for longer."""
    while True:
        with ended(Serving(*arguments, **settings)) as running:
            wait_until(lambda: is_logged(running, "listening") or running.process.poll() is not None)
            if running.process.poll() is None:
                yield running
                return
        assert any("is taken" in line for line in running.lines), running.lines


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.promise("run.source", "fixtures.header")
def test_live_data_is_fetched_from_the_venue_that_is_named(tmp_path: Path, venue: str) -> None:
    with serving(tmp_path, **live_at(venue)) as running:
        status, headers, body = running.ask(RISK, running.make_key())
        assert (status, headers["x-data-source"]) == (200, "live")
        assert body["data"]["price"] > 0


@pytest.mark.promise("errors.unavailable", "errors.retry-after")
def test_until_the_venue_has_answered_it_is_alive_and_not_ready(tmp_path: Path, port: int) -> None:
    running = Serving(data_dir=str(tmp_path), metrics_port=str(port), **live_at("http://127.0.0.1:9"))
    with ended(running):
        running.wait_for("listening")
        assert "verdict_ready 0.0" in scrape(port)
        assert "prices_age" not in scrape(port)
        assert running.ask("/healthz")[0] == 200
        status, headers, body = running.ask("/readyz")
        assert (status, body["ready"], headers["retry-after"]) == (503, False, "1")


def scrape(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return b"".join(iter(lambda: connection.recv(65_536), b"")).decode()


def test_metrics_are_on_a_port_of_their_own(tmp_path: Path, port: int) -> None:
    with serving(tmp_path, metrics_port=str(port)) as running:
        running.ask(RISK, running.make_key())
        shown = scrape(port)
        assert 'verdict_requests_total{route="coin.risk",status="200"} 1.0' in shown
        for name in ("upstream_calls_total", "storage_transactions_total", "storage_wal_bytes", "prices_age_seconds"):
            assert f"verdict_{name}" in shown
        assert 'verdict_stream_readers{stream="prices"} 0.0' in shown
        assert running.ask("/metrics")[0] == 404


@pytest.mark.promise("serve.https", "run.tls")
def test_https_is_served_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", *request.split(), *files], capture_output=True, check=True, timeout=PATIENCE_S)
    tls = {"tls_cert": str(tmp_path / "cert.pem"), "tls_key": str(tmp_path / "key.pem")}
    with serving(tmp_path / "data", **tls) as running:
        context = ssl.create_default_context(cafile=tls["tls_cert"])
        context.check_hostname = False
        connection = http.client.HTTPSConnection("127.0.0.1", running.port, timeout=PATIENCE_S, context=context)
        connection.request("GET", "/readyz")
        assert connection.getresponse().status == 200
        connection.close()


@pytest.mark.promise("run.make-run")
def test_make_runs_first_keys_are_printed_with_a_line_that_works_and_renewed_at_the_next_start(tmp_path: Path) -> None:
    keys = []
    for _ in range(2):
        with serving(tmp_path, "--first-key") as running:
            assert running.process.stdout is not None
            said = ""
            while "\nReady: " not in said:
                said += running.process.stdout.readline()
            found = re.search(
                r"curl -s -H 'Authorization: Bearer (\S+)' (http://127.0.0.1:\d+)/api/cli/coin/risk/BTC", said
            )
            assert found, said
            assert found[2].endswith(f":{running.port}")
            assert running.ask(RISK, found[1])[0] == 200
            keys.append(found[1])
    listed = json.loads(run_verdict("admin", "keys", "list", "--json", data_dir=str(tmp_path)).stdout)["keys"]
    assert sorted((key["name"], key["user_id"], key["revoked_at"] is None) for key in listed) == [
        ("make run", 1, False),
        ("make run", 1, True),
        ("make run, free", 2, False),
        ("make run, free", 2, True),
    ]
    assert keys[0] != keys[1]


@pytest.mark.promise("run.key-first")
def test_the_first_key_is_printed_although_no_upstream_answers(tmp_path: Path) -> None:
    running = Serving("--first-key", data_dir=str(tmp_path), **live_at("http://127.0.0.1:9"))
    with ended(running):
        assert running.process.stdout is not None
        said = ""
        while "Free key" not in said:
            said += running.process.stdout.readline()
        assert f"Verdict listens on http://127.0.0.1:{running.port} and loads live data." in said
        assert "  Pro key   verdict_sk_" in said
        assert running.ask("/readyz")[0] == 503


def refused(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    done = run_verdict("serve", *arguments, **{"port": "0", "source": "fixtures", **settings})
    told = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(told) == 1, done.stderr
    assert told[0].startswith("verdict: ")
    return done


@pytest.mark.promise("run.address")
def test_a_taken_port_is_refused_in_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = refused(data_dir=str(tmp_path), port=port)
        metrics = refused(data_dir=str(tmp_path), metrics_port=port)
        workers = refused("--workers", "2", data_dir=str(tmp_path), metrics_port=port)
    assert done.returncode == metrics.returncode == workers.returncode == 1
    assert "The port is in use. Stop the program that listens there, or set VERDICT_PORT" in done.stderr
    assert "VERDICT_METRICS_PORT" in metrics.stderr


@pytest.mark.promise("run.data-dir")
@pytest.mark.parametrize("folder", ["/proc/verdict", "{tmp}/file/data", "{tmp}/shut/data"])
def test_a_data_folder_that_cannot_be_written_is_refused(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "shut").mkdir(mode=0o500)
    done = refused(data_dir=folder.format(tmp=tmp_path))
    assert done.returncode == 1
    assert "Cannot write to the data folder" in done.stderr
    assert "VERDICT_DATA_DIR" in done.stderr


def test_a_bad_setting_is_refused_with_exit_code_1(tmp_path: Path) -> None:
    done = refused(data_dir=str(tmp_path), source="recorded")
    assert done.returncode == 1
    assert "VERDICT_SOURCE takes fixtures or live, not 'recorded'" in done.stderr


def test_a_certificate_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "not.pem").write_text("not a certificate")
    for name in ("not.pem", "missing.pem"):
        done = refused(data_dir=str(tmp_path), tls_cert=str(tmp_path / name), tls_key=str(tmp_path / name))
        assert done.returncode == 1
        assert "VERDICT_TLS_CERT and VERDICT_TLS_KEY" in done.stderr


@pytest.mark.parametrize("workers", [[], ["--workers", "2"]])
def test_a_damaged_database_is_refused_with_the_remedy(tmp_path: Path, workers: list[str]) -> None:
    (tmp_path / "verdict.db").write_bytes(b"SQLite format 3\x00" + os.urandom(8_192))
    done = refused(*workers, data_dir=str(tmp_path))
    assert done.returncode == 1
    assert "verdict admin backup" in done.stderr


def test_fixtures_that_are_missing_are_refused(tmp_path: Path) -> None:
    for replay in ("shifted", "frozen"):
        done = refused(data_dir=str(tmp_path), fixtures_dir=str(tmp_path), replay=replay)
        assert done.returncode == 1
        assert "metadata.json" in done.stderr


def test_a_first_key_goes_with_one_process_only(tmp_path: Path) -> None:
    done = refused("--workers", "2", "--first-key", data_dir=str(tmp_path))
    assert done.returncode == 1


def test_the_console_script_and_the_module_are_the_same_command() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from service.__main__ import main; sys.argv = ['verdict', '--version']; main()",
        ],
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout == run_verdict("--version").stdout
