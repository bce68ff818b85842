"""What is the caller's own: `whoami`, `keys`, `alerts` and `config`, against what the service's own types write."""

import json
from typing import Any

import msgspec
import pytest

from service.client import config, credentials
from service.client.credentials import StoredCredential
from service.clock import parse_iso
from service.wire.access import CreatedKey, Ended, KeyList, KeyRow, NewKey, RotateKey
from service.wire.alerts import (
    AlertDeliveries,
    AlertDelivery,
    AlertList,
    AlertRow,
    CreatedAlert,
    NewAlert,
    QueuedTest,
)
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
DELIVERIES = AlertDeliveries(
    [
        AlertDelivery("evt_2", 3, "BTC is above $120,050.", "pending", 2, NOW, NOW, None, "No answer within 10 s."),
        AlertDelivery("evt_1", 3, "BTC is above $120,010.", "delivered", 1, NOW, None, NOW, None),
    ]
)
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
                "Tier       access, given to your wallet, until 2026-01-01 00:00 UTC, 36 h left",
                "Questions  47 of 50 a day left, one is free again in 12 h",
                "Who        user 7",
                f"Wallet     {WALLET}",
                "Known by   a session stored here, until 2026-01-29 12:00 UTC, 30 days left",
            ],
        ),
        (
            TIER,
            {},
            None,
            [
                "Tier      pro, given by the operator, no expiry",
                "Who       user 1",
                "Known by  an API key in VERDICT_TOKEN",
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
            ["Tier      access, given to your wallet, until 2026-01-01 00:00 UTC"],
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


def test_who_is_nobody_there_is_told_to_sign_in(person: Typed) -> None:
    refusal = json.loads((ANSWERS / "refused.no-token.json").read_bytes())
    with peer(says(refusal, 403), says(refusal, 403)) as there:
        told = person("whoami --url", there.url)
        assert (told.code, told.out, "`verdict login`" in told.err) == (2, "", True)
        told = person("whoami --json --url", there.url)
    assert (told.code, json.loads(told.err)) == (2, refusal)


COMMANDS = [
    ("whoami", "GET /api/cli/billing/tier", None, TIER),
    ("keys list", "GET /api/keys", None, KEYS),
    ("keys create --name bot --json", "POST /api/keys", NewKey("bot", None), MADE),
    ("keys rotate verdict_sk_AbCd1234 --json", "POST /api/keys/rotate", RotateKey("verdict_sk_AbCd1234", 0), MADE),
    ("keys revoke verdict_sk_AbCd1234 --json", "DELETE /api/keys?prefix=verdict_sk_AbCd1234", None, Ended()),
    (f"alerts add regime --to {HOOK}", "POST /api/alerts", NewAlert("regime", HOOK), ALERT),
    ("alerts list", "GET /api/alerts", None, ALERTS),
    ("alerts deliveries", "GET /api/alerts/deliveries", None, DELIVERIES),
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
@pytest.mark.parametrize(
    ("line", "answer", "lines"),
    [
        (
            "keys list",
            KEYS,
            [
                "PREFIX               STATE               LAST USED   NAME",
                "verdict_sk_AbCd1234  no end              2026-11-21  bot",
                "verdict_sk_EfGh5678  until 2027-01-02    -           a name \N{REPLACEMENT CHARACTER} that turns",
                "verdict_sk_IjKl9012  revoked 2026-11-22  -           old",
            ],
        ),
        ("keys list", KeyList([]), ["You have no keys there yet."]),
        ("keys revoke verdict_sk_AbCd1234", Ended(), ["verdict_sk_AbCd1234 is revoked."]),
        (
            f"alerts add regime --to {HOOK}",
            ALERT,
            [
                "Alert 3: BTC > 120000, sent to https://example.org/…",
                "Requests are signed (Standard Webhooks) with the secret whsec_c2VjcmV0",
            ],
        ),
        (
            f"alerts add regime --to {HOOK}",
            msgspec.structs.replace(ALERT, secret=None),
            ["Alert 3: BTC > 120000, sent to https://example.org/…"],
        ),
        (
            "alerts",
            ALERTS,
            [
                "ID  RULE          STATE  TO",
                "3   BTC > 120000  armed  https://example.org/…",
                "4   regime        -      https://example.org/…",
            ],
        ),
        ("alerts list", AlertList([]), ["You have no alerts yet. `verdict alerts add` creates one."]),
        (
            "alerts deliveries",
            DELIVERIES,
            [
                "TIME                  STATUS     ATTEMPTS  MESSAGE",
                "2026-11-21 12:00 UTC  pending    2         No answer within 10 s.",
                "2026-11-21 12:00 UTC  delivered  1         BTC is above $120,010.",
            ],
        ),
        ("alerts deliveries", AlertDeliveries([]), ["There are no messages yet."]),
        (
            "alerts test 3",
            QueuedTest("evt_1"),
            ["A test message is on its way. `verdict alerts deliveries` shows how its delivery went."],
        ),
        ("alerts remove 3", Ended(), ["Alert 3 is removed."]),
    ],
)
def test_a_person_reads_it_in_lines(person: Typed, line: str, answer: object, lines: list[str]) -> None:
    with peer(wrote(answer)) as there:
        told = person(f"{line} --url", there.url)
    assert (told.code, told.out.splitlines()) == (0, lines)


@pytest.mark.parametrize("line", ["alerts remove 9", "alerts test 9"])
def test_an_alert_that_is_not_there_is_looked_for_with_a_command(person: Typed, line: str) -> None:
    with peer(says({"error": {"code": "NOT_FOUND", "message": "GET /api/alerts lists yours."}}, 404)) as there:
        told = person(f"{line} --url", there.url)
    assert (told.code, told.err) == (4, "verdict: You have no alert 9. `verdict alerts list` lists yours.\n")


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


@pytest.mark.parametrize("option", ["--tier pro", "--wallet 0x1", "--user 3"])
def test_what_only_the_operator_decides_is_refused_before_anything_is_sent(program: Typed, option: str) -> None:
    told = program(f"keys create --name bot {option} {NOT_SENT}")
    assert (told.code, f"`verdict keys {option.split(maxsplit=1)[0]}` is now `verdict admin keys`." in told.err) == (
        1,
        True,
    )


def test_somebody_who_is_not_signed_in_reads_where_an_operator_finds_the_keys(
    person: Typed, program: Typed, environment: dict[str, str]
) -> None:
    del environment["VERDICT_TOKEN"]
    assert "use `verdict admin keys`" in person(f"keys list {NOT_SENT}").err
    assert json.loads(program(f"keys list {NOT_SENT}").err)["error"]["code"] == "UNREACHABLE"


@pytest.mark.parametrize("line", [line for line, *_ in COMMANDS if line.startswith("keys")])
def test_a_key_in_the_environment_is_no_session(program: Typed, environment: dict[str, str], line: str) -> None:
    environment["VERDICT_TOKEN"] = "verdict_sk_s3cret"
    told = program(f"{line} {NOT_SENT}")
    assert (told.code, "VERDICT_TOKEN is an API key" in told.err, "s3cret" in told.err) == (2, True, False)


@pytest.mark.parametrize("text", ["soon", "0m", "", "m", "5", "5s", "-5m", "5 m", "1234567m", "\u0665m", "000d"])
def test_what_is_no_duration_is_refused(person: Typed, text: str) -> None:
    told = person(f"keys create --name bot {NOT_SENT} --expires", text)
    assert (told.code, "is not a duration. Write a number and a unit" in told.err) == (1, True)


def test_preferences_are_listed_with_where_each_comes_from(
    person: Typed, program: Typed, environment: dict[str, str]
) -> None:
    assert program("config").json == {
        "url": {"value": "http://127.0.0.1:8402", "from": "default"},
        "keystore": {"value": None, "from": "-"},
        "max-price": {"value": "0.10", "from": "default"},
        "max-day": {"value": "1.00", "from": "default"},
    }
    person("config set max-price 0.050")
    environment["VERDICT_URL"] = "https://Verdict.Example/"
    assert person("config").out.splitlines() == [
        "NAME       VALUE                    FROM",
        "url        https://verdict.example  VERDICT_URL",
        "keystore   -                        -",
        "max-price  0.05                     the file",
        "max-day    1.00                     default",
    ]
    environment["XDG_CONFIG_HOME"] = "/somewhere"
    assert program("config path").out == "/somewhere/verdict/config.json\n"


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
        ("set max-price 9999999", "max-price: 9999999 USDC is above the highest possible limit, 1,000 USDC"),
        ("set url verdict.example", "url: 'verdict.example' is not a valid service URL"),
        ("set token abc", "'token' is not one of"),
        ("get price", "'price' is not one of"),
        ("set url", "Missing argument 'VALUE'"),
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
