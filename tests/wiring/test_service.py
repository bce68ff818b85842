"""The whole service, started as its operator would start it and asked as its callers would ask."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from service.storage.engine import DATABASE, connect
from service.verdict.scorecard import BACKTEST
from tests.fakes.handful import COINS
from tests.fakes.serving import Serving, run_verdict, serving, wait_until

pytestmark = pytest.mark.process

RISK = "/api/cli/coin/risk/BTC"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.mark.promise(
    "envelope.success",
    "fixtures.header",
    "operator.while-running",
    "run.source",
    "headers.ratelimit",
    "numbers.null",
    "routes.no-version",
)
def test_a_first_call_with_a_key_made_while_it_runs_gets_the_risk_context_in_the_envelope(service: Serving) -> None:
    status, headers, body = service.ask(RISK, service.make_key())
    assert status == 200
    assert list(body) == ["schemaVersion", "data", "meta"]
    assert body["data"]["symbol"] == "BTC"
    assert body["data"]["price"] > 0
    assert body["data"]["_stale_fields"] == []
    assert body["meta"]["data_age_seconds"] >= 0
    assert headers["x-data-source"] == "fixtures"
    assert headers["ratelimit"] == '"questions";r=9'


@pytest.mark.promise("quota.402", "quota.every-call", "operator.usage", "meter.once")
def test_the_quota_ends_in_a_challenge_and_is_counted_to_the_question(service: Serving) -> None:
    key = service.make_key()
    answers = [service.ask(RISK, key)[0] for _ in range(12)]
    assert answers == [200] * 10 + [402] * 2
    user = service.ask("/api/cli/billing/tier", key)[2]["data"]["identity"]["userId"]
    usage = json.loads(service.verdict("admin", "usage", "--user", str(user), "--json").stdout)
    assert [row["total"] for row in usage["users"]] == [10]


@pytest.mark.promise("revocation.several", "operator.keys-manage", "operator.while-running", "auth.revoked-401")
def test_a_key_revoked_by_the_operator_is_refused_by_the_running_service(service: Serving) -> None:
    key = service.make_key()
    assert service.ask(RISK, key)[0] == 200
    service.verdict("admin", "keys", "revoke", key[:19])
    wait_until(lambda: service.ask("/api/cli/billing/tier", key)[0] != 200)
    status, _, body = service.ask(RISK, key)
    assert (status, body["error"]["code"]) == (401, "AUTH_INVALID")
    assert "revoked" in body["error"]["message"]


@pytest.mark.promise("operator.grants", "tier.applied", "auth.tier-resolved")
def test_a_grant_given_by_the_operator_is_seen_by_the_running_service(service: Serving) -> None:
    key = service.make_key()
    identity = service.ask("/api/cli/billing/tier", key)[2]["data"]["identity"]
    service.verdict("admin", "grants", "add", "--user", str(identity["userId"]), "--tier", "pro")
    wait_until(lambda: service.ask("/api/cli/billing/tier", key)[2]["data"]["tier"] == "pro")


@pytest.mark.promise("run.ready")
def test_probes_say_that_it_lives_and_is_ready(service: Serving) -> None:
    assert service.ask("/healthz")[::2] == (200, {"live": True})
    status, _, body = service.ask("/readyz")
    assert (status, body["ready"], body["market"]["coins"]) == (200, True, len(COINS))


def test_what_waits_for_readiness_begins_once_it_is_ready(service: Serving) -> None:
    def known() -> set[str]:
        with closing(connect(Path(service.settings["data_dir"]) / DATABASE)) as store:
            rows = store.execute("SELECT name FROM documents WHERE name = ?", (BACKTEST,)).fetchall()
        return {name for (name,) in rows}

    assert service.ask("/readyz")[0] == 200
    wait_until(lambda: known() == {BACKTEST})


@pytest.mark.promise("manifest.public", "documents.openapi", "documents.x402")
@pytest.mark.parametrize("path", ["/api/cli/manifest", "/openapi.json", "/.well-known/x402"])
def test_what_describes_the_service_needs_no_key_and_names_where_it_listens(service: Serving, path: str) -> None:
    status, _, body = service.ask(path)
    assert status == 200
    if path != "/api/cli/manifest":
        assert f"http://127.0.0.1:{service.port}" in json.dumps(body)


@pytest.mark.promise("auth.none-403", "auth.malformed-401")
@pytest.mark.parametrize(
    ("key", "status", "code"),
    [
        (None, 403, "AUTH_REQUIRED"),
        ("verdict_sk_nonsense", 401, "AUTH_INVALID"),
    ],
)
def test_a_caller_without_a_good_key_is_told_so(service: Serving, key: str | None, status: int, code: str) -> None:
    answer, _, body = service.ask(RISK, key)
    assert (answer, body["error"]["code"]) == (status, code)


@pytest.mark.promise("errors.candidates", "meter.errors-free", "errors.always-json")
def test_an_unknown_symbol_and_an_unknown_path_are_json_and_cost_nothing(service: Serving) -> None:
    key = service.make_key()
    status, headers, body = service.ask("/api/cli/coin/risk/BTCC", key)
    assert (status, body["error"]["code"]) == (404, "UNKNOWN_SYMBOL")
    assert "BTC" in body["error"]["details"]["candidates"]
    assert service.ask("/nowhere")[0] == 404
    assert service.ask(RISK, key)[1]["ratelimit"] == '"questions";r=9'
    assert headers["content-type"] == "application/json"


@pytest.mark.promise("operator.doctor", "operator.while-running")
def test_doctor_finds_nothing_wrong_while_it_runs(service: Serving) -> None:
    assert json.loads(service.verdict("admin", "doctor", "--json").stdout)["ok"]


def test_a_backup_taken_while_it_runs_opens_as_a_data_folder_of_its_own(service: Serving, tmp_path: Path) -> None:
    service.make_key()
    service.verdict("admin", "backup", str(tmp_path / "verdict.db"))
    secrets = Path(service.settings["data_dir"]) / "secrets.toml"
    (tmp_path / "secrets.toml").write_bytes(secrets.read_bytes())
    (tmp_path / "secrets.toml").chmod(0o600)
    listed = run_verdict("admin", "keys", "list", "--json", data_dir=str(tmp_path))
    assert json.loads(listed.stdout)["keys"]


def test_nothing_it_logs_is_anything_but_one_json_object_a_line_without_a_key(service: Serving) -> None:
    key = service.make_key()
    service.ask(f"{RISK}?key={key}", key)
    service.ask("/%00%ff" + key)
    for line in list(service.lines):
        assert isinstance(json.loads(line), dict)
        assert key not in line
