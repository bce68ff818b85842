"""Back-tests in numbers: what strategies want, what trading it would have brought. No I/O, no clock.

Nothing is left to chance but what `surrogates` draws from a seed. May import rank 0, the names on the wire, numpy and
the rest of `service.analytics`. Every module imports numpy at its top and is itself imported inside the functions and
child processes that compute: answering a request needs none of it.

Decided here:
- **One calendar, no survivors' view.** A tape has a row for every day and a column for every coin that ever had a bar,
  those delisted since included; a day without a bar is NaN and is never filled.
- **A plan is decided at the close of a row from that row and earlier ones**, and acted on at the next open by the
  simulation alone: a strategy never sees a fill, a fold or the capital. So the plan of a shortened tape is the
  beginning of the plan of the whole one, to the bit, and one plan serves every fold.
- **The universe is what could be known that day**: a bar today, 60 so far, and one of the largest by the median dollar
  volume of its last 30 bars. A coin that falls out of it is left; nothing is entered before the rules fire again.
- **A position begins with an event and has an end in sight**: a turn, a Sunday's ranking, a rare rate; it is held for
  60, 28 or 14 days at most, which is how far an outcome reaches and so what a fold purges. A state that merely goes on
  (a trend after its time, a crowd that stays) is not entered again before it was over once: otherwise the longest
  holding time would only be a fee.
- **Every rule takes equal shares**, from that day's count alone, that together make about the capital once. None is
  sized by volatility or by conviction: three rules with few parameters are what a reader can check by hand.
- **There are no orders within a day.** A stop is a line that a close has to pass, because a daily bar does not tell
  whether its high or its low came first.
- **A longer SuperTrend grid is the same walk** as the published trend's, with other settings, so its convention that a
  series begins as up is kept; but nothing turned on that bar, and the run it begins is not traded.
- **A position is a state, and fills are at opens.** What a plan wants at a close is held from the next open on, also
  where the plan has wanted it for long when a window begins. A turn is two trades at one open; what would be left at
  the open that it is entered at is not entered, and is no signal.
- **A coin without a bar on the next day is left at its last close**, whether it was delisted or a day is missing: no
  later price of it is known, and the venue settles what it delists. It is entered again only on two days in a row.
- **A position keeps its quantity**: its weight is of the equity at its entry, all positions share one equity, and
  nothing is resized in between, as a daily resize would be free. A short can lose more than it put in. Equity that
  reaches zero from one open to the next is lost for good; margin and liquidation within a day are not simulated.
- **Strategies side by side** have equal parts of the capital on the first day and nothing is moved between them later.
- **Costs are booked where they arise**: the entry's on the first day, the exit's on the last, so a window's days hold
  all that its decisions brought. What is held when the tape ends is charged as if it were left at the last close. Fees
  and slippage are on the notional traded, funding on that day's. Slippage depends on the coin's median volume at the
  close that decided (`service.analytics.costs`). Doing nothing pays the same: it is a plan that is traded.
- **Funding that was not recorded is never a gain**: a long pays the venue's resting rate, a short is paid nothing. The
  share of position-days that were known is published.
- **Sharpe ratios** are of daily returns, of the population, without a rate forgone; their skewness and kurtosis are
  corrected for bias (the conventions of `purgedcv`). One trial is no choice, so nothing is deflated. Trials are
  compared with those of the same fold, and differ by chance at least (`docs/numbers.md`). The variance of a
  probabilistic ratio is taken at the observed ratio (2012, 2014), not at the benchmark, as a paper of 2025 proposes.
"""
