"""`verdict doctor`: what it looks at on the way to the service, and what it finds."""

import json
import ssl

import pytest

from service import __version__
from service.client import config, credentials
from service.client.answer import UnreachableError
from service.client.config import Config
from service.client.connection import ApiConnection, Tls
from service.client.credentials import StoredCredential
from service.clock import parse_iso
from tests.cli.conftest import Typed
from tests.cli.recorded import ANSWERS
from tests.client.sdk.peer import Reply, answers, peer, says

MANIFEST = answers((ANSWERS / "manifest.json").read_bytes())
TIER = answers((ANSWERS / "billing.tier.json").read_bytes())
THERE_MS = parse_iso(json.loads((ANSWERS / "manifest.json").read_bytes())["meta"]["ts"])
REFUSED = says({"schemaVersion": 1, "error": {"code": "AUTH_INVALID", "message": "the key was revoked"}}, 401)


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the clock here says, epoch milliseconds: a second more than the service's, and it stands still."""
    at = [THERE_MS + 1_000]
    monkeypatch.setattr("service.clock.SystemClock.now_ms", lambda _: at[0])
    return at


@pytest.fixture
def caller(environment: dict[str, str]) -> None:
    environment["VERDICT_TOKEN"] = "verdict_sk_x"


def test_a_sound_way_is_found_to_be_one(person: Typed, environment: dict[str, str]) -> None:
    with peer(MANIFEST, MANIFEST, TIER) as there:
        config.write(environment, Config(url=there.url, max_price_micro_usd=50_000))
        credentials.keep(environment, there.url, StoredCredential("verdict_sk_x", "api_key", None, None))
        told = person("doctor")
        assert [heard.target for heard in there.heard] == ["/api/cli/manifest"] * 2 + ["/api/cli/billing/tier"]
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines() == [
        "ok       configuration: url, max-price chosen",
        "ok       files: readable by their owner alone",
        f"ok       address: {there.url}, by the configuration",
        f"ok       service: version {__version__}, as here",
        "ok       encryption: none",
        "ok       clock: 1.0 s apart from the service's",
        "ok       token: the stored one is valid: tier pro",
    ]


def found_in(program: Typed, line: str, name: str) -> dict[str, str]:
    """The one finding there is, and that it is one."""
    told = program(line)
    assert told.code == 1
    findings = [check for check in told.json["checks"] if check["finding"]]
    assert [check["check"] for check in findings] == [name]
    assert findings[0]["remedy"]
    found: dict[str, str] = findings[0]
    return found


@pytest.mark.parametrize(
    "reply",
    [
        says([]),
        answers(b"<html>"),
        answers(b"no", 404),
        *(says({"schemaVersion": 1, "data": {"version": "9"}, "meta": {"ts": ts}}) for ts in ("yesterday", None, 5)),
    ],
)
def test_what_is_no_service_of_this_kind_or_tells_no_time_is_a_finding(program: Typed, reply: Reply) -> None:
    with peer(reply, reply) as there:
        found_in(program, f"doctor --json --url {there.url}", "service")


@pytest.mark.parametrize(
    ("apart_ms", "finding"),
    [
        (30_000, None),
        (-30_000, None),
        (31_000, "The clock here is 31 s ahead of the service's, so it may refuse what is signed here."),
        (-3_600_000, "The clock here is 1 h behind the service's, so it may refuse what is signed here."),
    ],
)
def test_clocks_that_are_further_apart_than_is_forgiven_are_a_finding_that_says_which_way(
    program: Typed, now: list[int], caller: None, apart_ms: int, finding: str | None
) -> None:
    now[0] = THERE_MS + apart_ms
    with peer(MANIFEST, MANIFEST, TIER) as there:
        told = program("doctor --json --url", there.url)
    assert (told.code, told.json["checks"][5]["finding"]) == (0 if finding is None else 1, finding)


def test_time_on_the_way_is_not_held_against_a_clock(
    program: Typed, monkeypatch: pytest.MonkeyPatch, caller: None
) -> None:
    asked = iter([THERE_MS - 40_000, THERE_MS + 40_000])
    monkeypatch.setattr("service.clock.SystemClock.now_ms", lambda _: next(asked))
    with peer(MANIFEST, MANIFEST, TIER) as there:
        checks = program("doctor --json --url", there.url).json["checks"]
    assert checks[5]["said"] == "0.0 s apart from the service's"


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ([REFUSED], "VERDICT_TOKEN is refused"),
        ([Reply(b"", hang_up=True)] * 2, "VERDICT_TOKEN could not be tried"),
        ([says([])], "VERDICT_TOKEN could not be tried"),
    ],
)
def test_a_token_that_does_not_open_the_service_is_a_finding(
    program: Typed, caller: None, replies: list[Reply], said: str
) -> None:
    with peer(MANIFEST, MANIFEST, *replies) as there:
        assert found_in(program, f"doctor --json --url {there.url}", "token")["said"] == said


def test_files_that_others_can_read_are_a_finding_that_says_how_to_close_them(
    program: Typed, environment: dict[str, str]
) -> None:
    with peer(MANIFEST, MANIFEST, TIER) as there:
        config.write(environment, Config(url=there.url))
        credentials.keep(environment, there.url, StoredCredential("verdict_sk_x", "api_key", None, None))
        path = config.path(environment)
        path.chmod(0o640)
        found = found_in(program, "doctor --json", "files")
    assert found["remedy"] == f"Run `chmod 600 {path}`."


def test_a_configuration_that_is_not_understood_is_a_finding(program: Typed, environment: dict[str, str]) -> None:
    config.path(environment).parent.mkdir(parents=True)
    config.path(environment).write_text("{")
    config.path(environment).chmod(0o600)
    told = program("doctor --json")
    assert [check["check"] for check in told.json["checks"] if check["finding"]] == ["configuration", "address"]


@pytest.mark.parametrize(
    ("url", "sound"),
    [
        ("https://verdict.example", True),
        ("http://verdict.example", False),
        ("http://192.168.0.2:8402", False),
        ("http://[::1]:8402", True),
        ("http://localhost:8402", True),
        ("http://verdict.localhost", True),
        ("http://localhost.example", False),
    ],
)
def test_a_token_that_travels_in_the_clear_is_a_finding(
    program: Typed, monkeypatch: pytest.MonkeyPatch, url: str, sound: bool
) -> None:
    monkeypatch.setattr(ApiConnection, "ask", lambda *_: (_ for _ in ()).throw(UnreachableError("not in a test")))
    checks = program("doctor --json --url", url).json["checks"]
    assert (checks[2]["check"], checks[2]["finding"] is None) == ("address", sound)


def test_an_encrypted_way_and_a_plan_say_until_when_they_are_valid(
    program: Typed, monkeypatch: pytest.MonkeyPatch, caller: None
) -> None:
    ends_s = ssl.cert_time_to_seconds("Aug 24 23:59:59 2025 GMT")
    monkeypatch.setattr(ApiConnection, "tls", Tls("TLSv1.3", ends_s))
    manifest = says({"schemaVersion": 1, "data": {"version": "9.1"}, "meta": {"ts": "2025-07-26T00:00:00.000Z"}})
    tier = {"tier": "access", "expiresAt": "2026-01-01T00:00:00.000Z"}
    with peer(manifest, manifest, says({"schemaVersion": 1, "data": tier, "meta": {}})) as there:
        checks = program("doctor --json --url", there.url).json["checks"]
    assert checks[3]["said"] == f"version 9.1, and {__version__} here"
    assert checks[4]["said"] == "TLSv1.3, with a certificate that is valid for another 29 days"
    assert checks[6]["said"] == "VERDICT_TOKEN is valid: tier access until 2026-01-01 00:00 UTC"


def test_what_a_service_says_cannot_steer_the_terminal(person: Typed) -> None:
    manifest = says({"schemaVersion": 1, "data": {"version": "\x1b\x9b2J"}, "meta": {"ts": "2025-07-26T00:00:00.000Z"}})
    with peer(*[manifest] * 4) as there:
        for form in ("", " --json"):
            assert not set("\x1b\x9b") & set(person(f"doctor{form} --url", there.url).out)
