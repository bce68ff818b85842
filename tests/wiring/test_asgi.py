"""The application under a plain uvicorn, without the service's own connections and fast path."""

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.handful import handful
from tests.fakes.serving import PATIENCE_S, environment, run_verdict, wait_until

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]


def get(port: int, path: str, key: str = "") -> tuple[int, dict[str, str], bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


def test_a_plain_uvicorn_serves_the_same_gates_and_counts_each_answer(tmp_path: Path) -> None:
    settings = {"source": "fixtures", "fixtures_dir": str(handful()), "data_dir": str(tmp_path)}
    command = [sys.executable, "-m", "uvicorn", "--factory", "service.wiring.asgi:create", "--port", "0"]
    environ = {**environment(settings), "PYTHONPATH": str(ROOT)}
    said = tmp_path / "said"
    with (
        said.open("w") as log,
        subprocess.Popen([*command, "--no-use-colors"], env=environ, cwd=tmp_path, stderr=log) as server,
    ):
        try:
            wait_until(lambda: "running on" in said.read_text() or server.poll() is not None)
            found = re.search(r"running on http://127\.0\.0\.1:(\d+) ", said.read_text())
            assert found, said.read_text()
            port = int(found[1])
            wait_until(lambda: get(port, "/readyz")[0] == 200)
            made = run_verdict("admin", "keys", "create", "--name", "test", "--json", **settings)
            key = json.loads(made.stdout)["key"]
            statuses = [get(port, "/api/cli/coin/risk/BTC", key)[0] for _ in range(11)]
            assert statuses == [200] * 10 + [402]
            assert get(port, "/api/cli/coin/risk/BTC")[0] == 403
            assert get(port, "/api/cli/coin/risk/../risk/BTC", key)[0] == 404
            status, headers, body = get(port, "/api/cli/billing/tier", key)
            assert (status, headers["content-length"]) == (200, str(len(body)))
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) in {0, -signal.SIGTERM}
    usage = run_verdict("admin", "usage", "--json", **settings)
    assert [row["total"] for row in json.loads(usage.stdout)["users"]] == [10]
