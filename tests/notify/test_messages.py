"""The vector of the signature is that of the Standard Webhooks reference libraries."""

import base64
import json

import pytest

from service.notify.messages import (
    AlertDetails,
    AlertMessage,
    checked_target,
    is_signed,
    mail_address,
    request_to,
    shown_target,
    sign,
    signing_secret,
    text_of,
    written_secret,
)
from service.wire.envelope import encode
from tests.fakes.clock import START_MS

HOOK = "https://example.org/hook"
DISCORD = "https://discord.com/api/webhooks/1/token"
TELEGRAM = "telegram://123:AB-c_d/-456"
NTFY = "ntfy://ntfy.sh/my-topic"
MAIL = "mailto:me@example.org"
DETAILS = AlertDetails(
    "evt_1", 3, "BTC > 100", "BTC", "BTC is above $100: $101.", 101.0, "2025-07-25T12:00:00.000Z", "live"
)
BODY = encode(AlertMessage("alert.price-above", "2025-07-25T12:00:00.000Z", DETAILS))
SECRET = b"s" * 32


@pytest.mark.promise("notify.signed")
def test_the_signature_is_that_of_standard_webhooks() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    made = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert written_secret(secret) == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.promise("notify.signed")
def test_a_webhook_gets_the_body_with_id_time_and_signature() -> None:
    request = request_to(HOOK, "evt_1", BODY, SECRET, START_MS)
    assert (request.url, request.body) == (HOOK, BODY)
    assert request.headers["webhook-id"] == "evt_1"
    assert request.headers["webhook-timestamp"] == str(START_MS // 1000)
    assert request.headers["webhook-signature"] == sign(SECRET, "evt_1", START_MS // 1000, BODY)
    document = json.loads(BODY)
    assert list(document) == ["type", "timestamp", "data"]
    assert document["data"]["value"] == 101.0


@pytest.mark.promise("notify.channels")
@pytest.mark.parametrize(
    ("target", "url", "body"),
    [
        (DISCORD, DISCORD, {"content": "BTC is above $100: $101.\nevt_1", "allowed_mentions": {"parse": []}}),
        (
            TELEGRAM,
            "https://api.telegram.org/bot123:AB-c_d/sendMessage",
            {"chat_id": "-456", "text": "BTC is above $100: $101.\nevt_1"},
        ),
    ],
)
def test_chats_get_the_text_and_the_id(target: str, url: str, body: object) -> None:
    request = request_to(target, "evt_1", BODY, SECRET, START_MS)
    assert (request.url, json.loads(request.body)) == (url, body)
    assert request.headers == {"Content-Type": "application/json"}


@pytest.mark.promise("notify.channels")
def test_ntfy_gets_plain_text() -> None:
    request = request_to(NTFY, "evt_1", BODY, SECRET, START_MS)
    assert (request.url, request.body) == ("https://ntfy.sh/my-topic", b"BTC is above $100: $101.\nevt_1")
    assert text_of(BODY) == "BTC is above $100: $101."


def test_a_secret_belongs_to_one_user_and_one_target() -> None:
    made = {signing_secret(b"k", user, target) for user in (1, 2) for target in (HOOK, f"{HOOK}2")}
    assert len(made) == 4
    assert signing_secret(b"k", 1, HOOK) == signing_secret(b"k", 1, HOOK)


def test_only_webhooks_are_signed_and_credentials_are_not_shown() -> None:
    targets = (HOOK, "http://10.0.0.1:80/x", DISCORD, TELEGRAM, NTFY, MAIL)
    assert [is_signed(target) for target in targets] == [True, True, False, False, False, False]
    assert [shown_target(target) for target in targets] == [
        "https://example.org/…",
        "http://10.0.0.1:80/…",
        "https://discord.com/…",
        "telegram://…",
        "ntfy://ntfy.sh/…",
        MAIL,
    ]
    assert [mail_address(target) for target in (MAIL, HOOK)] == ["me@example.org", None]


@pytest.mark.parametrize(
    "target", [HOOK, DISCORD, TELEGRAM, NTFY, MAIL, "https://[2606:4700::1111]/x", "https://1.1.1.1"]
)
def test_each_kind_of_target_is_accepted(target: str) -> None:
    assert checked_target(target, private=False) == target


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("HTTPS://Example.ORG:443/Hook?Key=A", "https://example.org:443/Hook?Key=A"),
        ("https://DISCORD.com/api/webhooks/1/Token", "https://discord.com/api/webhooks/1/Token"),
        ("https://Example.org", "https://example.org"),
    ],
)
def test_scheme_and_host_are_kept_in_lower_case_and_the_rest_as_written(written: str, target: str) -> None:
    assert checked_target(written, private=False) == target


@pytest.mark.promise("notify.channels")
@pytest.mark.parametrize("host", ["discord.com", "ptb.discord.com", "canary.discord.com", "discordapp.com"])
def test_each_host_of_discord_gets_its_text_unsigned(host: str) -> None:
    target = f"https://{host}/api/webhooks/1/token"
    assert not is_signed(target)
    assert b"content" in request_to(target, "evt_1", BODY, SECRET, START_MS).body
    assert is_signed("https://evil-discord.com/api/webhooks/1/token")


@pytest.mark.promise("notify.no-private-targets")
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("http://example.org/hook", "not a target"),
        ("https://user:password@example.org/", "not a target"),
        ("https://", "not a target"),
        ("https://example.org:99999/", "not a target"),
        ("https://[::1/", "not a target"),
        ("https://example.org/a b", "not a target"),
        ("https://example.org/\n", "not a target"),
        ("https://example.org/#x", "not a target"),
        ("ftp://example.org/", "not a target"),
        ("telegram://nonsense", "not a target"),
        ("mailto:a@b@c", "not a target"),
        ("https://example.org/" + "a" * 500, "not a target"),
        ("https://127.0.0.1/", "not public"),
        ("https://10.1.2.3/", "not public"),
        ("https://169.254.169.254/latest", "not public"),
        ("https://[::1]/", "not public"),
        ("https://[fe80::1%25eth0]/", "not public"),
        ("https://localhost/", "not public"),
        ("https://a.localhost/", "not public"),
    ],
)
def test_anything_else_is_refused(target: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        checked_target(target, private=False)


def test_private_targets_are_accepted_where_the_operator_allows_them() -> None:
    checked_target("http://127.0.0.1:8000/hook", private=True)
    with pytest.raises(ValueError, match="not a target"):
        checked_target("file:///etc/passwd", private=True)
