"""A third of all packets is lost, on the way to the upstreams and to the callers alike.

It happens in a network namespace of the test's own: a thread that has left the machine's takes its children with it,
and the bundled replay, which the service asks over TCP, stands in it too.
"""

import ctypes
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.serving import Serving, serving, wait_until
from tests.service.attack import RISK, UNBOUNDED
from tests.service.test_faults_process import counted

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("nft") is None or shutil.which("ip") is None,
        reason="packets can be lost by root only, where nftables and iproute2 are installed",
    ),
]

NEW_NETWORK: Final = 0x4000_0000
CALLERS: Final = 16
CALLS: Final = 300
OLDEST_S: Final = 60
RULES: Final = """
table inet loss {
    chain out { type filter hook output priority 0; numgen random mod 10 < 3 counter drop; }
}
"""


def leave_the_network() -> None:
    """Take this thread, and whatever it starts from now on, into a network that has nobody else in it."""
    assert ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def call(service: Serving, key: str) -> int:
    """The status of one answer; 0 where the connection did not survive."""
    try:
        return service.ask(RISK, key)[0]
    except (OSError, HTTPException):
        return 0


def lose_packets(data_dir: Path) -> Counter[str]:
    """Call a service in a network that loses them; what came of it."""
    leave_the_network()
    with serving(data_dir, **UNBOUNDED) as service:
        key = service.make_key("--tier", "pro")
        assert service.ask(RISK, key)[0] == 200
        subprocess.run(["nft", "-f", "-"], input=RULES, text=True, check=True)
        with ThreadPoolExecutor(CALLERS) as callers:
            statuses = Counter(callers.map(lambda _: call(service, key), range(CALLS)))
        said = subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True, check=True).stdout
        subprocess.run(["nft", "flush", "ruleset"], check=True)
        assert statuses.keys() <= {200, 0}
        wait_until(lambda: service.ask("/readyz")[0] == 200)
        age_s = service.ask(RISK, key)[2]["meta"]["data_age_seconds"]
        assert age_s <= OLDEST_S, "prices went stale"
        answered = statuses[200] + 2
        assert answered <= counted(data_dir) <= answered + statuses[0]
        assert [record for record in service.records if record["level"] == "error"] == []
    lost = int(said.partition("counter packets ")[2].split()[0])
    return Counter({"packets lost": lost, "calls answered and counted": answered, "connections lost": statuses[0]})


@pytest.mark.timeout(600)
def test_a_third_of_all_packets_lost_loses_no_count_and_leaves_prices_fresh(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with ThreadPoolExecutor(1) as elsewhere:
        figures = elsewhere.submit(lose_packets, tmp_path).result()
    assert figures["packets lost"] > CALLS
    for name, figure in figures.items():
        record_property(name, figure)
