"""`verdict watch`: opens a stream and shows it in the form that is wanted."""

import queue
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from service.clients.cli import dry_run, output, shape
from service.clients.cli.offer import target
from service.clients.cli.prose import flow
from service.clients.cli.refusal import DONE
from service.clients.cli.screen import Cell, safe
from service.clients.cli.terminal import is_plain, is_terminal, screen
from service.clients.cli.watch.following import PATH, Following, Line
from service.clients.cli.watch.live import Live
from service.clients.cli.watch.page import Page, rows_of
from service.clients.cli.watch.taking import VIEWS, take
from service.clients.profile.caller import open_client
from service.clients.sdk.client import Client
from service.clock import SystemClock

_TICK_S: Final = 1.0
"""How often ages are told anew."""

_BELOW: Final = 2
"""Lines below the view, which say nothing once it is over."""

_TIME: Final = slice(11, 19)

Item = Line | str | BaseException | None
"""What the thread that reads has to say: a line, words about the connection, an error, or that it is over."""


def run(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Follow a stream to its end.

    Raises:
        RefusedError: If the service will not open it.
        UnreachableError: If it cannot be opened, or not again after a cut.
        UnreadableError: If what comes are no lines of a stream.
    """
    human = shape.form(arguments) == "human"
    drawn = human and is_terminal(sys.stdout) and not is_plain(environment)
    query: dict[str, object] = {
        "interval": arguments.interval,
        "max": arguments.max,
        "diff": 1 if arguments.diff and not drawn else None,  # what is drawn whole is asked for whole
        "cursor": arguments.cursor,
    }
    if arguments.dry_run:
        given = {name: value for name, value in query.items() if value is not None}
        path = target(PATH + arguments.stream, given)
        return dry_run.show(arguments, environment, "GET", path, price="", counted=True)
    client = open_client(arguments, environment)
    show = _draw if drawn else _say if human else _pass_on
    following = show(client, arguments.stream, query, environment)
    code, why = following.ending
    if human or code != DONE:
        cursor = f"; --cursor {following.cursor} goes on from there" if following.cursor else ""
        _tell(f"the stream is over: {why}{cursor}")
    return code


def _pass_on(client: Client, stream: str, query: Mapping[str, object], environment: Mapping[str, str]) -> Following:  # noqa: ARG001 - all forms alike
    """Every line as it comes."""
    following = Following(client, stream, query, _pause, _tell)
    for line in following.lines():
        if sys.stdout.isatty():
            output.put(line.raw.decode(errors="replace") + "\n")
        else:
            output.put_bytes(line.raw + b"\n")
    return following


def _say(client: Client, stream: str, query: Mapping[str, object], environment: Mapping[str, str]) -> Following:
    """A line an event, for people whose terminal cannot be drawn on."""
    following = Following(client, stream, query, _pause, _tell)
    view, where = VIEWS[stream](), screen(environment, sys.stdout)
    for line in following.lines():
        if line.kind == "event":
            meta = take(view, line)
            time = Cell(f"{meta['ts']}"[_TIME], "dim")
            output.put_lines(flow(where, [time, *view.tell(line.document["data"])]))
            sys.stdout.flush()
        elif line.kind == "gap":
            _tell("some events are lost: what lies between is not kept any more")
    return following


def _draw(client: Client, stream: str, query: Mapping[str, object], environment: Mapping[str, str]) -> Following:
    """All that is known, drawn anew with every line and every second."""
    # Not a `SimpleQueue`: one whose wait is interrupted for longer than it was to last (Ctrl-Z) waits for ever.
    inbox: queue.Queue[Item] = queue.Queue()
    following = Following(client, stream, query, _pause, inbox.put)
    live = Live(stream, VIEWS[stream](), SystemClock())
    threading.Thread(target=_read, args=(following, inbox.put), daemon=True).start()

    def lines() -> Iterator[str]:
        return live.lines(screen(environment, sys.stdout), rows_of(environment, sys.stdout))

    try:
        with Page(sys.stdout) as page:
            follow(inbox, live, lambda: page.draw(lines()))
    finally:
        output.put_lines([*lines()][:-_BELOW] if live.opened else [])
    return following


def follow(inbox: "queue.Queue[Item]", live: Live, draw: Callable[[], None]) -> None:
    """Draw what comes until it is over.

    Args:
        inbox: What the thread that reads has to say.
        live: What is drawn.
        draw: Draws it.

    Raises:
        BaseException: What ended the reading.
    """
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


def _read(following: Following, put: Callable[[Item], None]) -> None:
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
    sys.stderr.write(f"verdict: {safe(text)}\n")
    sys.stderr.flush()
