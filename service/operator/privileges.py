"""What a process that serves gives away before it does: what it could do and never has to.

Nothing here can be had back, so a hole in what is served opens this much less. Most of it is Linux's; elsewhere files
are private and cores are not written all the same.
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
    """Give up privileges for good, here and in every process that is started from here.

    No program that is run gains any; every capability is dropped, root's as well, who then opens what is its own and
    nobody else's; files are for this user alone; and there is never a core, for keys would be in it. It holds for the
    calling thread and those that it starts: call it before there are others, and after low ports are bound.
    """
    os.umask(_PRIVATE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":  # pragma: no cover - the calls below are Linux's, and tests run there
        return
    libc = ctypes.CDLL(None)
    for capability in _ANY_CAPABILITY:  # those that there are not are refused, and all are to whoever has none
        libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    if os.geteuid() == 0:  # pragma: no branch - tests are run by root or by another, not by both
        _log.info("started as root, who is not needed: run it as a user of its own", extra={"process_id": os.getpid()})
