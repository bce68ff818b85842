"""The monitoring files name metrics that the service has, and files that are there."""

import http.client
import json
import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from service.settings import Settings
from tests.fakes.ports import held_port
from tests.fakes.serving import PATIENCE_S, serving

RELEASE = Path(__file__).parents[2] / "release"
ALERTS = (RELEASE / "monitoring" / "alerts.yml").read_text()
DASHBOARD = json.loads((RELEASE / "monitoring" / "dashboard.json").read_text())
COMPOSE = (RELEASE / "compose.yaml").read_text()


@pytest.mark.process
def test_alerts_and_dashboard_ask_for_metrics_that_the_service_has(tmp_path: Path) -> None:
    expressions = re.findall(r"expr: (.+)", ALERTS)
    expressions += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    with (
        held_port() as port,
        serving(tmp_path, metrics_port=str(port)),
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as asked,
    ):
        asked.request("GET", "/metrics")
        text = asked.getresponse().read().decode()
    known = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    found = {name for each in expressions for name in re.findall(r"\b(?:verdict|process)_[a-z_]+", each)}
    named = {name.removesuffix("_bucket") for name in found}
    assert "verdict_request_seconds_bucket" in found & set(re.findall(r"verdict_\w+_bucket", ALERTS))
    assert len(named) >= 12
    assert named <= known


def test_each_alert_says_what_to_do() -> None:
    alerts = ALERTS.count("- alert: ")
    assert alerts
    assert ALERTS.count("summary: ") == ALERTS.count("action: ") == ALERTS.count("severity: ") == alerts


def test_the_files_that_compose_mounts_exist() -> None:
    mounted = re.findall(r"- \./([^:\s]+):", COMPOSE)
    assert len(mounted) >= 5
    assert all((RELEASE / path).is_file() for path in mounted)
    assert (RELEASE.parent / re.findall(r"dockerfile: ([^},]+)", COMPOSE)[0]).is_file()


def test_the_proxy_closes_idle_connections_before_the_service_does() -> None:
    text = (RELEASE / "Caddyfile").read_text()
    (kept_s,) = re.findall(r"^\s*keepalive (\d+)s$", text, re.MULTILINE)
    assert int(kept_s) < Settings().idle_timeout
    assert "Caddyfile:/etc/caddy/Caddyfile" in COMPOSE


def test_prometheus_asks_the_port_that_compose_opens() -> None:
    port = re.findall(r'VERDICT_METRICS_PORT: "(\d+)"', COMPOSE)
    assert port == re.findall(r'"verdict:(\d+)"', (RELEASE / "monitoring" / "prometheus.yml").read_text())


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_backup_runs_each_night() -> None:
    calendar = re.findall(r"OnCalendar=(.+)", (RELEASE / "verdict-backup.timer").read_text())
    told = subprocess.run(
        ["systemd-analyze", "calendar", *calendar], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert told.returncode == 0, told.stderr
