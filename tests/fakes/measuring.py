"""Which lines of the service a test runs through is measured, unless that only takes time."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TOLD_BY = "COVERAGE_"


@contextmanager
def unmeasured() -> Iterator[None]:
    """Run at full speed, and so let processes run that are started meanwhile.

    Measuring takes more time than what is measured: each line that runs calls the tracer first, also those of tests and
    of libraries. This takes the tracer away as the interpreter has it, whoever has set it, and puts it back.
    """
    own, of_threads = sys.gettrace(), threading.gettrace()
    told = {name: value for name, value in os.environ.items() if name.startswith(_TOLD_BY)}
    sys.settrace(None)
    threading.settrace(None)
    for name in told:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(told)
        threading.settrace(of_threads)
        sys.settrace(own)
