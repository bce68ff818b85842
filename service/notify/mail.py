"""Sends messages by e-mail, through the operator's SMTP server (RFC 5321; STARTTLS, or TLS from the start)."""

import smtplib
import ssl
from contextlib import closing, suppress
from email.message import EmailMessage
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

DEADLINE_S: Final = 10.0
"""Seconds for each step of the dialogue."""


class MailSettings(Struct, frozen=True):
    """The operator's mail server.

    Attributes:
        url: `smtps://user:password@host:465`, or `smtp://` for STARTTLS where a user is given.
        sender: The address that messages come from.
        recipients: Who may be written to: addresses, or `@domain` for a whole domain.
    """

    url: str
    sender: str
    recipients: tuple[str, ...]

    def allows(self, address: str) -> bool:
        """Whether alerts may be sent to an address."""
        address = address.lower()
        allowed = {each.lower() for each in self.recipients}
        return address in allowed or f"@{address.rpartition('@')[2]}" in allowed


def send_mail(settings: MailSettings, to: str, event_id: str, text: str) -> str | None:
    """Send a message. Blocks for seconds: call it on a thread.

    Returns:
        The error, null if the server took the message. `Message-ID` is made of the event's id, so that duplicates can
        be recognized.
    """
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.sender, to, text
    message["Message-ID"] = f"<{event_id}@{settings.sender.rpartition('@')[2]}>"
    message.set_content(f"{text}\n\n{event_id}\n")
    try:
        with closing(_connect(settings.url)) as server:
            server.send_message(message)
            with suppress(smtplib.SMTPException, OSError):  # the server has taken the message
                server.quit()
    except (smtplib.SMTPException, OSError) as error:
        return f"The mail server failed: {type(error).__name__}."
    return None


def _connect(url: str) -> smtplib.SMTP:
    parts = urlsplit(url)
    host, tls = str(parts.hostname), ssl.create_default_context()
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, parts.port or 465, timeout=DEADLINE_S, context=tls)
    else:
        server = smtplib.SMTP(host, parts.port or 587, timeout=DEADLINE_S)
    try:
        if parts.username is not None:
            if parts.scheme == "smtp":
                server.starttls(context=tls)
            server.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        server.close()
        raise
    return server
