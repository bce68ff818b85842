"""The message of an event, and the HTTP request that carries it to each kind of target. Pure.

Webhooks follow Standard Webhooks 1.0 (standardwebhooks.com): `webhook-id` is the event's id in every attempt,
`webhook-signature` is HMAC-SHA256 over `id.timestamp.body`. Telegram: Bot API `sendMessage`. Discord: "Execute
Webhook". ntfy: "Publish".
"""

import base64
import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from service.clock import SECOND_MS
from service.upstream.ssrf_guard import is_public
from service.wire.envelope import encode

TARGETS: Final = "`https://HOST/PATH`, `telegram://BOT_TOKEN/CHAT_ID`, `ntfy://HOST/TOPIC` or `mailto:ADDRESS`"

_VISIBLE: Final = re.compile(r"[!-~]{1,500}\Z")
_TELEGRAM: Final = re.compile(r"telegram://([0-9]{1,20}:[A-Za-z0-9_-]{1,100})/(-?[0-9]{1,20}|@[A-Za-z0-9_]{1,64})\Z")
_NTFY: Final = re.compile(r"ntfy://([A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?/[A-Za-z0-9_-]{1,64})\Z")
_MAIL: Final = re.compile(r"mailto:([A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)\Z")
_DISCORD: Final = re.compile(r"https://(?:(?:ptb|canary)\.)?(?:discord|discordapp)\.com/api/webhooks/")
_JSON: Final = {"Content-Type": "application/json"}


class AlertDetails(Struct, frozen=True):
    """What happened.

    `value` is a price in USD, a verdict, a regime, a direction of breadth, or a funding zone that was entered; for one
    that was left it is `left` and the zone.
    `as_of` is when it was observed; `source` is `live` or `fixtures`.
    """

    id: str
    alert: int
    rule: str
    symbol: str | None
    message: str
    value: float | str
    as_of: str
    source: str


class AlertMessage(Struct, frozen=True):
    """The body of a webhook; the other channels get `message` and the id."""

    type: str
    timestamp: str
    data: AlertDetails


class PushRequest(Struct, frozen=True):
    """A POST request."""

    url: str
    body: bytes
    headers: Mapping[str, str]


def checked_target(target: str, *, private: bool) -> str:
    """Check the form of a target. Its address is checked again when it is connected to.

    Args:
        target: As the user wrote it.
        private: Whether `http` and addresses that are not public are allowed.

    Returns:
        The target, a webhook's with scheme and host in lower case.

    Raises:
        ValueError: If it cannot be used; the message is a sentence for its author.
    """
    if _TELEGRAM.match(target) or _NTFY.match(target) or _MAIL.match(target):
        return target
    schemes = {"https", "http"} if private else {"https"}
    if not _VISIBLE.match(target) or "#" in target:
        raise ValueError(f"This is not a target for alerts. Use {TARGETS}.")
    try:
        parts = urlsplit(target)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in schemes or not host or "@" in parts.netloc:
        raise ValueError(f"This is not a target for alerts. Use {TARGETS}.")
    if not private and _is_private(host):
        raise ValueError("The target's address is not public. Alerts are sent to public addresses only.")
    start = f"{parts.scheme}://{parts.netloc}"
    return start.lower() + target[len(start) :]


def _is_private(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return not is_public(host)


def mail_address(target: str) -> str | None:
    """The address of an e-mail target; null for other targets."""
    found = _MAIL.match(target)
    return found[1] if found else None


def shown_target(target: str) -> str:
    """A target without what may be a credential: `https://example.org/…`."""
    if target.startswith("mailto:"):
        return target
    parts = urlsplit(target)
    return "telegram://…" if parts.scheme == "telegram" else f"{parts.scheme}://{parts.netloc}/…"


def is_signed(target: str) -> bool:
    """Whether requests to a target are signed: those to webhooks that are not Discord's."""
    return target.startswith(("https://", "http://")) and not _DISCORD.match(target)


def signing_secret(key: bytes, user_id: int, target: str) -> bytes:
    """The secret of a user's webhook, 32 bytes: the same for all rules with this target.

    Args:
        key: The service's own.
        user_id: The owner.
        target: The webhook's URL.
    """
    return hmac.digest(key, f"{user_id} {target}".encode(), sha256)


def written_secret(secret: bytes) -> str:
    """A secret as Standard Webhooks writes it."""
    return f"whsec_{base64.b64encode(secret).decode()}"


def sign(secret: bytes, event_id: str, timestamp_s: int, body: bytes) -> str:
    """The `webhook-signature` of an attempt."""
    digest = hmac.digest(secret, b"%b.%d.%b" % (event_id.encode(), timestamp_s, body), sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def text_of(body: bytes) -> str:
    """What a person reads of a message."""
    return msgspec.json.decode(body, type=AlertMessage).data.message


def request_to(target: str, event_id: str, body: bytes, secret: bytes, now_ms: int) -> PushRequest:
    """The request that carries a message to a target that takes HTTP.

    Args:
        target: Checked by `checked_target`.
        event_id: Id of the event.
        body: An encoded `AlertMessage`.
        secret: Signs requests to webhooks.
        now_ms: Time of the attempt, epoch ms.
    """
    text = f"{text_of(body)}\n{event_id}"
    if telegram := _TELEGRAM.match(target):
        token, chat = telegram.groups()
        url = f"https://api.telegram.org/bot{token}/sendMessage"
        return PushRequest(url, encode({"chat_id": chat, "text": text}), _JSON)
    if ntfy := _NTFY.match(target):
        return PushRequest(f"https://{ntfy[1]}", text.encode(), {"Content-Type": "text/plain; charset=utf-8"})
    if _DISCORD.match(target):
        return PushRequest(target, encode({"content": text, "allowed_mentions": {"parse": []}}), _JSON)
    timestamp_s = now_ms // SECOND_MS
    headers = {
        **_JSON,
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": sign(secret, event_id, timestamp_s, body),
    }
    return PushRequest(target, body, headers)
