"""The connection against a peer that answers byte for byte as it is told."""

import json
import socket
import weakref
from contextlib import suppress
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service import __version__
from service.client.address import read_address
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.connection import FRESH_S, MOST_BYTES, ApiConnection, fill
from service.client.errors import VerdictError
from tests.client.sdk.peer import Reply, answers, peer, says
from tests.fakes.clock import FakeClock
from tests.fakes.proxy import unset_variables

ENVELOPE = {"schemaVersion": 1, "data": {"symbol": "BTC"}, "meta": {"ts": "2025-07-25T23:59:59.999Z"}}
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LOST = Reply(b"", hang_up=True)
PAID = {"PAYMENT-SIGNATURE": "x"}


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    unset_variables(monkeypatch)


def test_a_request_is_sent_as_it_was_asked_and_answered_with_its_envelope() -> None:
    with peer(says(ENVELOPE, x_request_id="r1"), says({"ok": True})) as there:
        client = ApiConnection(there.url, "verdict_sk_x")
        answer = client.ask("GET", "/p", {"count": 3, "unit": None, "name": "AI & Big"}, headers={"X-More": "1"})
        assert (answer.status, answer.data, answer.headers["x-request-id"]) == (200, {"symbol": "BTC"}, "r1")
        assert answer.meta == ENVELOPE["meta"]
        client.token = None
        assert client.ask("POST", "/api/keys", body={"name": "é"}).document == {"ok": True}
        asked, posted = there.heard
        assert (asked.method, asked.target, asked.body) == ("GET", "/p?count=3&name=AI+%26+Big", b"")
        sent = {"authorization": "Bearer verdict_sk_x", "accept": "application/json", "x-more": "1"}
        assert (sent | {"user-agent": f"verdict/{__version__}"}).items() <= asked.headers.items()
        assert (json.loads(posted.body), posted.headers["content-type"]) == ({"name": "é"}, "application/json")
        assert "authorization" not in posted.headers
        client.close()


def test_one_connection_serves_request_after_request_refusals_and_pieces_included() -> None:
    refusal = says({"schemaVersion": 1, "error": {"code": "NOT_FOUND", "message": "no"}}, 404)
    with peer(says(ENVELOPE), refusal, Reply(CHUNKED + b"3\r\nabc\r\n0\r\n\r\n"), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        with pytest.raises(RefusedError, match="no"):
            client.ask("GET", "/2")
        assert list(client.pieces("GET", "/3")) == [b"abc"]
        client.ask("GET", "/4")
        assert [heard.connection for heard in there.heard] == [1, 1, 1, 1]
        client.close()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_kept_connection_that_the_peer_closed_is_noticed_before_anything_is_sent(method: str) -> None:
    with peer(Reply(says(ENVELOPE).raw, hang_up=True), says(ENVELOPE, connection="close"), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        assert client._connection is not None
        client._connection.sock.settimeout(20)
        assert client._connection.sock.recv(1, socket.MSG_PEEK) == b""
        client.ask(method, "/2", body={} if method == "POST" else None)
        client.ask(method, "/3")
        assert [(heard.connection, heard.target) for heard in there.heard] == [(1, "/1"), (2, "/2"), (3, "/3")]
        client.close()


def test_a_get_that_the_closing_of_a_kept_connection_swallowed_is_sent_again_once() -> None:
    with peer(says(ENVELOPE), LOST, says(ENVELOPE), LOST, LOST, says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        assert client.ask("GET", "/2").data == {"symbol": "BTC"}
        assert [(heard.connection, heard.target) for heard in there.heard] == [(1, "/1"), (1, "/2"), (2, "/2")]
        with pytest.raises(UnreachableError, match="closed the connection without an answer") as caught:
            client.ask("GET", "/3")
        assert (caught.value.sent, len(there.heard)) == (True, 5)


@pytest.mark.parametrize(
    ("method", "headers"),
    [("POST", {}), ("DELETE", {}), ("GET", PAID), ("GET", {"payment-signature": "x"}), ("GET", {"X-PAYMENT": "x"})],
)
def test_what_may_have_been_done_or_paid_is_never_sent_again(method: str, headers: dict[str, str]) -> None:
    with peer(says(ENVELOPE), LOST, says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        with pytest.raises(UnreachableError) as caught:
            client.ask(method, "/2", headers=headers)
        assert caught.value.sent
        assert [heard.target for heard in there.heard] == ["/1", "/2"]


@pytest.mark.parametrize(
    ("method", "headers", "idle_s", "used"),
    [
        ("POST", {}, 0.0, 1), ("POST", {}, FRESH_S, 1), ("POST", {}, FRESH_S + 0.1, 2), ("DELETE", {}, 10.0, 2),
        ("GET", PAID, 10.0, 2), ("GET", {"x-payment": "x"}, 10.0, 2), ("GET", {}, 74.9, 1),
    ],
)  # fmt: skip
def test_what_must_not_be_sent_twice_takes_a_connection_used_a_moment_ago(
    method: str, headers: dict[str, str], idle_s: float, used: int
) -> None:
    clock = FakeClock()
    with peer(says(ENVELOPE), says(ENVELOPE)) as there:
        client = ApiConnection(there.url, clock=clock)
        client.ask("GET", "/1")
        clock.elapsed_s += idle_s
        client.ask(method, "/2", headers=headers)
        assert [heard.connection for heard in there.heard] == [1, used]
        client.close()


HEAD = b"HTTP/1.1 200 OK\r\n"
BROKE = "broke during the answer"
NO_HTTP = "does not answer in valid HTTP"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (CHUNKED + b"5\r\nhel", BROKE),
        (CHUNKED + b"5\r\nhello\r\n", BROKE),
        (CHUNKED + b"zz\r\nhello\r\n", BROKE),
        (HEAD + b"Content-Length: 100\r\n\r\nhello", BROKE),
        (HEAD + b"Content-Length: 100\r\n\r\n", BROKE),
        (b"", "closed the connection without an answer"),
        (b"220 smtp.example ESMTP\r\n", NO_HTTP),
        (b"HTTP/1.1 \xff\xfe\r\n\r\n", NO_HTTP),
        (b"HTTP/1.1 101 Up\r\nX-Receipt-Id: rcp_1\r\n\r\n", NO_HTTP),
        (b"HTTP/1.1 103 Early\r\n\r\n", "without an answer|does not answer in valid HTTP"),
        (HEAD + b"x" * 70_000, NO_HTTP),
    ],
    ids=range(11),
)
def test_an_answer_that_breaks_off_or_is_no_http_is_none(raw: bytes, said: str) -> None:
    with peer(Reply(raw, hang_up=True)) as there, pytest.raises(UnreachableError, match=said) as caught:
        ApiConnection(there.url).ask("GET", "/")
    assert caught.value.sent
    came: list[bytes] = []
    with peer(Reply(raw, hang_up=True)) as there, pytest.raises(UnreachableError, match=said):
        came.extend(ApiConnection(there.url).pieces("GET", "/"))
    assert b"hello".startswith(b"".join(came))


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([b"", HEAD, HEAD + b"Content-Length: ", HEAD + b"\r\n", CHUNKED]))
def test_whatever_bytes_a_peer_sends_are_an_answer_or_an_error_of_the_client(noise: bytes, before: bytes) -> None:
    with peer(Reply(before + noise, hang_up=True)) as there, suppress(VerdictError):
        assert ApiConnection(there.url).ask("GET", "/").data


@pytest.mark.parametrize("rest", [b"1\xed\xa0\x80", b"\xc3(", b'{"error": {"message": "\xff", "code": "\xff"}}'])
def test_a_refusal_in_broken_utf8_is_still_a_refusal(rest: bytes) -> None:
    with peer(answers(rest, 502, retry_after="\xff7")) as there, pytest.raises(RefusedError) as caught:
        ApiConnection(there.url).ask("GET", "/")
    assert (caught.value.code, caught.value.retry_after_s) == ("HTTP_502", None)
    assert str(caught.value) == "The service answered 502 without a reason."


def test_the_pieces_of_an_answer_come_as_they_are_sent_and_a_rest_is_not_read_as_the_next_answer() -> None:
    with peer(Reply(CHUNKED + b"6\r\nfirst\n\r\n"), answers(b"x" * 200_000), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        for first in (b"first\n", b"x"):
            pieces = client.pieces("GET", "/")
            assert next(pieces).startswith(first)  # the end of the first answer is never sent
            pieces.close()
        assert client.ask("GET", "/2").data == {"symbol": "BTC"}
        client.close()
    with peer(Reply(answers(b"x" * 70_000).raw + says({"stray": True}).raw), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        assert len(client.ask("GET", "/1").body) == 70_000
        assert client.ask("GET", "/2").data == {"symbol": "BTC"}


def test_a_read_can_be_ended_also_if_the_response_closes_the_connection() -> None:
    ApiConnection("http://127.0.0.1:1").interrupt()
    with peer(Reply(HEAD + b"connection: close\r\n\r\nfirst")) as there:
        connection = ApiConnection(there.url)
        pieces = connection.pieces("GET", "/")
        assert next(pieces) == b"first"
        connection.interrupt()
        assert list(pieces) == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_with_its_target_and_not_followed(status: int) -> None:
    with peer(says(ENVELOPE)) as elsewhere, peer(answers(b"", status, location=elsewhere.url + "/x")) as there:
        with pytest.raises(RefusedError, match=f"redirects to {elsewhere.url}/x") as caught:
            ApiConnection(there.url, "secret").ask("GET", "/")
        assert (caught.value.code, elsewhere.heard) == (f"HTTP_{status}", [])


def test_a_longer_answer_than_any_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES == 16 * 1024 * 1024
    monkeypatch.setattr("service.client.connection.MOST_BYTES", 10)
    monkeypatch.setattr("service.client.connection._MOST_REFUSAL_BYTES", 10)
    with peer(answers(b"x" * 10), answers(b"x" * 11), answers(b"x" * 99, 502)) as there:
        client = ApiConnection(there.url)
        assert client.ask("GET", "/1").body == b"x" * 10
        with pytest.raises(UnreadableAnswerError, match="longer than any"):
            client.ask("GET", "/2")
        with pytest.raises(RefusedError, match="502 without a reason"):
            client.ask("GET", "/3")


def test_a_silent_peer_is_waited_for_no_longer_than_the_timeout_and_a_connection_for_ten_seconds() -> None:
    with peer(says(ENVELOPE), Reply(HEAD)) as there:
        client = ApiConnection(there.url, timeout_s=0.05)
        client.ask("GET", "/")
        assert client._connection is not None
        assert (client._connection.sock.gettimeout(), client._connection.timeout) == (0.05, 10)
        with pytest.raises(UnreachableError, match=r"within 0 s") as caught:
            client.ask("GET", "/")
    assert caught.value.sent


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "nothing listens there. Is the service running?"),
        (socket.gaierror(-2, "Name or service not known"), "the host name is unknown. Is it spelled correctly?"),
        (TimeoutError("timed out"), "no connection within 10 s."),
        (OSError(113, "No route to host"), "No route to host."),
        (OSError(), "OSError."),
    ],
)
def test_a_failed_connection_says_why_and_that_nothing_was_sent(
    monkeypatch: pytest.MonkeyPatch, error: OSError, said: str
) -> None:
    monkeypatch.setattr("socket.create_connection", Mock(side_effect=error))
    with pytest.raises(UnreachableError) as caught:
        ApiConnection("http://h").ask("POST", "/")
    assert (str(caught.value), caught.value.sent) == (f"Cannot reach http://h: {said}", False)


@pytest.mark.parametrize(
    ("error", "raised", "said"),
    [
        (ConnectionResetError(104, "Connection reset by peer"), UnreachableError, r"broke: Connection reset by peer\."),
        (KeyboardInterrupt("Ctrl-C"), KeyboardInterrupt, "Ctrl-C"),
    ],
)
def test_a_read_that_fails_in_the_middle_leaves_no_connection(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, raised: type[BaseException], said: str
) -> None:
    with peer(says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        monkeypatch.setattr("http.client.HTTPResponse.read1", Mock(side_effect=error))
        with pytest.raises(raised, match=said):
            client.ask("GET", "/")
        assert client._connection is None


def test_a_client_that_was_refused_closes_its_connection_when_it_is_dropped() -> None:
    with peer(says({"error": "no"}, 403)) as there:
        client = ApiConnection(there.url)
        gone = weakref.ref(client)
        with suppress(RefusedError):
            client.ask("GET", "/")
        del client
        assert gone() is None


@pytest.mark.parametrize("token", ["sk 1", "sk1\n", "ключ", "sk1\r\nX: 1", "sk1\x7f"])
def test_a_token_that_no_header_field_holds_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(ValueError, match="not an API key or session") as caught:
        ApiConnection("http://127.0.0.1:1", token)
    assert token[:3].strip() not in str(caught.value)


def test_values_are_put_into_a_path_so_that_none_can_leave_its_place() -> None:
    path, rest = fill("/api/cli/category/info/{name}", {"name": "a/../b?c#d e\udcff", "limit": 5})
    assert (path, rest) == ("/api/cli/category/info/a%2F..%2Fb%3Fc%23d%20e%3F", {"limit": 5})


@pytest.mark.parametrize(
    ("written", "shown", "host", "port"),
    [
        ("http://127.0.0.1:8402/", "http://127.0.0.1:8402", "127.0.0.1", 8402),
        (" HTTP://Verdict.Example\n", "http://verdict.example", "verdict.example", 80),
        ("https://verdict.example:443", "https://verdict.example", "verdict.example", 443),
        ("https://verdict.example:80", "https://verdict.example:80", "verdict.example", 80),
        ("http://[::1]:8402", "http://[::1]:8402", "::1", 8402),
        ("https://bücher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example", 443),
    ],
)
def test_an_address_is_written_in_one_way(written: str, shown: str, host: str, port: int) -> None:
    address = read_address(written)
    assert (str(address), address.host, address.port) == (shown, host, port)
    assert read_address(shown) == address


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (r"not a valid service URL\. Use http", [
            "", "127.0.0.1:8402", "localhost", "ftp://h", "http://", "http://:80", "http://h:port", "http://h:99999",
            "http://h:0", "http://[::1", f"http://{'a' * 64}.example", "file:///etc/passwd", "http://a..b", "\ud800"]),
        ("path or query after the host", ["http://h/api/cli", "http://h?x=s3cret", "http://h/#x"]),
        ("service URL", ["http://me:s3cret@h", "https://s3cret@h/", "http://me:s3cret@h:port"]),
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_its_secrets(said: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=said) as caught:
            read_address(text)
        assert "s3cret" not in str(caught.value)
    with pytest.raises(UnreachableError, match=r"not a valid service URL\. Use http"):
        ApiConnection("ftp://127.0.0.1").ask("GET", "/")
