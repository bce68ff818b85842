"""The library against a peer that answers byte for byte as it is told."""

import gc
import json
import socket
import weakref
from contextlib import suppress

import pytest

from service import __version__
from service.client.answer import RefusedError, UnreachableError, UnreadableAnswerError
from service.client.connection import FRESH_S, MOST_BYTES, ApiConnection, fill, is_token
from tests.client.sdk.peer import Reply, answers, peer, says
from tests.fakes.clock import FakeClock

RISK = "/api/cli/coin/risk/BTC"
ENVELOPE = {"schemaVersion": 1, "data": {"symbol": "BTC"}, "meta": {"ts": "2025-07-25T23:59:59.999Z"}}
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_a_question_is_sent_as_it_was_asked_and_answered_with_its_envelope() -> None:
    with peer(says(ENVELOPE, x_request_id="r1")) as there:
        client = ApiConnection(there.url + "/", "verdict_sk_x")
        answer = client.ask("GET", "/p", {"count": 3, "unit": None, "name": "AI & Big"}, headers={"X-More": "1"})
        assert (answer.status, answer.data, answer.meta["ts"]) == (200, {"symbol": "BTC"}, ENVELOPE["meta"]["ts"])  # type: ignore[index]
        assert answer.headers["x-request-id"] == "r1"
        [heard] = there.heard
        assert (heard.method, heard.target, heard.body) == ("GET", "/p?count=3&name=AI+%26+Big", b"")
        assert heard.headers["authorization"] == "Bearer verdict_sk_x"
        assert heard.headers["user-agent"] == f"verdict/{__version__}"
        assert heard.headers["accept"] == "application/json"
        assert heard.headers["x-more"] == "1"
        client.close()


def test_a_body_is_sent_as_json_and_a_stranger_sends_no_token() -> None:
    with peer(says({"ok": True})) as there:
        client = ApiConnection(there.url)
        assert client.ask("POST", "/api/keys", body={"name": "é"}).document == {"ok": True}
        assert json.loads(there.heard[0].body) == {"name": "é"}
        assert there.heard[0].headers["content-type"] == "application/json"
        assert "authorization" not in there.heard[0].headers
        client.close()


def test_one_connection_serves_request_after_request_refusals_and_pieces_included() -> None:
    refusal = says({"schemaVersion": 1, "error": {"code": "NOT_FOUND", "message": "no"}}, 404)
    chunks = Reply(CHUNKED + b"3\r\nabc\r\n0\r\n\r\n")
    with peer(says(ENVELOPE), refusal, says(ENVELOPE), chunks, says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        with pytest.raises(RefusedError, match="no"):
            client.ask("GET", "/2")
        assert b"".join(client.pieces("GET", "/3")) == json.dumps(ENVELOPE).encode()
        assert list(client.pieces("GET", "/4")) == [b"abc"]
        client.ask("GET", "/5")
        assert [heard.connection for heard in there.heard] == [1, 1, 1, 1, 1]
        client.close()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_kept_connection_that_the_peer_closed_meanwhile_is_noticed_before_anything_is_sent(method: str) -> None:
    with peer(Reply(says(ENVELOPE).raw, hang_up=True), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        _until_closed(client)
        client.ask(method, "/2", body={} if method == "POST" else None)
        assert [(heard.connection, heard.target) for heard in there.heard] == [(1, "/1"), (2, "/2")]
        client.close()


def test_an_answer_that_closes_the_connection_is_followed_by_a_new_one() -> None:
    with peer(Reply(says(ENVELOPE, connection="close").raw, hang_up=True), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        assert [client.ask("GET", path).data for path in ("/1", "/2")] == [{"symbol": "BTC"}] * 2
        assert [heard.connection for heard in there.heard] == [1, 2]
        client.close()


def test_a_get_that_the_closing_of_a_kept_connection_swallowed_is_sent_again_once() -> None:
    with peer(says(ENVELOPE), Reply(b"", hang_up=True), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        assert client.ask("GET", "/2").data == {"symbol": "BTC"}
        assert [(heard.connection, heard.target) for heard in there.heard] == [(1, "/1"), (1, "/2"), (2, "/2")]
        client.close()


def test_it_is_sent_again_no_more_than_once() -> None:
    with peer(says(ENVELOPE), Reply(b"", hang_up=True), Reply(b"", hang_up=True), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        with pytest.raises(UnreachableError, match="closed the connection without an answer") as caught:
            client.ask("GET", "/2")
        assert caught.value.sent
        assert len(there.heard) == 3


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", {}),
        ("DELETE", {}),
        ("GET", {"PAYMENT-SIGNATURE": "x"}),
        ("GET", {"payment-signature": "x"}),
        ("GET", {"X-PAYMENT": "x"}),
    ],
)
def test_what_may_have_been_done_or_paid_is_never_sent_again(method: str, headers: dict[str, str]) -> None:
    with peer(says(ENVELOPE), Reply(b"", hang_up=True), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        client.ask("GET", "/1")
        with pytest.raises(UnreachableError) as caught:
            client.ask(method, "/2", headers=headers)
        assert caught.value.sent
        assert [heard.target for heard in there.heard] == ["/1", "/2"]


@pytest.mark.parametrize(
    ("method", "headers", "idle_s", "used"),
    [
        ("POST", {}, 0.0, 1),
        ("POST", {}, FRESH_S, 1),
        ("POST", {}, FRESH_S + 0.1, 2),
        ("POST", {}, 75.0, 2),
        ("DELETE", {}, 10.0, 2),
        ("GET", {"PAYMENT-SIGNATURE": "x"}, 10.0, 2),
        ("GET", {"x-payment": "x"}, 10.0, 2),
        ("GET", {}, 74.9, 1),
    ],
)
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


def test_a_first_request_is_not_sent_again_when_the_connection_is_closed_on_it() -> None:
    with peer(Reply(b"", hang_up=True), says(ENVELOPE)) as there:
        with pytest.raises(UnreachableError):
            ApiConnection(there.url).ask("GET", "/1")
        assert len(there.heard) == 1


BROKEN = [
    Reply(CHUNKED + b"5\r\nhel", hang_up=True),
    Reply(CHUNKED + b"5\r\nhello\r\n", hang_up=True),
    Reply(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello", hang_up=True),
    Reply(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", hang_up=True),
]


@pytest.mark.parametrize("reply", BROKEN)
def test_an_answer_that_breaks_off_is_none(reply: Reply) -> None:
    with peer(reply) as there, pytest.raises(UnreachableError, match="broke off") as caught:
        ApiConnection(there.url).ask("GET", "/")
    assert caught.value.sent


@pytest.mark.parametrize("reply", BROKEN)
def test_a_stream_that_breaks_off_gives_what_came_and_then_says_so(reply: Reply) -> None:
    came: list[bytes] = []
    with peer(reply) as there, pytest.raises(UnreachableError, match="broke off"):
        came.extend(ApiConnection(there.url).pieces("GET", "/"))
    assert b"hello".startswith(b"".join(came))


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    with peer(Reply(b"HTTP/1.1 200 OK\r\n\r\n[1]", hang_up=True)) as there:
        assert ApiConnection(there.url).ask("GET", "/").document == [1]


def test_the_pieces_of_an_answer_come_as_they_are_sent() -> None:
    # The end of the answer is never sent: what has come must not wait for it.
    with peer(Reply(CHUNKED + b"6\r\nfirst\n\r\n")) as there:
        client = ApiConnection(there.url)
        pieces = client.pieces("GET", "/")
        assert next(pieces) == b"first\n"
        pieces.close()
        assert client._connection is None


def test_a_reader_that_has_enough_of_a_stream_leaves_no_rest_for_the_next_answer() -> None:
    with peer(answers(b"x" * 200_000), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        pieces = client.pieces("GET", "/1")
        assert set(next(pieces)) == {ord("x")}
        pieces.close()
        assert client.ask("GET", "/2").data == {"symbol": "BTC"}
        client.close()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_with_its_target_named_and_nobody_goes_there(status: int) -> None:
    with peer(says(ENVELOPE)) as elsewhere, peer(answers(b"", status, location=elsewhere.url + RISK)) as there:
        with pytest.raises(RefusedError, match=f"sends on to {elsewhere.url}{RISK}") as caught:
            ApiConnection(there.url, "secret").ask("GET", RISK)
        assert (caught.value.status, caught.value.code) == (status, f"HTTP_{status}")
        assert elsewhere.heard == []


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with peer(says({"stolen": True})) as proxy, peer(says(ENVELOPE)) as there:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert ApiConnection(there.url, "secret").ask("GET", "/").data == {"symbol": "BTC"}
        assert proxy.heard == []


def test_an_answer_that_is_longer_than_any_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES == 16 * 1024 * 1024
    monkeypatch.setattr("service.client.connection.MOST_BYTES", 10)
    with peer(answers(b"x" * 10), answers(b"x" * 11)) as there:
        client = ApiConnection(there.url)
        assert client.ask("GET", "/1").body == b"x" * 10
        with pytest.raises(UnreadableAnswerError, match="longer than any"):
            client.ask("GET", "/2")
        assert client._connection is None


def test_a_refusal_that_is_longer_than_any_is_one_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.client.connection._MOST_REFUSAL_BYTES", 10)
    with (
        peer(answers(b"x" * 99, 502)) as there,
        pytest.raises(RefusedError, match="502 without saying why") as caught,
    ):
        ApiConnection(there.url).ask("GET", "/")
    assert caught.value.document is None


def test_a_refusal_that_is_no_json_says_its_status() -> None:
    with peer(answers(b"<h1>Bad Gateway</h1>", 502)) as there, pytest.raises(RefusedError) as caught:
        ApiConnection(there.url).ask("GET", "/")
    assert (caught.value.code, str(caught.value)) == ("HTTP_502", "the service answered 502 without saying why")


def test_a_peer_that_is_silent_is_waited_for_no_longer_than_was_said() -> None:
    with peer(Reply(b"HTTP/1.1 200 OK\r\n")) as there, pytest.raises(UnreachableError, match=r"within 0 s") as caught:
        ApiConnection(there.url, timeout_s=0.05).ask("GET", "/")
    assert caught.value.sent


def test_an_answer_is_waited_for_as_long_as_was_said_and_a_connection_for_ten_seconds() -> None:
    with peer(says(ENVELOPE)) as there:
        client = ApiConnection(there.url, timeout_s=17.5)
        client.ask("GET", "/")
        assert client._connection is not None
        assert client._connection.sock.gettimeout() == 17.5
        assert client._connection.timeout == 10


def test_what_is_sent_after_an_answer_is_no_part_of_it_and_none_of_the_next() -> None:
    body = b"x" * 70_000
    with peer(Reply(answers(body).raw + says({"stray": True}).raw), says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        assert client.ask("GET", "/1").body == body
        assert client.ask("GET", "/2").data == {"symbol": "BTC"}


def test_what_speaks_no_http_is_no_service() -> None:
    greeting = Reply(b"220 smtp.example ESMTP\r\n", hang_up=True)
    with peer(greeting) as there, pytest.raises(UnreachableError, match="does not speak HTTP as it should"):
        ApiConnection(there.url).ask("GET", "/")


@pytest.mark.parametrize("status", [101, 103])
def test_what_comes_before_an_answer_is_not_taken_for_one(status: int) -> None:
    with peer(answers(b"", status, x_receipt_id="rcp_1")) as there, pytest.raises(UnreachableError) as caught:
        ApiConnection(there.url).ask("GET", "/")
    assert caught.value.sent


def test_a_connection_that_is_reset_in_the_middle_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def reset(*_: object) -> bytes:
        raise ConnectionResetError(104, "Connection reset by peer")

    with peer(says(ENVELOPE)) as there:
        monkeypatch.setattr("http.client.HTTPResponse.read1", reset)
        with pytest.raises(UnreachableError, match=r"the connection to .* broke: Connection reset by peer"):
            ApiConnection(there.url).ask("GET", "/")


def test_where_nobody_listens_nothing_was_sent() -> None:
    with peer() as there:
        url = there.url
    with pytest.raises(UnreachableError, match=f"{url} cannot be reached: nothing listens there") as caught:
        ApiConnection(url).ask("POST", "/")
    assert not caught.value.sent


def test_an_address_that_is_none_says_how_one_is_written() -> None:
    with pytest.raises(UnreachableError, match=r"Write it like http://127\.0\.0\.1:8402") as caught:
        ApiConnection("ftp://127.0.0.1").ask("GET", "/")
    assert not caught.value.sent


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_ipv6_address_is_reached_and_named_in_brackets() -> None:
    try:
        opened = peer(says(ENVELOPE), host="::1")
        with opened as there:
            assert ApiConnection(there.url).ask("GET", "/").data == {"symbol": "BTC"}
            assert there.heard[0].headers["host"] == there.url.removeprefix("http://")
    except OSError:
        pytest.skip("no IPv6 on this machine's loopback")


def test_what_happens_to_a_reader_leaves_no_connection_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> bytes:
        raise KeyboardInterrupt

    with peer(says(ENVELOPE)) as there:
        client = ApiConnection(there.url)
        monkeypatch.setattr("http.client.HTTPResponse.read1", interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.ask("GET", "/")
        assert client._connection is None


def test_a_client_that_was_refused_hangs_up_when_it_is_let_go_of() -> None:
    with peer(says({"error": "no"}, 403)) as there:
        client = ApiConnection(there.url)
        gone = weakref.ref(client)
        gc.disable()
        try:
            with suppress(RefusedError):
                client.ask("GET", "/")
            del client
            assert gone() is None
        finally:
            gc.enable()


@pytest.mark.parametrize("token", ["sk 1", "sk1\n", "ключ", "sk1\r\nX: 1", "sk1\x7f"])
def test_a_token_that_no_header_field_holds_is_refused_and_not_told_again(token: str) -> None:
    with pytest.raises(ValueError, match="a token is") as caught:
        ApiConnection("http://127.0.0.1:1", token)
    assert token[:3].strip() not in str(caught.value)
    assert not is_token(token)


def test_values_are_put_into_a_path_so_that_none_can_leave_its_place() -> None:
    path, rest = fill("/api/cli/category/info/{name}", {"name": "a/../b?c#d e", "limit": 5})
    assert path == "/api/cli/category/info/a%2F..%2Fb%3Fc%23d%20e"
    assert rest == {"limit": 5}


def _until_closed(client: ApiConnection) -> None:
    assert client._connection is not None
    client._connection.sock.settimeout(20)
    assert client._connection.sock.recv(1, socket.MSG_PEEK) == b""


def test_a_read_can_be_ended_also_where_the_response_closes_the_connection() -> None:
    with peer(Reply(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nfirst")) as there:
        connection = ApiConnection(there.url)
        pieces = connection.pieces("GET", "/")
        assert next(pieces) == b"first"
        connection.interrupt()
        assert list(pieces) == []
