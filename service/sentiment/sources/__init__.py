"""Adapters, one a kind of source: its wire format in, the package's own structs out. May import what the package may.

Decided here:
- A feed is refused if it is not RSS, defines entities (bombs, files read by reference), has five times the markup of
  real feeds, or holds no readable item. An unreadable item is left out alone, and counted.
- Text is data: markup and control characters go, what is left is cut, and no answer of the service repeats it.
- An item without a certain date, or dated ahead of the clock, does not count.
"""
