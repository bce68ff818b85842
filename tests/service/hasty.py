"""The service, started like `python -m service`, but that it walks forward at once instead of after a quiet minute."""

import sys

from service.walkforward import refresh

refresh.QUIET_S = 0.0  # type: ignore[misc]
refresh.EVERY_S = 0.1  # type: ignore[misc]

if __name__ == "__main__":
    from service.__main__ import main

    sys.exit(main())
