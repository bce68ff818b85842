"""Verdict: market data that can be checked and verdicts that can be reproduced, over one metered HTTP API.

One request, one way through. Rooms are ranked and imports go only downward (`tests/test_layers.py` holds the table):
errors, clock, units, settings → wire → storage, upstream, analytics → access, market → routes → http → wiring.
"""

__version__ = "0.1.0"
