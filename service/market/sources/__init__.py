"""Adapters, one per venue: its wire format in, data types of the market package out.

- A struct names the fields that the service reads and ignores others, so new fields break nothing. Decimal strings
  become finite floats, or the whole answer is rejected.
- A value that one coin lacks is null for that coin alone. An answer that is doubtful as a whole (lists of unequal
  length, no coin at all, another coin's bars) is rejected.
- Only what is needed is decoded: one of nine markets in a frame, and only when it is read.
"""
