"""What is the caller's own: `whoami`, `keys`, `alerts` and `config`, against what the service's own types write."""

import json
from typing import Any

import msgspec
import pytest

from service.client import config, credentials
from service.client.credentials import StoredCredential
from service.clock import parse_iso
from service.wire.access import CreatedKey, Ended, KeyList, KeyRow, NewKey, RotateKey
from service.wire.alerts import AlertDeliveries, AlertDelivery, AlertList, AlertRow, CreatedAlert, NewAlert, QueuedTest
from tests.cli.conftest import Typed
from tests.cli.recorded import ANSWERS
from tests.client.sdk.peer import Reply, answers, peer, says

NOW = "2026-11-21T12:00:00.000Z"
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
MADE = CreatedKey("verdict_sk_AbCd1234wholesecret", "verdict_sk_AbCd1234", "bot", NOW, None)
KEYS = KeyList(
    [
        KeyRow("verdict_sk_AbCd1234", "bot", NOW, None, None, NOW),
        KeyRow("verdict_sk_EfGh5678", "a name \u202e that turns", NOW, "2027-01-02T00:00:00.000Z", None, None),
        KeyRow("verdict_sk_IjKl9012", "old", NOW, None, "2026-11-22T00:00:00.000Z", None),
    ]
)
HOOK = "https://example.org/hook"
ALERT = CreatedAlert(3, "BTC > 120000", "https://example.org/…", NOW, "whsec_c2VjcmV0")
ALERTS = AlertList([AlertRow(3, "BTC > 120000", ALERT.to, NOW, "armed"), AlertRow(4, "regime", ALERT.to, NOW, None)])
PENDING = AlertDelivery("evt_2", 3, "BTC > 120,000", "pending", 2, NOW, NOW, None, "No answer within 10 s.")
SENT = AlertDelivery("evt_1", 3, "BTC is above $120,010.", "delivered", 1, NOW, None, NOW, None)
NOT_SENT = "--url http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def _signed_in(environment: dict[str, str]) -> None:
    environment["VERDICT_TOKEN"] = "ey.sess.ion"


def wrote(document: object) -> Reply:
    return answers(msgspec.json.encode(document))


@pytest.mark.parametrize(
    ("answer", "fields", "kept", "lines"),
    [
        (
            SESSION,
            {"ratelimit": '"questions";r=47;t=43200', "ratelimit_policy": '"questions";q=50;w=86400'},
            StoredCredential("ey.x.y", "session", WALLET, "2026-01-29T12:00:00.000Z"),
            [
                "Tier       access, granted to your wallet, until 2026-01-01 00:00 UTC, 36 h left",
                "Questions  47 of 50 a day left, one is free again in 12 h",
                "Who        user 7",
                f"Wallet     {WALLET}",
                "Known by   a session stored here, until 2026-01-29 12:00 UTC, 30 days left",
            ],
        ),
        (
            {**TIER, "data": {**TIER["data"], "tier": "free", "source": "default"}},
            {"ratelimit": '"questions";r=7', "ratelimit_policy": '"questions";q=10'},
            None,
            ["Tier       free", "Questions  7 of 10 to start with left"],
        ),
        (
            {**SESSION, "meta": {"ts": "2026-02-01T00:00:00.000Z"}},
            {},
            StoredCredential("verdict_sk_x", "api_key", None, None),
            ["Tier      access, granted to your wallet, until 2026-01-01 00:00 UTC"],
        ),
    ],
)
def test_a_person_reads_who_they_are_what_they_may_and_for_how_long(
    person: Typed,
    environment: dict[str, str],
    answer: object,
    fields: dict[str, str],
    kept: StoredCredential | None,
    lines: list[str],
) -> None:
    with peer(says(answer, 200, **fields)) as there:
        if kept:
            del environment["VERDICT_TOKEN"]
            credentials.keep(environment, there.url, kept)
        told = person("whoami --url", there.url)
        assert there.heard[0].headers["authorization"] == f"Bearer {kept.token if kept else 'ey.sess.ion'}"
    shown = told.out.splitlines()
    assert (told.code, told.err, shown[: len(lines)]) == (0, "", lines)
    assert shown[-1].split() == ["Service", there.url]


@pytest.mark.parametrize("data", [{}, [], None, {"tier": "pro"}, {"tier": "pro", "source": [], "expiresAt": None}])
def test_an_answer_that_lacks_what_is_shown_is_none_of_this_service(person: Typed, data: object) -> None:
    with peer(says({"schemaVersion": 1, "data": data, "meta": {"ts": NOW}})) as there:
        told = person("whoami --url", there.url)
    assert (told.code, told.out, "Check that the URL is that of a Verdict service." in told.err) == (5, "", True)


COMMANDS = [
    ("whoami", "GET /api/cli/billing/tier", None, TIER),
    ("keys list", "GET /api/keys", None, KEYS),
    ("keys create --name bot --json", "POST /api/keys", NewKey("bot", None), MADE),
    ("keys rotate verdict_sk_AbCd1234 --json", "POST /api/keys/rotate", RotateKey("verdict_sk_AbCd1234", 0), MADE),
    ("keys revoke verdict_sk_AbCd1234 --json", "DELETE /api/keys?prefix=verdict_sk_AbCd1234", None, Ended()),
    (f"alerts add regime --to {HOOK}", "POST /api/alerts", NewAlert("regime", HOOK), ALERT),
    ("alerts list", "GET /api/alerts", None, ALERTS),
    ("alerts deliveries", "GET /api/alerts/deliveries", None, AlertDeliveries([PENDING, SENT])),
]


@pytest.mark.parametrize(("line", "target", "body", "answer"), COMMANDS)
def test_a_program_gets_the_answer_as_it_came(
    program: Typed, line: str, target: str, body: msgspec.Struct | None, answer: object
) -> None:
    with peer(wrote(answer)) as there:
        told = program(f"{line} --url", there.url)
    [heard] = there.heard
    assert (told.json, told.err) == (msgspec.to_builtins(answer), "")
    assert f"{heard.method} {heard.target}" == target
    assert heard.headers["authorization"] == "Bearer ey.sess.ion"
    if body is not None:
        assert msgspec.json.decode(heard.body, type=type(body)) == body


@pytest.mark.parametrize("line", [line for line, *_ in COMMANDS])
@pytest.mark.parametrize("body", [b"\x1b[2J\xc2\x9b2J\x07", b"\xff\xfe", b"<html>"])
def test_what_is_no_json_is_not_passed_on(person: Typed, program: Typed, line: str, body: bytes) -> None:
    with peer(answers(body), answers(body)) as there:
        for told in (person(f"{line} --url", there.url), program(f"{line} --url", there.url)):
            assert not set("\x1b\x9b\u202e\x07") & set(told.out + told.err)
            if "revoke" not in line:
                assert (told.code, told.out) == (5, "")


@pytest.mark.parametrize("line", ["whoami --json", "keys list --json", "keys create --name x --json"])
def test_json_that_would_steer_a_terminal_is_written_by_its_codes(person: Typed, line: str) -> None:
    with peer(answers('{"data": {}, "meta": {}, "keys": [], "a": "\x9b2J\u202e"}'.encode())) as there:
        told = person(f"{line} --url", there.url)
    assert (told.code, "\\u009b2J\\u202e" in told.out) == (0, True)


@pytest.mark.promise("notify.commands")
def test_a_person_reads_keys_and_deliveries_in_tables(person: Typed) -> None:
    with peer(wrote(KEYS), wrote(AlertDeliveries([PENDING, SENT]))) as there:
        keys, deliveries = (person(f"{line} --url", there.url).out for line in ("keys list", "alerts deliveries"))
    assert keys.splitlines() == [
        "PREFIX               STATE               LAST USED   NAME",
        "verdict_sk_AbCd1234  no end              2026-11-21  bot",
        "verdict_sk_EfGh5678  until 2027-01-02    -           a name \N{REPLACEMENT CHARACTER} that turns",
        "verdict_sk_IjKl9012  revoked 2026-11-22  -           old",
    ]
    assert deliveries.splitlines() == [
        "TIME                  STATUS     ATTEMPTS  MESSAGE",
        "2026-11-21 12:00 UTC  pending    2         No answer within 10 s.",
        "2026-11-21 12:00 UTC  delivered  1         BTC is above $120,010.",
    ]


@pytest.mark.parametrize(
    ("line", "target", "answer", "said"),
    [
        ("keys list", "GET /api/keys", KeyList([]), "You have no keys there yet."),
        ("alerts", "GET /api/alerts", AlertList([]), "You have no alerts yet. `verdict alerts add` creates one."),
        (
            "alerts test 3",
            "POST /api/alerts/test?id=3",
            QueuedTest("evt_1"),
            "A test message is on its way. `verdict alerts deliveries` shows how its delivery went.",
        ),
        ("alerts remove 3", "DELETE /api/alerts?id=3", Ended(), "Alert 3 is removed."),
    ],
)
def test_a_person_reads_in_a_line_what_was_done_or_that_there_is_nothing(
    person: Typed, line: str, target: str, answer: object, said: str
) -> None:
    with peer(wrote(answer)) as there:
        assert person(f"{line} --url", there.url) == (0, f"{said}\n", "")
    assert [f"{heard.method} {heard.target}" for heard in there.heard] == [target]


def test_a_key_is_printed_alone_and_what_is_to_know_of_it_beside(
    program: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.clock.SystemClock.now_ms", lambda _: parse_iso(NOW))
    ending = msgspec.structs.replace(MADE, expires_at="2026-12-21T12:00:00.000Z")
    with peer(wrote(MADE), wrote(ending), wrote(MADE), wrote(MADE)) as there:
        lines = (
            "create --name bot",
            "create --name bot --expires 30d",
            f"rotate {MADE.key}",
            f"rotate {MADE.prefix} --grace 12h",
        )
        told = [program(f"keys {line} --url", there.url) for line in lines]
    assert {(one.code, one.out) for one in told} == {(0, f"{MADE.key}\n")}
    shown_once = "This key is shown once: keep it now. It is valid at"
    assert [one.err for one in told] == [
        f"{shown_once} {there.url}, no expiry.\n",
        f"{shown_once} {there.url}, until 2026-12-21T12:00:00.000Z.\n",
        f"{shown_once} {there.url}, no expiry. The old key no longer works.\n",
        f"{shown_once} {there.url}, no expiry. verdict_sk_AbCd1234 works for 12 h more.\n",
    ]
    assert msgspec.json.decode(there.heard[1].body, type=NewKey).expires_at == "2026-12-21T12:00:00.000Z"
    assert msgspec.json.decode(there.heard[3].body, type=RotateKey).grace_seconds == 43_200
    assert "wholesecret" not in str([(heard.target, heard.body) for heard in there.heard])


@pytest.mark.parametrize("prefix", ["nope", "verdict_sk_AbCd123", "verdict_sk_AbCd1234!", "verdict_sk_AbCd\u0661234"])
@pytest.mark.parametrize("line", ["keys revoke {}", "keys rotate {}"])
def test_what_begins_no_key_is_refused_before_anything_is_sent(program: Typed, line: str, prefix: str) -> None:
    told = program(f"{line.format(prefix)} {NOT_SENT}")
    assert (told.code, "A key begins like verdict_sk_AbCd1234" in told.err) == (1, True)


@pytest.mark.parametrize("line", [line for line, *_ in COMMANDS if line.startswith("keys")])
def test_a_key_in_the_environment_is_no_session(program: Typed, environment: dict[str, str], line: str) -> None:
    environment["VERDICT_TOKEN"] = "verdict_sk_s3cret"
    told = program(f"{line} {NOT_SENT}")
    assert (told.code, "VERDICT_TOKEN is an API key" in told.err, "s3cret" in told.err) == (2, True, False)


@pytest.mark.parametrize("text", ["soon", "0m", "", "m", "5", "5s", "-5m", "5 m", "1234567m", "\u0665m", "000d"])
def test_what_is_no_duration_is_refused(person: Typed, text: str) -> None:
    told = person(f"keys create --name bot {NOT_SENT} --expires", text)
    assert (told.code, "is not a duration. Write a number and a unit" in told.err) == (1, True)


def test_what_is_set_holds_until_it_is_unset(program: Typed, environment: dict[str, str]) -> None:
    for name, value, other in (("url", "https://verdict.example", config.URL), ("max-day", "5.00", "1.00")):
        assert program(f"config get {name}").out == f"{other}\n"
        assert program(f"config set {name} {value}") == (0, "", "")
        assert program(f"config get {name}").out == f"{value}\n"
        assert program(f"config unset {name}") == (0, "", "")
    assert config.read(environment) == config.Config()
    told = program("config get keystore")
    assert (told.code, told.out) == (1, "")
    assert told.err == "verdict: keystore is not set. Set it with `verdict config set keystore VALUE`.\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("set max-price 0,05", "max-price: '0,05' is not an amount of USDC"),
        ("set max-day 2000", "max-day: 2000 USDC is above the highest possible limit, 1,000 USDC"),
        ("set url verdict.example", "url: 'verdict.example' is not a valid service URL"),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_nothing_is_written(
    program: Typed, environment: dict[str, str], line: str, said: str
) -> None:
    told = program(f"config {line}")
    assert (told.code, told.out, said in told.err) == (1, "", True)
    assert not config.path(environment).exists()


@pytest.mark.parametrize(
    "line", ["config list", "config get url", "config set max-day 1", "config unset url", "whoami"]
)
def test_a_file_with_a_misspelt_ceiling_is_refused_by_every_command_that_reads_it(
    program: Typed, environment: dict[str, Any], line: str
) -> None:
    config.path(environment).parent.mkdir(parents=True)
    config.path(environment).write_text(json.dumps({"max_price": "0.01"}))
    told = program(line)
    assert (told.code, "There is no setting 'max_price'" in told.err) == (1, True)
