"""Ready means ready: what is answered at the first moment at which `/readyz` is 200."""

import resource
from pathlib import Path

import pytest

from service.wire.offers import OFFERS
from tests.fakes.serving import WHOLE, Serving, ended, serving, wait_until
from tests.service.asking import PRICED, REGIMES, UNBOUNDED, Caller

pytestmark = pytest.mark.process

EVERY_ROUTE = (
    *PRICED.values(),
    *REGIMES,
    "coin/risk/ETH",
    "coin/risk/HYPE",
    "coin/historical/BTC?count=24&unit=h",
    "coin/historical/DOGE?count=90&unit=h",
    "market/health?context=1",
    "manifest",
    "billing/tier",
)
"""Of the bundled recording; every offer of data is among them."""


def nulls(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(nulls, value.values()))
    return value is None


@pytest.mark.gate
@pytest.mark.promise("start.ready")
def test_every_route_answers_from_whole_tables_as_soon_as_a_cold_start_on_fixtures_is_ready(tmp_path: Path) -> None:
    asked = {offer.id for offer in OFFERS if offer.payable and offer.method == "GET"}
    assert asked == PRICED.keys(), "a new route is asked here too"
    with ended(Serving(data_dir=str(tmp_path / "data"), **WHOLE, **UNBOUNDED)) as service:
        service.wait_for("listening")
        caller = Caller(service.port, service.make_key("--tier", "pro"))
        service.wait_for("ready")
        status, _, ready = service.ask("/readyz")
        assets = caller.ask("rwa/assets?top=100").body["data"]["assets"]
        statuses = {asset["symbol"]: caller.ask(f"rwa/symbol/{asset['symbol']}").status for asset in assets}
        answers = {route: caller.ask(route) for route in EVERY_ROUTE}
        assert (status, ready["loading"]) == (200, {"ready": True})
        assert {*statuses.values()} == {200}, statuses
        assert {route: answer.status for route, answer in answers.items()} == dict.fromkeys(EVERY_ROUTE, 200)
        risk = answers["coin/risk/ETH"].body["data"]
        assert risk["_stale_fields"] == []
        assert not nulls(risk)
        assert answers["funding/alerts"].body["data"]["events"]


@pytest.mark.machine
@pytest.mark.promise("start.full-disk")
def test_while_the_store_cannot_be_written_readyz_says_why_and_recovers_by_itself(tmp_path: Path) -> None:
    with serving(tmp_path, **UNBOUNDED) as service:
        key = service.make_key("--tier", "pro")
        pid = service.process.pid
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
        assert service.ask("/api/cli/coin/risk/BTC", key)[0] == 503
        wait_until(lambda: service.ask("/readyz")[0] == 503)
        store = service.ask("/readyz")[2]["store"]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert store["ready"] is False
        assert "cannot be written" in store["reason"] or "full" in store["reason"]
        wait_until(lambda: service.ask("/readyz")[0] == 200)
        assert service.ask("/api/cli/coin/risk/BTC", key)[0] == 200
