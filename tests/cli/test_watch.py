"""`verdict watch`: as a view, as plain lines, as the lines that come; and how it ends."""

import json
import queue
import signal
from collections.abc import Iterator

import pytest

from service.cli.terminal import Display
from service.cli.watch import command
from service.cli.watch.command import Item, follow
from service.cli.watch.live_view import AlternateScreen, LiveView
from service.cli.watch.views import VIEWS
from service.client.stream import StreamLine
from tests.cli.commanding import Terminal
from tests.cli.conftest import Typed
from tests.cli.streamed import CLOSE, OPEN, event, line, prices
from tests.client.sdk.peer import Reply, answers, peer, says
from tests.fakes.clock import FakeClock

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


@pytest.fixture(autouse=True)
def _terminal(environment: dict[str, str]) -> None:
    environment |= {"VERDICT_TOKEN": "verdict_sk_abc", "TERM": "xterm", "COLUMNS": "60", "LINES": "20"}


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(command, "_pause", waited.append)
    return waited


def stream(*lines: bytes) -> Reply:
    return answers(b"".join(lines))


def frames(out: str) -> list[str]:
    return out.removeprefix(ENTER).partition(LEAVE)[0].replace("\x1b[K", "").replace("\x1b[J", "").split("\x1b[H")[1:]


def test_programs_get_every_line_as_it_came(program: Typed) -> None:
    with peer(stream(OPEN, event(1), CLOSE)) as there:
        told = program(f"watch prices --interval 10 --max 1 --diff --cursor c0 --url {there.url}")
    assert told == (0, (OPEN + event(1) + CLOSE).decode(), "")
    [heard] = there.heard
    assert heard.target == "/api/cli/watch/prices?interval=10&max=1&diff=1&cursor=c0"
    assert heard.headers["authorization"] == "Bearer verdict_sk_abc"


def test_lines_asked_for_on_a_terminal_cannot_steer_it(person: Typed) -> None:
    evil = line(type="open", source="x").replace(b"x", b"\\u001b[2J")
    with peer(stream(evil, CLOSE)) as there:
        told = person(f"watch prices --json --url {there.url}")
    assert [json.loads(text)["type"] for text in told.out.splitlines()] == ["open", "close"]
    assert (told.code, "\x1b" in told.out) == (0, False)


def test_a_person_sees_it_drawn_anew_and_the_last_of_it_stays(person: Typed) -> None:
    many = {f"C{number}": 1.0 for number in range(50)}
    with peer(stream(OPEN, event(1, prices(**many)), event(2, prices(BTC=101.0, **many)), CLOSE)) as there:
        told = person(f"watch prices --diff --url {there.url}")
    drawn, left = frames(told.out), told.out.partition(LEAVE)[2]
    assert (told.code, told.out.startswith(ENTER), drawn[0].splitlines()[0]) == (0, True, "prices · opening")
    assert "BTC     101  +1.00 %" in drawn[-1]
    # Two rows are left to the prompt.
    assert (max(len(frame.splitlines()) for frame in drawn), len(left.splitlines())) == (20, 18)
    assert left.startswith("prices · fixtures · event 2")
    assert ("BTC     101  +1.00 %" in left, "Ctrl-C" in left) == (True, False)
    assert "diff" not in there.heard[0].target
    over = "verdict: The stream ended: the requested number of events has arrived. To resume it: --cursor c9\n"
    assert told.err == over


def test_a_refusal_leaves_the_terminal_as_it_was(person: Typed) -> None:
    refused = says({"schemaVersion": 1, "error": {"code": "RATE_LIMITED", "message": "no questions left"}}, 429)
    with peer(refused) as there:
        told = person(f"watch prices --url {there.url}")
    assert (told.code, told.out.endswith(LEAVE), "no questions left" in told.err) == (3, True, True)


def test_a_cut_is_shown_and_followed_on(person: Typed, pauses: list[float]) -> None:
    cut = Reply(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n" + OPEN + event(1), hang_up=True)
    with peer(cut, stream(OPEN, event(2), CLOSE)) as there:
        told = person(f"watch prices --url {there.url}")
    assert (told.code, "Reopening the stream at its cursor in 1 s." in told.out, pauses) == (0, True, [1])
    assert there.heard[1].target == "/api/cli/watch/prices?cursor=c1"


def test_a_terminal_that_cannot_be_drawn_on_gets_a_line_an_event(person: Typed, environment: dict[str, str]) -> None:
    environment["TERM"] = "dumb"
    gap = line(type="gap", reason="too-old", cursor="c1")
    with peer(stream(OPEN, event(1), gap, event(2, prices(ETH=11.0)), CLOSE)) as there:
        told = person(f"watch prices --diff --url {there.url}")
    assert told.out.splitlines() == [
        "12:00:01 BTC 100 0.00 %, ETH 10 0.00 %, AAVE 5 0.00 %",
        "12:00:02 ETH 11 +10.00 %",
    ]
    assert "Some events are lost" in told.err
    assert there.heard[0].target.endswith("?diff=1")


def test_why_a_stream_ended_is_told_to_programs_by_the_exit_code_and_in_words(program: Typed) -> None:
    revoked = line(type="close", reason="revoked", cursor=None)
    with peer(stream(line(type="open", cursor=None), revoked)) as there:
        told = program(f"watch prices --url {there.url}")
    assert told.code == 2
    assert told.err == "verdict: The stream ended: the credential was revoked or has expired.\n"


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


def test_it_is_drawn_anew_while_nothing_comes_and_with_all_that_comes() -> None:
    shown: list[str] = []
    live = LiveView("prices", VIEWS["prices"](), FakeClock())
    inbox = Inbox(queue.Empty, "opening again", StreamLine(OPEN, json.loads(OPEN)), None)
    follow(inbox, live, lambda: shown.append([*live.lines(Display(60, colour=False), 20)][-1]))  # type: ignore[arg-type]
    assert shown == ["Ctrl-C ends it", "Ctrl-C ends it", "opening again", "Ctrl-C ends it"]


def test_an_interruption_and_an_end_leave_the_terminal_as_it_was() -> None:
    def interrupted() -> Iterator[str]:
        yield "a"
        raise KeyboardInterrupt

    out = Terminal()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with pytest.raises(KeyboardInterrupt), AlternateScreen(out) as page:
        page.draw(interrupted())
    assert out.getvalue() == f"{ENTER}{LEAVE}"
    AlternateScreen(out).draw(["a", "b"])
    assert out.getvalue().endswith("\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J")
    with pytest.raises(SystemExit) as ended, AlternateScreen(out):
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143
    assert out.getvalue().endswith(LEAVE)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


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


def test_named_coins_are_shown_with_their_change_in_24_hours(person: Typed) -> None:
    with peer(stream(OPEN, event(1, prices(BTC=300.0)), event(2, prices(BTC=105.0)), CLOSE)) as there:
        told = person(f"watch prices btc NOPE AAVE --url {there.url}")
    assert [heard.target for heard in there.heard] == ["/api/cli/watch/prices"]
    last = frames(told.out)[-1]
    wanted = ("BTC     105  +1.05 %", "AAVE      5        -", "no price of NOPE; change in 24 h")
    assert [text for text in wanted if text not in last] == []
    assert "ETH" not in last


def test_a_coin_without_a_price_ends_the_stream(person: Typed) -> None:
    with peer(stream(OPEN, event(1), CLOSE)) as there:
        told = person(f"watch prices NOPE --url {there.url}")
    assert (told.code, told.err.splitlines()[-1]) == (
        4, "verdict: There is no price of NOPE. `verdict resolve TEXT` finds a coin."
    )  # fmt: skip


def test_programs_get_the_prices_of_named_coins_only(person: Typed, program: Typed) -> None:
    with peer(stream(OPEN, event(1), CLOSE)) as there:
        opened, told, closed = program(f"watch prices eth --url {there.url}").out.encode().splitlines(keepends=True)
    assert (opened, list(json.loads(told)["data"]["prices"]), closed) == (OPEN, ["ETH"], CLOSE)
    refused = person("watch funding BTC")
    assert (refused.code, refused.err) == (1, "verdict: Only the stream prices takes symbols.\n")
