"""A process that meters on a machine whose power is going to be cut: a boot's name, then what `metering_process` takes.

What marks in memory are good for is decided by the id of the boot they were made in: here it is an argument.
"""

import asyncio
import sys
from unittest.mock import patch

from tests.access.metering_process import main

if __name__ == "__main__":
    with patch("service.access.meter.boot_id", sys.argv[1].encode):
        asyncio.run(main(*sys.argv[2:]))
