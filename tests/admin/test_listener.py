import socket
from contextlib import suppress
from pathlib import Path

import pytest

from service.admin import listener
from service.admin.listener import UNSENT_BYTES, listen, url_of
from service.client.errors import FAILED, RefusalError
from tests.fakes.ports import held_port


def test_port_zero_takes_a_free_port_and_the_url_names_it() -> None:
    with listen("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        assert port > 0
        assert url_of(held, tls=False) == f"http://127.0.0.1:{port}"
        assert url_of(held, tls=True) == f"https://127.0.0.1:{port}"


def test_a_wildcard_address_is_reached_by_the_loopback_one() -> None:
    with listen("0.0.0.0", 0) as held:
        assert url_of(held, tls=False).startswith("http://127.0.0.1:")


def test_an_ipv6_address_stands_in_brackets() -> None:
    if not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    with listen("::1", 0) as held:
        assert url_of(held, tls=False).startswith("http://[::1]:")


def test_a_taken_port_is_refused_with_the_setting_to_change() -> None:
    with listen("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        with pytest.raises(RefusalError) as refused:
            listen("127.0.0.1", port)
    assert str(refused.value) == (
        f"cannot listen on 127.0.0.1:{port}: it is taken. "
        "Stop what listens there, or set VERDICT_PORT (0 takes a free port)"
    )
    assert refused.value.code == FAILED


def test_an_address_of_another_machine_is_refused_with_the_setting_to_change() -> None:
    with pytest.raises(RefusalError, match=r"it is no address of this machine\. Set VERDICT_HOST to one"):
        listen("192.0.2.1", 0)


@pytest.mark.parametrize("host", ["a..b", "999.1.2.3", "x" * 300])
def test_what_is_no_address_at_all_is_refused_with_the_setting_to_change(host: str) -> None:
    with pytest.raises(RefusalError, match=r"cannot listen on .*Set VERDICT_HOST and VERDICT_PORT"):
        listen(host, 0)


def test_a_privileged_port_is_refused_to_an_ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_args: object, **_kwargs: object) -> socket.socket:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", deny)
    with pytest.raises(RefusalError, match=r"this user may not\. Set VERDICT_PORT to 1024 or more"):
        listen("127.0.0.1", 80)


@pytest.mark.machine
def test_of_answers_that_nobody_reads_the_kernel_takes_little() -> None:
    with listen("127.0.0.1", 0) as listener, socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        reader.connect(listener.getsockname())
        writer, _ = listener.accept()
        with writer:
            writer.setblocking(False)  # noqa: FBT003 - the socket's own way
            taken = 0
            with suppress(BlockingIOError):
                while taken < 4 * UNSENT_BYTES:
                    taken += writer.send(bytes(UNSENT_BYTES))
    assert taken < 4 * UNSENT_BYTES


@pytest.mark.promise("operator.restart")
def test_a_port_that_becomes_free_is_waited_for_and_the_wait_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with held_port() as port, listen("127.0.0.1", port) as taken:
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                taken.close()

        monkeypatch.setattr(listener, "_pause", pause)
        listen("127.0.0.1", port, timeout_s=5).close()
    assert len(pauses) == 3
    assert [record.getMessage() for record in caplog.records] == [
        f"127.0.0.1:{port} is in use. Waiting up to 5 s for it to become free."
    ]


def test_a_port_that_stays_taken_is_refused_after_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(listener, "_pause", pauses.append)
    with listen("127.0.0.1", 0) as taken, pytest.raises(RefusalError, match="it is taken"):
        listen("127.0.0.1", taken.getsockname()[1], timeout_s=5)
    assert sum(pauses) == pytest.approx(5)
