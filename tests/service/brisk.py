"""The service, started like `python -m service`, but that takes the states of its streams every tenth of a second.

An interval of ten seconds lets every second state through, however long they are apart: a fifth of a second here.
"""

import sys

from service.watch import factory

vars(factory).update(SAMPLE_S=0.1, FOLLOW_EVERY_S=0.1)

if __name__ == "__main__":
    from service.__main__ import main

    sys.exit(main())
