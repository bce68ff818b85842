"""Pure numbers: trends, breadth, funding zones, volatility, the regime. No I/O, no clock; may import rank 0 and numpy.

numpy costs some 60 ms and 30 MB, so the modules that need it import it at their top and are themselves imported only
when the first number is wanted: a process that only serves answers never pays for it. `states`, `breadth`, `funding`,
`rules` and `findings` need none and may be imported anywhere. `Market` is the front: who asks it gets plain values.

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
- **One calendar.** A panel has a row for every day and a column for every coin, those delisted since included. It is
  rebuilt whenever bars come (40 ms): bars arrive late and out of order, and one way to a number is enough.
- **An asset that is no coin** (an equity, a metal) is compared with USD alone, so its trend is UP or DOWN.
- **Breadth** counts every coin whose state is known on that day; net is UP less DOWN. A crossing is a change of its
  sign between closed bars, days on which they tie stepped over. An extreme is 60 % in one state. Velocity is the change
  of the net share over five days, points a day.
- **Leaders and laggards** are found by their return over 30 days against the universe's median; a **divergence** is a
  20-day closing high (low) of BTC with net breadth ten points off its own best (worst) of those days.
- **Realised volatility** is the sample deviation of 30 daily log returns, annualised over 365 days. Its percentile is a
  mid-rank among the last 365 values, itself included, 90 at least.
- **The market's regime** is rules over BTC's trend, net breadth and that percentile (tables in `rules`): other
  thresholds to begin than to go on, three closed days in a row to change, and no day's verdict ever revised. A day on
  which an input is unknown neither confirms nor interrupts. Risk-off asks for BTC to be down in USD, not for DOWN: of
  the 327 recorded days on which it was, it was DOWN on 74, because ETH fell faster; the market would not have been
  risk-off on a third of those on which net breadth was -20 % or less besides.
- **A coin's regime** follows its own trend unless the market opposes it, two days in a row; HODL keeps what there was
  while the coin goes that way in USD and the market is not against it. Had HODL kept it whatever the coin does in USD,
  every coin of the recordings would hold a position on their last day, and 48 of 49 shorts be of coins that rise. There
  is no regime before the trend has been known for 30 days, because every SuperTrend begins as up. Three days without a
  known state end the regime.
- **A regime trade** is entered and left at the open after the bar on which the regime turned, by the code and at the
  costs of the back-tests (`regime_trades`). A coin without a bar on the next day is left at its last close.
- **A funding zone** asks for a rate that is rare for the coin and dear in itself; both give way on leaving. Percentiles
  are mid-ranks, so that a rate pinned at the venue's default is ordinary.
"""
