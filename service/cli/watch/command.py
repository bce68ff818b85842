"""`verdict watch`: opens a stream and shows it in the requested form."""

import queue
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Final

import click

from service.cli import output_format
from service.cli.calling import show_request, with_query
from service.cli.environment import (
    Environment,
    Utf8Text,
    VerdictCommand,
    WholeNumber,
    dry_run_option,
    json_option,
    url_option,
)
from service.cli.layout import flow
from service.cli.terminal import Cell, is_plain, is_terminal, size_of, tell
from service.cli.watch.live_view import LOST_EVENTS, AlternateScreen, LiveView
from service.cli.watch.views import VIEWS, PricesView, StreamView, take_event
from service.client.answer import reading
from service.client.errors import DONE, REFUSED, UNAVAILABLE, UNKNOWN_CALLER, UNPAID, RefusalError
from service.client.stream import PATH, StreamClient, StreamLine
from service.clock import SystemClock

ENDINGS: Final[Mapping[str, tuple[int, str]]] = {
    "end": (DONE, "the requested number of events has arrived"),
    "limit": (DONE, "its limit of one hour is reached"),
    "revoked": (UNKNOWN_CALLER, "the credential was revoked or has expired"),
    "quota": (UNPAID, "the tier that it was opened with has ended"),
    "shutdown": (UNAVAILABLE, "the service is stopping"),
    "slow-reader": (REFUSED, "it was read too slowly"),
}
"""Exit code and explanation of each reason for which a stream ends."""

_TICK_S: Final = 1.0
"""Seconds between two updates of the ages."""

_ROWS: Final = 24
"""Rows of a terminal that does not say how many it has."""

_PROMPT: Final = 2
"""Rows that the last state leaves to the shell's prompt."""

_TIME: Final = slice(11, 19)

Item = StreamLine | str | BaseException | None
"""From the reading thread: a line, a message about the connection, an error, or None at the end."""


@click.command("watch", cls=VerdictCommand, example="verdict watch prices")
@click.argument("stream", type=click.Choice(tuple(VIEWS)), metavar="STREAM", help=f"Which: {', '.join(VIEWS)}.")
@click.argument(
    "symbols",
    nargs=-1,
    type=Utf8Text(),
    metavar="[SYMBOL]...",
    help="Of prices only these coins, by ticker, with their change in 24 h.",
)
@click.option("--interval", type=WholeNumber(), metavar="S", help="Seconds between events, 10 to 300 (30).")
@click.option("--max", "most", type=WholeNumber(), metavar="N", help="End after so many events (0: never).")
@click.option("--diff", is_flag=True, help="After the first event only what changed.")
@click.option("--cursor", type=Utf8Text(), metavar="CURSOR", help="Go on after this cursor, leaving out nothing.")
@json_option
@url_option
@dry_run_option
@click.pass_obj
def watch(  # noqa: PLR0913 - one for each option
    environment: Environment,
    *,
    stream: str,
    symbols: tuple[str, ...],
    interval: int | None,
    most: int | None,
    diff: bool,
    cursor: str | None,
    as_json: bool,
    url: str | None,
    dry_run: bool,
) -> int:
    """Follow one of six live streams; opening one uses up a question."""
    variables = environment.variables
    human = not environment.prints_json(as_json)
    drawn = human and is_terminal(sys.stdout) and not is_plain(variables)
    query: dict[str, object] = {
        "interval": interval,
        "max": most,
        "diff": 1 if diff and not drawn else None,  # the view needs complete events
        "cursor": cursor,
    }
    if dry_run:
        given = {name: value for name, value in query.items() if value is not None}
        target = with_query(PATH + stream, given)
        return show_request(environment, url, "GET", target, as_json=not human, price="", counted=True)
    if symbols and stream != "prices":
        raise RefusalError("Only the stream prices takes symbols.")
    client = environment.client(url)
    following = StreamClient(client, stream, query, _pause, _tell)
    if human:
        named, is_whole = [symbol.upper() for symbol in symbols], not (cursor and query["diff"])
        view = PricesView(named, is_whole=is_whole) if symbols else VIEWS[stream]()
        (_draw if drawn else _say)(following, view, environment)
    else:
        _pass_on(following, {symbol.upper() for symbol in symbols})
    return _end(following, human=human)


def _end(following: StreamClient, *, human: bool) -> int:
    code, why = ending_of(following.reason)
    if human or code != DONE:
        cursor = f" To resume it: --cursor {following.cursor}" if following.cursor else ""
        _tell(f"The stream ended: {why}.{cursor}")
    return code


def ending_of(reason: str | None) -> tuple[int, str]:
    """Exit code and explanation of a stream's end; `reason` is None if the connection broke."""
    if reason is None:
        return UNAVAILABLE, "the connection broke again and again"
    return ENDINGS.get(reason, (UNAVAILABLE, reason))


def _pass_on(following: StreamClient, symbols: Collection[str]) -> None:
    """Write every line as it arrives, prices only of these symbols if any are given."""
    for line in following.lines():
        raw = line.raw
        if symbols and line.kind == "event":
            with reading():
                kept = {name: tick for name, tick in line.document["data"]["prices"].items() if name in symbols}
                document = {**line.document, "data": {**line.document["data"], "prices": kept}}
            raw = output_format.dump(document).encode()
        if sys.stdout.isatty():
            output_format.put(raw.decode(errors="replace") + "\n")
        else:
            output_format.put_bytes(raw + b"\n")


def _say(following: StreamClient, view: StreamView, environment: Environment) -> None:
    """Write one line per event, for a terminal without cursor movement."""
    where = environment.screen
    for line in following.lines():
        if line.kind == "event":
            meta = take_event(view, line)
            time = Cell(f"{meta['ts']}"[_TIME], "dim")
            output_format.put_lines(flow(where, [time, *view.tell(line.document["data"])]))
            sys.stdout.flush()
        elif line.kind == "gap":
            _tell(LOST_EVENTS)


def _draw(following: StreamClient, view: StreamView, environment: Environment) -> None:
    """Draw the whole view with every line and every second."""
    # A `SimpleQueue` waits for ever if its wait is interrupted (Ctrl-Z) for longer than the timeout.
    inbox: queue.Queue[Item] = queue.Queue()
    following.tell = inbox.put
    live = LiveView(following.stream, view, SystemClock())
    threading.Thread(target=_read, args=(following, inbox.put), daemon=True).start()

    def rows() -> int:
        return size_of("lines", environment.variables, sys.stdout, _ROWS)

    try:
        with AlternateScreen(sys.stdout) as page:
            follow(inbox, live, lambda: page.draw(live.lines(environment.screen, rows())))
    finally:
        output_format.put_lines(live.state(environment.screen, rows() - _PROMPT) if live.opened else [])


def follow(inbox: "queue.Queue[Item]", live: LiveView, draw: Callable[[], None]) -> None:
    """Draw what the reading thread puts into `inbox`, until the stream ends. Raises the error that ended it."""
    while True:
        draw()
        try:
            item = inbox.get(timeout=_TICK_S)
        except queue.Empty:
            continue
        if item is None:
            return
        if isinstance(item, BaseException):
            raise item
        if isinstance(item, str):
            live.trouble(item)
        else:
            live.take(item)


def _read(following: StreamClient, put: Callable[[Item], None]) -> None:
    try:
        for line in following.lines():
            put(line)
    except Exception as error:  # noqa: BLE001 - raised again by the thread that draws
        put(error)
    else:
        put(None)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def _tell(text: str) -> None:
    tell(f"verdict: {text}")
