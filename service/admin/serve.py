"""`verdict serve`: one process, or a parent with workers."""

import asyncio
import ctypes
import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_type_hints

import click
import msgspec
import uvloop

from service import logs
from service.admin.first_keys import renew_first_keys, welcome
from service.admin.folder import refusing, run_in_folder
from service.admin.listener import check_tls, listen, url_of
from service.admin.supervisor import LAST_CALL_S, STAND_DOWN, Supervisor
from service.cli.commands import load
from service.cli.environment import Environment, VerdictCommand
from service.cli.terminal import screen_of
from service.client.errors import DONE, FAILED, MISUSED, RefusalError
from service.clock import Clock, SystemClock
from service.interpreter import command_of, watch_parent
from service.queued_output import queue_output
from service.settings import Settings, variable
from service.storage.full_disk import full_disk_named, start_refusal
from service.wiring.clocks import choose_clock
from service.wiring.preload import Preload, preloading

if TYPE_CHECKING:
    from service.wiring.process import Process

_WIDTH: Final = 80
_MARGIN: Final = " " * 6
_MOST_WORKERS: Final = 64
_LAST_CALL_S: Final = 9.9
"""Seconds from a signal until the kernel ends a parent of workers that has not ended."""

_PORT_PATIENCE_S: Final = 5
"""Longest wait for a port: workers whose parent was killed release it within two seconds."""

_log: Final = logging.getLogger("verdict.operator")


class SettingRow(NamedTuple):
    """One line of the documentation of settings."""

    variable: str
    default: str
    description: str


def describe() -> list[SettingRow]:
    """Every setting in order, for `verdict serve --help` and `docs/settings.md`."""
    hints = get_type_hints(Settings, include_extras=True)
    return [
        SettingRow(
            variable(field.name), _default(field.name, field.default), hints[field.name].__metadata__[0].description
        )
        for field in msgspec.structs.fields(Settings)
    ]


def _default(name: str, value: Any) -> str:
    named = {"data_dir": "the platform's data folder", "fixtures_dir": "fixtures/upstream"}
    if name == "wallets_rpc":
        return ",".join(url.text for url in value)
    return named.get(name, "" if value in (None, ()) else str(value))


def _filled(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=_MARGIN)


class ServeCommand(VerdictCommand):
    """A command whose help ends with the settings."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Example, and every setting with its default and meaning."""
        super().format_epilog(ctx, formatter)
        formatter.write("\nsettings (environment variables, with their defaults):\n")
        for row in describe():
            default = row.default.replace(",", ", ") or "unset"
            formatter.write(f"{_filled(f'{row.variable} ({default})', '  ')}\n{_filled(row.description, _MARGIN)}\n")


@click.command("serve", cls=ServeCommand, example="verdict serve")
@click.option(
    "--workers", type=click.IntRange(1, _MOST_WORKERS), default=1, metavar="N", help="Worker processes, 1 to 64 (1)."
)
@click.option("--first-key", is_flag=True, help="Create a pro and a free key anew, and print how to try them.")
@click.option("--worker", type=int, hidden=True, help="Which of several this process is.")
@click.option("--listener", type=int, hidden=True, help="The socket that several share.")
@click.pass_obj
def serve(environment: Environment, workers: int, worker: int | None, listener: int, *, first_key: bool) -> int:
    """Start the service. It serves until it is stopped."""
    variables = environment.variables
    if worker is not None:
        return _work(worker, listener, variables)
    if first_key and workers > 1:
        raise RefusalError("--first-key works with one process only. Leave out --workers.", MISUSED)
    with refusing():
        settings = Settings.from_environ(variables)
        _configure_logs(settings, variables)
        bound = listen(settings.host, settings.port, timeout_s=_PORT_PATIENCE_S)
        metrics = _listen_for_metrics(settings)
        # Before files are checked: root could read files that this process cannot read afterwards.
        _give_up(settings, variables)
        check_tls(settings)
        _make_folder(settings.data_dir)
    if workers > 1:
        if metrics is not None:
            metrics.close()  # This only tested the port. The workers bind theirs.
        return _supervise(bound, workers)
    with refusing(), preloading(settings, clock := choose_clock(settings)) as preload:
        callbacks = _welcome(settings, bound, variables) if first_key else {}
        _serve(settings, clock, bound, metrics, callbacks, preload)
    return DONE


def _work(number: int, descriptor: int, environment: Mapping[str, str]) -> int:
    """Run as a worker. A refusal to start applies to all workers, so it tells the parent to give up."""
    watch_parent(_stop_orphan)
    try:
        with refusing():
            settings = Settings.from_environ(environment)
            _configure_logs(settings, environment)
            listener = socket.socket(fileno=descriptor)
            listener.set_inheritable(False)  # a child process would keep the port in use
            metrics = _listen_for_metrics(settings, number)
            _give_up(settings, environment)
            callbacks = {"listening": lambda: _print("listening\n")}  # the parent reads it
            _serve(settings, choose_clock(settings), listener, metrics, callbacks)
    except RefusalError as refusal:
        raise RefusalError(str(refusal), STAND_DOWN) from refusal
    return DONE


def _stop_orphan() -> None:
    """Stop as on SIGTERM. If the event loop is blocked, the alarm ends the process."""
    signal.setitimer(signal.ITIMER_REAL, LAST_CALL_S)
    os.kill(os.getpid(), signal.SIGTERM)


def _serve(
    settings: Settings,
    clock: Clock,
    listener: socket.socket,
    metrics: socket.socket | None,
    callbacks: Mapping[str, Callable[[], None]],
    preload: Preload | None = None,
) -> None:
    making = load("service.wiring.process:Process")  # imported here, because a parent of workers serves nothing
    bound = msgspec.structs.replace(settings, port=listener.getsockname()[1])
    process: Process = making(bound, clock, listener, metrics, preload=preload, **callbacks)
    with full_disk_named(settings.data_dir), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(process.run())


def _supervise(listener: socket.socket, workers: int) -> int:
    async def keep() -> bool:
        supervisor = Supervisor(command_of("service", "serve"), listener, SystemClock())

        def stop() -> None:
            supervisor.stop()
            if not signal.getitimer(signal.ITIMER_REAL)[0]:
                signal.setitimer(signal.ITIMER_REAL, _LAST_CALL_S)

        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        return await supervisor.run(workers)

    return DONE if asyncio.run(keep()) else FAILED


def _make_folder(folder: Path) -> None:
    """Create the data folder and check that it is writable.

    Raises:
        RefusalError: Naming the setting to change.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if full := start_refusal(folder, error):
            raise RefusalError(full) from error
        raise RefusalError(
            f"Cannot write to the data folder {folder} ({error.strerror}). Make it writable for this user, or set "
            "VERDICT_DATA_DIR to a folder that is."
        ) from error


def _listen_for_metrics(settings: Settings, number: int = 0) -> socket.socket | None:
    if not settings.metrics_port:
        return None
    port = settings.metrics_port + number
    return listen(settings.host, port, port_setting="VERDICT_METRICS_PORT", timeout_s=_PORT_PATIENCE_S)


def _welcome(
    settings: Settings, listener: socket.socket, environment: Mapping[str, str]
) -> dict[str, Callable[[], None]]:
    """Create the first keys; print them when the service listens, and another line when it is ready."""
    keys = run_in_folder(environment, renew_first_keys, make=True)
    url = url_of(listener, tls=settings.tls_cert is not None)
    data = "recorded" if settings.source == "fixtures" else "live"

    def show_keys() -> None:
        _print(welcome(environment, url, keys, data=data, page=settings.pages == "on"))

    return {"listening": show_keys, "ready": lambda: _print(f"Ready: {url} answers.\n")}


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _give_up(settings: Settings, environment: Mapping[str, str]) -> None:
    """Drop privileges, then start the threads that write output, so that a blocked reader blocks nothing."""
    drop_privileges()
    queue_output("stdout", "stderr")
    _configure_logs(settings, environment)
    if os.geteuid() == 0:  # pragma: no branch - tests are run by root or by another, not by both
        remedy = "Started as root, which is not needed. Run the service as its own user."
        _log.info(remedy, extra={"process_id": os.getpid()})


_DROP_FROM_BOUNDS: Final = 24
_NO_NEW_PRIVILEGES: Final = 38
_DUMPABLE: Final = 4
"""Of prctl(2), as linux/prctl.h numbers them."""

_CAPABILITIES_3: Final = 0x20080522
"""Version of capset(2) in linux/capability.h: three sets of two 32-bit words, of this process."""

_ANY_CAPABILITY: Final = range(64)


def drop_privileges() -> None:
    """Drop privileges permanently, in this process and its children.

    Programs it runs gain none; all capabilities are dropped, root's too; new files are private; core dumps are off,
    because they would contain keys. It applies to the calling thread and threads started later: call it before other
    threads start, and after low ports are bound. Outside Linux, it applies to files and core dumps only.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":  # pragma: no cover - the calls below are Linux's, and tests run there
        return
    libc = ctypes.CDLL(None)
    for capability in _ANY_CAPABILITY:  # unknown capabilities are refused
        libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)


def _configure_logs(settings: Settings, environment: Mapping[str, str]) -> None:
    logs.configure(settings.log_level, settings.log_format, colour=screen_of(environment, sys.stderr).colour)
