"""Ports for settings in which 0 does not mean "any free port"."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def held_port(count: int = 1) -> Iterator[int]:
    """Hold a port for a service to listen on: no other program is given it meanwhile.

    A bound socket that does not listen keeps the kernel from giving its port away. `SO_REUSEADDR`, which servers set,
    still lets a server bind that port by its number.

    Args:
        count: How many ports are held, one after the other.

    Yields:
        The first of them.
    """
    while True:
        with ExitStack() as held:
            port = _bind(held, 0)
            try:
                for number in range(1, count):
                    _bind(held, port + number)
            except (OSError, OverflowError):
                continue
            yield port
            return


def _bind(held: ExitStack, port: int) -> int:
    bound = held.enter_context(socket.socket())
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return int(bound.getsockname()[1])
