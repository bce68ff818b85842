"""The process's limit of open files."""

import resource
import sys
from contextlib import suppress


def raise_limit() -> int:
    """Raise the soft limit of open files to the hard one, where the system lets us.

    Returns:
        The soft limit that holds now.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # macOS refuses what its kernel does not support, also below its hard limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
