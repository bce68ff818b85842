"""slowhttptest, as it is sold: slow heads, slow bodies, slow readers, absurd ranges. Others are served meanwhile."""

import asyncio
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.serving import Serving, serving, wait_until
from tests.service.attack import RISK, UNBOUNDED
from tests.service.test_slow_connections import call, descriptors

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(shutil.which("slowhttptest") is None, reason="slowhttptest is not installed"),
    pytest.mark.machine,
]

CONNECTIONS = 400
SECONDS = 25
CALLS = 80
ATTACKS: dict[str, tuple[Sequence[str], str]] = {
    "slow heads": (("-H", "-i", "1", "-x", "24"), "/healthz"),
    "slow bodies": (("-B", "-i", "1", "-s", "8192", "-x", "10", "-f", "application/json"), "/api/auth/login"),
    "slow readers": (("-X", "-w", "1", "-y", "64", "-n", "1", "-z", "4", "-k", "10"), "/openapi.json"),
    "many ranges": (("-R", "-a", "1", "-b", "3000"), "/openapi.json"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("data"), **UNBOUNDED) as running:
        yield running


def attack(service: Serving, options: Sequence[str], path: str) -> str:
    """Run one; what it said."""
    bounds = ["-c", str(CONNECTIONS), "-r", "200", "-l", str(SECONDS), "-p", "3", "-v", "1"]
    done = subprocess.run(
        ["slowhttptest", *options, *bounds, "-u", f"http://127.0.0.1:{service.port}{path}"],
        cwd=service.settings["data_dir"],
        capture_output=True,
        text=True,
        timeout=4 * SECONDS,
        check=False,
    )
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stdout + done.stderr)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ATTACKS)
def test_others_are_answered_all_the_while(service: Serving, name: str) -> None:
    key = service.make_key("--tier", "pro")
    assert service.ask(RISK, key)[0] == 200
    before = descriptors(service)
    answered: Counter[int] = Counter()
    with ThreadPoolExecutor(1) as beside:
        attacking = beside.submit(attack, service, *ATTACKS[name])
        while not attacking.done():
            answered += asyncio.run(call(service.port, key, CALLS))
        said = attacking.result()
    assert "service available:" in said, said[-2_000:]
    assert set(answered) == {200}
    wait_until(lambda: descriptors(service) <= before)
    assert [record for record in service.records if record["level"] in {"warning", "error"}] == []
