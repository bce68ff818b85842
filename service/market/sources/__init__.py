"""Adapters, one a venue: its wire format in, the room's own structs out. May import what the room may.

Decided here:
- A struct names every field of the venue's that the service will read, and ignores the others, so a new field never
  breaks us. Decimal strings become finite floats or the whole answer is refused: NaN cannot enter here.
- What one coin lacks is null for that coin alone; what makes the answer as a whole doubtful (lists of unequal length,
  no coin at all, another coin's bars) refuses it whole. A price under the wrong name is worse than none.
- Only what is asked for is decoded: of a frame of nine markets one is, and only when somebody reads it.
"""
