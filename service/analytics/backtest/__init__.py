"""Back-testing in numbers: what strategies want, what trading it would have brought. No I/O, no clock, no randomness.

May import rank 0, the names on the wire, numpy and the rest of `service.analytics`. Every module imports numpy at its
top and is itself imported inside the functions and child processes that compute: answering a request needs none of it.

Decided here:
- **One calendar, no survivors' view.** A tape has a row for every day and a column for every coin that ever had a bar,
  those delisted since included; a day without a bar is NaN and is never filled.
- **A plan is decided at the close of a row from that row and earlier ones**, and acted on at the next open by the
  simulation alone: a strategy never sees a fill, a fold or the capital. So the plan of a shortened tape is the
  beginning of the plan of the whole one, to the bit, and one plan serves every fold.
- **The universe is what could be known that day**: a bar today, 60 so far, and one of the largest by the median dollar
  volume of its last 30 bars. A coin that falls out of it is left; nothing is entered before the rules fire anew.
"""
