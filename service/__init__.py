"""Verdict: market data that can be checked and verdicts that can be reproduced, over one metered HTTP API.

Packages are ranked and import lower ranks only. `tests/test_layers.py` holds the ranks, `ARCHITECTURE.md` has a tour.
"""

__version__ = "0.1.0"
