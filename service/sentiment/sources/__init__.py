"""Adapters, one a kind of source: its wire format in, the package's own structs out. May import what the package may.

Decided here:
- A feed is refused whole where it is no RSS, where it defines entities or a document type (bombs, files read by
  reference), where it has ten times the markup of any feed, or where it holds no item that can be read; an item that
  cannot be read is left out alone.
- Text is data: markup and control characters go, what is left is cut, and no answer of the service repeats it.
- An item without a usable date was published when it was first seen; none is dated after that.
"""
