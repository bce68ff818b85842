"""Pure numbers: bars, SuperTrend, trend states, correlation. No I/O, no clock; may import rank 0 and numpy.

numpy costs some 60 ms and 30 MB, so these modules import it at their top and are themselves imported only when the
first number is wanted: a process that only serves answers never pays for it.

Decided here:
- **SuperTrend(10, 3)** is TA-Lib 0.8's, bar for bar: Wilder's ATR seeded with the mean of the first ten true ranges
  (the first bar has none), the first known bar counts as up, and a close that only touches the line changes nothing.
  So a series is up until it first closes under its line, however young it is: the convention of the oracle is kept.
- **Closed bars only.** Nothing here knows an open bar, so no value ever repaints: what is computed from the first n
  bars is the same for ever (`tests/analytics` proves it on every prefix).
- **Weeks are ISO weeks**, Monday to Sunday UTC, built from daily bars. A week is closed once its Sunday or a later day
  is there, not when the calendar says so: a Sunday that arrives late can then never change a week already published. A
  week that lacks days (a listing, an outage) is what was traded in it.
- **A ratio bar** (coin/BTC, coin/ETH) has the ratio of the opens as its open and of the closes as its close; its high
  and low are the largest and smallest of the four ratios o/o, h/h, l/l, c/c. The true extremes of a ratio cannot be
  known from two daily bars. h/h and l/l alone are the usual guess, but on the recordings one bar in nine then has its
  high under its low, and its range misses that of the hourly ratios by 47 % in the mean; the four miss it by 20 %, h/l
  and l/h (every extreme at the worst moment) by 194 %. Weekly ratio bars are built from daily ratio bars.
- **A trend state** belongs to a bar on which the coin is known against everything it is compared with: UP above all
  lines, DOWN below all, else HODL. A coin is compared with USD, BTC and ETH, never with itself. `since` is the close of
  the first bar of the present run of states: the first moment at which anybody could have known it.
- **Correlation** is Pearson's over the log returns between successive bars among the last 90 days on which both coins
  have a closed bar (89 returns), 30 such days at least; unknown where a price never moved; BTC with itself is 1.
"""
