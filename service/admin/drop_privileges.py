"""Drops privileges that a serving process never needs.

They cannot be regained, so a vulnerability in the service exposes less. Most of it is Linux only; elsewhere files are
private and core dumps are off.
"""

import ctypes
import logging
import os
import resource
import sys
from typing import Final

_DROP_FROM_BOUNDS: Final = 24
_NO_NEW_PRIVILEGES: Final = 38
_DUMPABLE: Final = 4
"""Of prctl(2), as linux/prctl.h numbers them."""

_CAPABILITIES_3: Final = 0x20080522
"""Of capset(2), as linux/capability.h has it: of this process, three sets of two times 32 bits."""

_ANY_CAPABILITY: Final = range(64)
_PRIVATE: Final = 0o077

_log: Final = logging.getLogger("verdict.operator")


def give_up() -> None:
    """Drop privileges permanently, in this process and its children.

    Programs it runs gain none; all capabilities are dropped, root's too; new files are private; core dumps are off,
    because they would contain keys. It applies to the calling thread and threads started later: call it before other
    threads start, and after low ports are bound.
    """
    os.umask(_PRIVATE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":  # pragma: no cover - the calls below are Linux's, and tests run there
        return
    libc = ctypes.CDLL(None)
    for capability in _ANY_CAPABILITY:  # unknown capabilities are refused
        libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)


def warn_root() -> None:
    """Log that the process was started as root, if it was."""
    if os.geteuid() == 0:  # pragma: no branch - tests are run by root or by another, not by both
        _log.info(
            "Started as root, which is not needed. Run the service as its own user.", extra={"process_id": os.getpid()}
        )
