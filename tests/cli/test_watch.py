"""`verdict watch`: as a view, as plain lines, as the lines that come; and how it ends."""

import io
import json
import os
import pty
import queue
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from service.__main__ import run
from service.cli.watch import command
from service.cli.watch.command import Item, follow
from service.cli.watch.live_view import AlternateScreen, LiveView, terminal_rows
from service.cli.watch.views import VIEWS
from service.client.stream import StreamLine
from tests.cli.commanding import Terminal, typed
from tests.cli.streamed import CLOSE, OPEN, event, line, prices
from tests.client.sdk.peer import Reply, answers, peer, says
from tests.fakes.clock import FakeClock

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "VERDICT_TOKEN": "verdict_sk_abc",
        "NO_COLOR": "1",
        "TERM": "xterm",
        "COLUMNS": "60",
        "LINES": "20",
    }


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(command, "_pause", waited.append)
    return waited


def stream(*lines: bytes) -> Reply:
    return answers(b"".join(lines))


def frames(out: str) -> list[str]:
    return out.removeprefix(ENTER).partition(LEAVE)[0].replace("\x1b[K", "").replace("\x1b[J", "").split("\x1b[H")[1:]


def test_programs_get_every_line_as_it_came(
    environment: dict[str, str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    with peer(stream(OPEN, event(1), CLOSE)) as listening:
        typed = ["watch", "prices", "--interval", "10", "--max", "1", "--diff", "--cursor", "c0"]
        assert run([*typed, "--url", listening.url], environment) == 0
    shown = capsysbinary.readouterr()
    assert shown.out == OPEN + event(1) + CLOSE
    assert shown.err == b""
    (heard,) = listening.heard
    assert heard.target == "/api/cli/watch/prices?interval=10&max=1&diff=1&cursor=c0"
    assert heard.headers["authorization"] == "Bearer verdict_sk_abc"


def test_lines_asked_for_on_a_terminal_cannot_steer_it(environment: dict[str, str]) -> None:
    evil = line(type="open", source="x").replace(b"x", b"\x1b[2J")
    with peer(stream(evil.replace(b"\x1b", b"\\u001b"), CLOSE)) as listening:
        seen = typed("watch", "prices", "--ndjson", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 0
    assert [json.loads(text)["type"] for text in seen.out.splitlines()] == ["open", "close"]
    assert "\x1b" not in seen.out


def test_a_person_sees_it_drawn_anew_and_the_last_of_it_stays(environment: dict[str, str]) -> None:
    with peer(stream(OPEN, event(1), event(2, prices(BTC=101.0)), CLOSE)) as listening:
        seen = typed("watch", "prices", "--diff", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 0
    assert seen.out.startswith(ENTER)
    drawn = frames(seen.out)
    assert drawn[0].splitlines()[0] == "prices · opening"
    assert "BTC     101  +1.00 %" in drawn[-1]
    assert all(len(frame.splitlines()) <= 20 for frame in drawn)
    left = seen.out.partition(LEAVE)[2]
    assert left.startswith("prices · fixtures · event 2")
    assert "BTC     101  +1.00 %" in left
    assert "Ctrl-C" not in left
    assert "diff" not in listening.heard[0].target
    assert (
        seen.err
        == "verdict: the stream is over: as many events came as were asked for; --cursor c9 goes on from there\n"
    )


def test_a_refusal_leaves_the_terminal_as_it_was(environment: dict[str, str]) -> None:
    refused = says({"schemaVersion": 1, "error": {"code": "RATE_LIMITED", "message": "no questions left"}}, 429)
    with peer(refused) as listening:
        seen = typed("watch", "prices", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 3
    assert seen.out.endswith(LEAVE)
    assert "no questions left" in seen.err


def test_a_cut_is_shown_and_followed_on(environment: dict[str, str], pauses: list[float]) -> None:
    cut = Reply(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n" + OPEN + event(1), hang_up=True)
    with peer(cut, stream(OPEN, event(2), CLOSE)) as listening:
        seen = typed("watch", "prices", "--url", listening.url, environment=environment, terminal=True)
    assert seen.code == 0
    assert "opening it again in 1 s, where it stopped" in seen.out
    assert pauses == [1]
    assert listening.heard[1].target == "/api/cli/watch/prices?cursor=c1"


def test_a_terminal_that_cannot_be_drawn_on_gets_a_line_an_event(environment: dict[str, str]) -> None:
    gap = line(type="gap", reason="too-old", cursor="c1")
    with peer(stream(OPEN, event(1), gap, event(2, prices(ETH=11.0)), CLOSE)) as listening:
        seen = typed(
            "watch",
            "prices",
            "--diff",
            "--url",
            listening.url,
            environment={**environment, "TERM": "dumb"},
            terminal=True,
        )
    assert seen.out.splitlines() == [
        "12:00:01 BTC 100 0.00 %, ETH 10 0.00 %, AAVE 5 0.00 %",
        "12:00:02 ETH 11 +10.00 %",
    ]
    assert "some events are lost" in seen.err
    assert listening.heard[0].target.endswith("?diff=1")


def test_why_a_stream_ended_is_told_to_programs_by_the_exit_code_and_in_words(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    revoked = line(type="close", reason="revoked", cursor=None)
    with peer(stream(line(type="open", cursor=None), revoked)) as listening:
        assert run(["watch", "prices", "--url", listening.url], environment) == 2
    assert capsys.readouterr().err == "verdict: the stream is over: the credential was revoked or has expired\n"


def test_a_rehearsal_opens_nothing(environment: dict[str, str]) -> None:
    with peer() as listening:
        words = ["watch", "funding", "--max", "3", "--dry-run", "--url", listening.url]
        seen = typed(*words, environment=environment, terminal=True)
        assert listening.heard == []
    assert f"GET {listening.url}/api/cli/watch/funding?max=3" in seen.out
    assert "one question" in seen.out


class Inbox:
    """What the reading thread says, and silences between."""

    def __init__(self, *items: Item | type[queue.Empty]) -> None:
        self._items = list(items)

    def get(self, timeout: float) -> Item:
        assert timeout > 0
        item = self._items.pop(0)
        if item is queue.Empty:
            raise queue.Empty
        assert not isinstance(item, type)
        return item


def followed(*items: Item | type[queue.Empty]) -> list[str]:
    shown: list[str] = []
    live = LiveView("prices", VIEWS["prices"](), FakeClock())

    def draw() -> None:
        from service.cli.terminal import Display  # noqa: PLC0415

        shown.append(list(live.lines(Display(60, colour=False), 20))[-1])

    follow(Inbox(*items), live, draw)  # type: ignore[arg-type]
    return shown


def test_it_is_drawn_anew_while_nothing_comes_and_with_all_that_comes() -> None:
    opened = StreamLine(OPEN, json.loads(OPEN))
    assert followed(queue.Empty, "opening again", opened, None) == [
        "Ctrl-C ends it",
        "Ctrl-C ends it",
        "opening again",
        "Ctrl-C ends it",
    ]


def test_an_interruption_leaves_the_terminal_as_it_was() -> None:
    out = Terminal()

    def interrupted() -> Iterator[str]:
        yield "a"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), AlternateScreen(out) as page:
        page.draw(interrupted())
    assert out.getvalue() == f"{ENTER}{LEAVE}"


def test_a_page_is_drawn_over_the_one_before() -> None:
    out = Terminal()
    AlternateScreen(out).draw(["a", "b"])
    assert out.getvalue() == "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J"


def test_being_ended_leaves_the_terminal_as_it_was_too() -> None:
    out = Terminal()
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, AlternateScreen(out):
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143
    assert out.getvalue().endswith(LEAVE)
    assert signal.getsignal(signal.SIGTERM) is before


def test_being_stopped_gives_the_shell_its_terminal_until_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    out, raise_signal = Terminal(), signal.raise_signal
    before = signal.getsignal(signal.SIGTSTP)
    seen: list[object] = []

    def stop(number: int) -> None:
        seen.append((number, signal.getsignal(number), out.getvalue()))

    monkeypatch.setattr(signal, "raise_signal", stop)
    with AlternateScreen(out) as page:
        raise_signal(signal.SIGTSTP)
        raise_signal(signal.SIGTSTP)
        page.draw(["a"])
    first, second = f"{ENTER}{LEAVE}", f"{ENTER}{LEAVE}{ENTER}{LEAVE}"
    assert seen == [(signal.SIGTSTP, signal.SIG_DFL, first), (signal.SIGTSTP, signal.SIG_DFL, second)]
    assert out.getvalue() == f"{second}{ENTER}\x1b[Ha\x1b[K\x1b[J{LEAVE}"
    assert signal.getsignal(signal.SIGTSTP) is before


@pytest.mark.parametrize(
    ("environment", "rows"), [({"LINES": "50"}, 50), ({"LINES": "0"}, 24), ({"LINES": "x"}, 24), ({}, 24)]
)
def test_as_many_rows_as_are_told_else_twenty_four(environment: Mapping[str, str], rows: int) -> None:
    assert terminal_rows(environment, io.StringIO()) == rows


def test_a_terminal_says_itself_how_many_rows_it_has() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        import fcntl  # noqa: PLC0415
        import struct  # noqa: PLC0415
        import termios  # noqa: PLC0415

        fcntl.ioctl(terminal.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 33, 100, 0, 0))
        assert terminal_rows({}, terminal) == 33
    os.close(ours)


def test_nothing_waits_longer_than_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    command._pause(0)


def table_of(*rows: Mapping[str, object]) -> Reply:
    """The table of coins."""
    return says({"schemaVersion": 1, "data": {"coins": list(rows)}, "meta": {}})


BTC_ROW = {"symbol": "BTC", "_stale_fields": []}


def test_named_coins_are_shown_with_their_change_in_24_hours(environment: dict[str, str]) -> None:
    aave = {"symbol": "AAVE", "_stale_fields": []}
    told = event(1, prices(BTC=300.0)), event(2, prices(BTC=105.0))
    with peer(table_of(BTC_ROW, aave), stream(OPEN, *told, CLOSE)) as listening:
        seen = typed("watch", "prices", "btc", "AAVE", "--url", listening.url, environment=environment, terminal=True)
    assert listening.heard[0].target == "/api/cli/coins?symbols=btc%2CAAVE&sort=volume_24h_usd&fields=symbol"
    last = frames(seen.out)[-1]
    assert "BTC     105  +1.05 %" in last
    assert "AAVE      5        -" in last
    assert "ETH" not in last
    assert "change in 24 h" in last


def test_an_unknown_coin_opens_no_stream(environment: dict[str, str]) -> None:
    unknown = says({"error": {"code": "UNKNOWN_SYMBOL", "message": "There is no NOPE."}}, 404)
    with peer(unknown) as listening:
        seen = typed("watch", "prices", "NOPE", "--url", listening.url, environment=environment, terminal=True)
    assert (seen.code, seen.out, len(listening.heard)) == (4, "", 1)


def test_without_the_table_of_coins_they_are_shown_as_they_were_typed(environment: dict[str, str]) -> None:
    with peer(says({}, 402), stream(OPEN, event(1), CLOSE)) as listening:
        seen = typed("watch", "prices", "btc", "--url", listening.url, environment=environment, terminal=True)
    assert "BTC     100  +1.00 %" in frames(seen.out)[-1]
    assert "ETH" not in frames(seen.out)[-1]


def test_programs_get_the_prices_of_named_coins_only(
    environment: dict[str, str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    with peer(stream(OPEN, event(1), CLOSE)) as listening:
        assert run(["watch", "prices", "eth", "--url", listening.url], environment) == 0
    [opened, told, closed] = capsysbinary.readouterr().out.splitlines(keepends=True)
    assert (opened, closed) == (OPEN, CLOSE)
    assert list(json.loads(told)["data"]["prices"]) == ["ETH"]


def test_only_prices_are_of_named_coins(environment: dict[str, str]) -> None:
    told = typed("watch", "funding", "BTC", environment=environment, terminal=True)
    assert (told.code, told.err) == (1, "verdict: Only the stream prices takes symbols.\n")
