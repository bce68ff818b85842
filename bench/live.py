"""A service that reads live upstreams under a replay's budgets, and walks nothing forward beside a load.

Loads nothing that the service itself would not.
"""

import sys
from unittest.mock import patch

from service.__main__ import main
from service.wiring import upstreams as venues
from tests.service import still  # noqa: F401 - what it is loaded for

UNBOUNDED = 1_200_000
"""Weight a minute: that of a replay."""

if __name__ == "__main__":
    with patch.object(venues, "PUBLISHED", dict.fromkeys(venues.PUBLISHED, UNBOUNDED)):
        sys.exit(main())
