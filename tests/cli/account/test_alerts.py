"""Against what the service's own types write, and read as they read."""

import msgspec
import pytest

from service.wire.access import Ended
from service.wire.alerts import (
    AlertDeliveries,
    AlertDelivery,
    AlertList,
    AlertRow,
    CreatedAlert,
    NewAlert,
    QueuedTest,
)
from tests.cli.account.conftest import Typed
from tests.client.sdk.peer import Reply, answers, peer, says

NOW = "2026-11-21T12:00:00.000Z"
HOOK = "https://example.org/hook"
MADE = CreatedAlert(3, "BTC > 120000", "https://example.org/…", NOW, "whsec_c2VjcmV0")
DELIVERIES = AlertDeliveries(
    [
        AlertDelivery(
            "evt_2", 3, "BTC is above $120,000: $120,050.", "pending", 2, NOW, NOW, None, "No answer within 10 s."
        ),
        AlertDelivery("evt_1", 3, "BTC is above $120,000: $120,010.", "delivered", 1, NOW, None, NOW, None),
    ]
)


def wrote(document: object) -> Reply:
    return answers(msgspec.json.encode(document))


@pytest.fixture(autouse=True)
def _key(environment: dict[str, str]) -> None:
    environment["VERDICT_TOKEN"] = "verdict_sk_AbCd1234wholesecret"


@pytest.mark.promise("notify.commands")
def test_a_rule_is_created_and_its_secret_is_shown(person: Typed) -> None:
    with peer(wrote(MADE)) as there:
        told = person("alerts add --url", there.url, "BTC > 120000", "--to", HOOK)
        [heard] = there.heard
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines() == [
        "Alert 3: BTC > 120000, sent to https://example.org/…",
        "Requests are signed (Standard Webhooks) with the secret whsec_c2VjcmV0",
    ]
    assert (heard.method, heard.target) == ("POST", "/api/alerts")
    assert msgspec.json.decode(heard.body, type=NewAlert) == NewAlert("BTC > 120000", HOOK)


def test_a_rule_without_a_secret_is_one_line(person: Typed) -> None:
    with peer(wrote(msgspec.structs.replace(MADE, secret=None))) as there:
        assert person("alerts add regime --to ntfy://ntfy.sh/x --url", there.url).out.count("\n") == 1


@pytest.mark.promise("notify.commands")
def test_rules_are_listed(person: Typed) -> None:
    rows = AlertList([AlertRow(3, "BTC > 120000", MADE.to, NOW, "armed"), AlertRow(4, "regime", MADE.to, NOW, None)])
    with peer(wrote(rows), wrote(rows), wrote(AlertList([]))) as there:
        assert person("alerts list --url", there.url).out.splitlines() == [
            "ID  RULE          STATE  TO",
            "3   BTC > 120000  armed  https://example.org/…",
            "4   regime        -      https://example.org/…",
        ]
        assert person("alerts --url", there.url).out.count("\n") == 3
        assert (
            person("alerts list --url", there.url).out == "You have no alerts yet. `verdict alerts add` creates one.\n"
        )


@pytest.mark.promise("notify.commands")
def test_messages_are_listed_with_what_became_of_them(person: Typed) -> None:
    with peer(wrote(DELIVERIES), wrote(AlertDeliveries([]))) as there:
        assert person("alerts deliveries --url", there.url).out.splitlines() == [
            "TIME                  STATUS     ATTEMPTS  MESSAGE",
            "2026-11-21 12:00 UTC  pending    2         No answer within 10 s.",
            "2026-11-21 12:00 UTC  delivered  1         BTC is above $120,000: $120,010.",
        ]
        assert person("alerts deliveries --url", there.url).out == "There are no messages yet.\n"


@pytest.mark.promise("notify.commands")
def test_a_rule_is_tested_and_removed_by_its_id(person: Typed) -> None:
    with peer(wrote(QueuedTest("evt_1")), wrote(Ended())) as there:
        assert person("alerts test 3 --url", there.url).out.startswith("A test message is on its way.")
        assert person("alerts remove 3 --url", there.url).out == "Alert 3 is removed.\n"
        assert [(heard.method, heard.target) for heard in there.heard] == [
            ("POST", "/api/alerts/test?id=3"),
            ("DELETE", "/api/alerts?id=3"),
        ]


@pytest.mark.parametrize("line", ["add regime --to https://x.example", "list", "deliveries"])
def test_a_program_gets_the_answer_as_it_is(program: Typed, line: str) -> None:
    with peer(wrote(MADE)) as there:
        assert program(f"alerts {line} --url", there.url).json == msgspec.to_builtins(MADE)


@pytest.mark.parametrize("line", ["add regime --to https://x.example", "list", "deliveries"])
def test_an_answer_that_is_not_of_this_api_is_not_shown(person: Typed, line: str) -> None:
    with peer(says({"alerts": [{}], "deliveries": [{}]})) as there:
        told = person(f"alerts {line} --url", there.url)
    assert (told.code, told.out) != (0, "")
    assert told.out == ""


def test_a_refusal_is_told_as_the_service_says_it(person: Typed) -> None:
    refusal = {"code": "BAD_REQUEST", "message": "This is not a rule.", "details": {"parameter": "rule"}}
    with peer(says({"schemaVersion": 1, "error": refusal}, 400)) as there:
        told = person("alerts add nonsense --to https://x.example --url", there.url)
    assert told.code != 0
    assert "This is not a rule." in told.err
