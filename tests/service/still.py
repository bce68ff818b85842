"""The service, started like `python -m service`, but that it does not walk forward by itself.

Over a whole market that is a process of its own that computes for many seconds: for a test that never looks at it, they
are nothing but lost.
"""

import sys

from service.walkforward.refresh import WalkforwardScheduler


async def stay(self: WalkforwardScheduler) -> None:
    """Find nothing due."""


WalkforwardScheduler.round = stay  # type: ignore[method-assign]

if __name__ == "__main__":
    from service.__main__ import main

    sys.exit(main())
