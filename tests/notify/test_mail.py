"""A mail server on the loopback speaks just enough SMTP (RFC 5321) to take a message."""

import smtplib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest

from service.notify.mail import MailSettings, send_mail

PATIENCE_S = 20.0


@contextmanager
def mail_server(
    greeting: bytes = b"220 here\r\n", goodbye: bytes = b"221 bye\r\n"
) -> Iterator[tuple[int, list[bytes]]]:
    """Yields its port and the lines that it is sent."""
    lines: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(PATIENCE_S)

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as incoming:
            connection.settimeout(PATIENCE_S)
            connection.sendall(greeting)
            in_data = False
            for line in incoming:
                lines.append(line)
                if in_data:
                    in_data = line != b".\r\n"
                    answer = b"" if in_data else b"250 taken\r\n"
                else:
                    in_data = line.upper().startswith(b"DATA")
                    usual = goodbye if line.upper().startswith(b"QUIT") else b"250 fine\r\n"
                    answer = b"354 go on\r\n" if in_data else usual
                connection.sendall(answer)
                if not goodbye and line.upper().startswith(b"QUIT"):
                    return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], lines
    finally:
        thread.join(PATIENCE_S)
        listener.close()


def settings(url: str) -> MailSettings:
    return MailSettings(url, "alerts@example.org", ("me@example.org", "@Example.COM"))


@pytest.mark.promise("notify.channels")
def test_a_message_carries_text_and_id() -> None:
    with mail_server() as (port, lines):
        assert send_mail(settings(f"smtp://127.0.0.1:{port}"), "me@example.org", "evt_1", "BTC is above $100.") is None
    sent = b"".join(lines).decode()
    assert "rcpt TO:<me@example.org>" in sent
    assert "From: alerts@example.org\r\nTo: me@example.org\r\nSubject: BTC is above $100.\r\n" in sent
    assert "Message-ID: <evt_1@example.org>" in sent
    assert "\r\n\r\nBTC is above $100.\r\n\r\nevt_1\r\n" in sent


@pytest.mark.parametrize("goodbye", [b"421 restarting\r\n", b""])
def test_a_message_that_was_taken_counts_whatever_the_server_says_to_quit(goodbye: bytes) -> None:
    with mail_server(goodbye=goodbye) as (port, lines):
        assert send_mail(settings(f"smtp://127.0.0.1:{port}"), "me@example.org", "evt_1", "x") is None
    assert b".\r\n" in lines


@pytest.mark.parametrize("greeting", [b"554 go away\r\n", b""])
def test_a_failure_is_reported_without_the_servers_text(greeting: bytes) -> None:
    if greeting:
        with mail_server(greeting) as (port, _):
            error = send_mail(settings(f"smtp://127.0.0.1:{port}"), "me@example.org", "evt_1", "x")
        assert error == "The mail server failed: SMTPConnectError."
    else:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        error = send_mail(settings(f"smtp://127.0.0.1:{port}"), "me@example.org", "evt_1", "x")
        assert error == "The mail server failed: ConnectionRefusedError."


@pytest.mark.parametrize(
    ("url", "kind", "port", "starttls"),
    [
        ("smtps://me:pass%40word@mail.example.org", "SMTP_SSL", 465, 0),
        ("smtp://me:pass%40word@mail.example.org", "SMTP", 587, 1),
    ],
)
def test_a_password_is_sent_over_tls_only(url: str, kind: str, port: int, starttls: int) -> None:
    with mock.patch(f"service.notify.mail.smtplib.{kind}") as connect:
        assert send_mail(settings(url), "me@example.org", "evt_1", "x") is None
    assert connect.call_args.args == ("mail.example.org", port)
    server = connect.return_value
    assert server.starttls.call_count == starttls
    assert server.login.call_args.args == ("me", "pass@word")


def test_a_connection_that_cannot_sign_in_is_closed() -> None:
    with mock.patch("service.notify.mail.smtplib.SMTP_SSL") as connect:
        connect.return_value.login.side_effect = smtplib.SMTPAuthenticationError(535, b"no")
        error = send_mail(settings("smtps://me:x@mail.example.org"), "me@example.org", "evt_1", "x")
    assert error == "The mail server failed: SMTPAuthenticationError."
    assert connect.return_value.close.call_count == 1


def test_addresses_are_allowed_one_by_one_or_by_domain() -> None:
    allowed = settings("smtps://mail.example.org").allows
    addresses = ("me@example.org", "ME@example.org", "any@example.com", "other@example.org", "me@sub.example.com")
    assert [allowed(address) for address in addresses] == [True, True, True, False, False]
