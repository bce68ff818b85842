import json
from pathlib import Path

import pytest

from service.client import credentials
from service.client.credentials import StoredCredential
from tests.cli.account.conftest import Typed
from tests.client.sdk.peer import answers, peer, says

ANSWERS = Path(__file__).parents[2] / "client" / "answers"
TIER = json.loads((ANSWERS / "billing.tier.json").read_bytes())
WALLET = "0x" + "aB" * 20
SESSION = {
    "schemaVersion": 1,
    "data": {
        "tier": "access",
        "source": "wallet",
        "expiresAt": "2026-01-01T00:00:00.000Z",
        "identity": {"kind": "session", "userId": 7, "walletAddress": WALLET},
    },
    "meta": {"ts": "2025-12-30T12:00:00.000Z"},
}


def test_a_person_reads_who_they_are_what_they_may_and_for_how_long(person: Typed, environment: dict[str, str]) -> None:
    fields = {"ratelimit": '"questions";r=47;t=43200', "ratelimit_policy": '"questions";q=50;w=86400'}
    with peer(says(SESSION, 200, **fields)) as there:
        environment["VERDICT_URL"] = there.url
        credentials.keep(
            environment, there.url, StoredCredential("ey.x.y", "session", WALLET, "2026-01-29T12:00:00.000Z")
        )
        told = person("whoami")
        assert there.heard[0].headers["authorization"] == "Bearer ey.x.y"
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines() == [
        "Tier       access, given to your wallet, until 2026-01-01 00:00 UTC, 36 h left",
        "Questions  47 of 50 a day left, one is free again in 12 h",
        "Who        user 7",
        f"Wallet     {WALLET}",
        "Known by   a session stored here, until 2026-01-29 12:00 UTC, 30 days left",
        f"Service    {there.url}",
    ]


def test_a_key_of_the_environment_is_said_to_be_one(person: Typed, environment: dict[str, str]) -> None:
    with peer(says(TIER)) as there:
        environment |= {"VERDICT_URL": there.url, "VERDICT_TOKEN": "verdict_sk_x"}
        credentials.keep(environment, there.url, StoredCredential("ey.x.y", "session", WALLET, None))
        told = person("whoami")
        assert there.heard[0].headers["authorization"] == "Bearer verdict_sk_x"
    assert told.out.splitlines() == [
        "Tier      pro, given by the operator, no expiry",
        "Who       user 1",
        "Known by  an API key in VERDICT_TOKEN",
        f"Service   {there.url}",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"ratelimit": '"questions";r=7', "ratelimit_policy": '"questions";q=10'}, "7 of 10 to start with left"),
        ({"ratelimit": '"questions";r=0'}, "0 left"),
    ],
)
def test_a_free_plan_is_said_without_an_end(
    person: Typed, environment: dict[str, str], fields: dict[str, str], said: str
) -> None:
    free = {**TIER, "data": {**TIER["data"], "tier": "free", "source": "default"}}
    with peer(says(free, 200, **fields)) as there:
        told = person("whoami --url", there.url)
    assert told.out.splitlines()[:2] == ["Tier       free", f"Questions  {said}"]


def test_a_kept_key_without_an_end_and_an_end_that_has_passed(person: Typed, environment: dict[str, str]) -> None:
    ended = {**SESSION, "meta": {"ts": "2026-02-01T00:00:00.000Z"}}
    with peer(says(ended)) as there:
        credentials.keep(environment, there.url, StoredCredential("verdict_sk_x", "api_key", None, None))
        told = person("whoami --url", there.url)
    assert "until 2026-01-01 00:00 UTC\n" in told.out
    assert "Known by  a session stored here, no expiry" in told.out


def test_a_program_gets_the_answer_as_it_came(program: Typed, environment: dict[str, str]) -> None:
    body = (ANSWERS / "billing.tier.json").read_bytes()
    with peer(answers(body)) as there:
        told = program("whoami --url", there.url)
        assert [(heard.method, heard.target) for heard in there.heard] == [("GET", "/api/cli/billing/tier")]
    assert (told.code, told.out) == (0, body.decode())


def test_who_is_nobody_there_is_told_to_sign_in(person: Typed, program: Typed) -> None:
    refusal = json.loads((ANSWERS / "refused.no-token.json").read_bytes())
    with peer(says(refusal, 403), says(refusal, 403)) as there:
        told = person("whoami --url", there.url)
        assert (told.code, told.out) == (2, "")
        assert "`verdict login`" in told.err
        told = person("whoami --json --url", there.url)
    assert (told.code, json.loads(told.err)) == (2, refusal)


def test_what_a_service_writes_cannot_steer_the_terminal(person: Typed) -> None:
    evil = {**TIER, "data": {**TIER["data"], "tier": "\x1b[2Jpro", "source": "\x1b]0;x\x07"}}
    with peer(says(evil)) as there:
        told = person("whoami --url", there.url)
    assert "\x1b" not in told.out
    assert "\x07" not in told.out


@pytest.mark.parametrize("data", [{}, [], None, {"tier": "pro"}, {"tier": "pro", "source": [], "expiresAt": None}])
def test_an_answer_that_lacks_what_is_shown_is_none_of_this_service(person: Typed, data: object) -> None:
    with peer(says({"schemaVersion": 1, "data": data, "meta": {"ts": "2025-12-30T12:00:00.000Z"}})) as there:
        told = person("whoami --url", there.url)
    assert (told.code, told.out) == (5, "")
    assert "is that address a Verdict service?" in told.err


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[]", b'{"data": {}}'])
def test_what_is_no_answer_is_not_passed_on_as_one(program: Typed, body: bytes) -> None:
    with peer(answers(body)) as there:
        told = program("whoami --url", there.url)
    assert (told.code, told.out) == (5, "")
