"""Walk-forward: strategies judged on days that nobody had seen when their parameters were chosen.

May import ranks 0 to 3, never `verdict`. `parameters`, `run` and `folds` need no numpy and may be imported anywhere;
`engine` and `gate` do, and are imported where a walk-forward is run: in a child process or by the operator's command.

Decided here:
- **Folds** are counted in rows from the first recorded day, so they stay where they are from one day's run to the next.
  The first test fold begins after 365 days of training; folds of 90 days lie back to back, and the last one runs to the
  last recorded day: it is the live one.
- **Purge, no embargo.** A training window ends as many days before its fold as a position may be held, and one more for
  the day of its fill. An embargo leaves out training days that follow a test fold. Every training window here ends
  before its fold, so an embargo would have no effect on leakage, and none is applied.
- **Costs** are those of `service.analytics.costs`: a fee, and slippage by the coin's median volume as known at the
  close that decided. Regime trades are charged by the same code.
- **Choosing.** The parameter set with the best Sharpe ratio after costs and funding on the training days is followed
  through the fold; of equals the first of the grid, and a set that never traded comes last. Every training back-test of
  every strategy counts as a trial against every deflated ratio, though the windows of later folds hold those of earlier
  ones: more trials than there are independent ones make it too strict, never too kind.
- **All together** are as many equal parts of the capital as there are strategies; the part of a refused one stays in
  cash, for its figures must not be told and its capital must not make the others look bolder. Days compound. Doing
  nothing buys the first test day's universe at its open, in equal parts, and pays for that alone.
- **Records** have the same id in every run that makes the same decision, shared by a signal, its position and its
  outcome. A run is known by its tape and its parameters: when it ran changes nothing in it, and what is drawn by chance
  is drawn from the digest of the parameters, so that the gate does not throw anew every day until somebody is unlucky.
- **The gate believes nobody.** It holds the plan of every day against that of a tape which ends on that day (a leak on
  one day in a hundred, or in one coin, is found by no sample), fills, weights and costs against plans and prices, days
  against positions, holding times against what is purged, and training against training done again on a tape that ends
  before the fold. One check that fails refuses the strategy, whatever the others say. That acting on tomorrow changes
  something is asked of the whole tape: the first days of a fold may be too few for any plan to change in. What it
  cannot see is an author who knew the history, and a history that forgot who was delisted: the trials of a grid are
  counted, those of a mind are not.
- **Sign-flip surrogates** (`analytics.backtest.surrogates`) test for look-ahead, not for skill. Their days are tossed
  as simple returns from open to open, not as logarithms, whose mean is zero while that of their returns is not. Given
  everything before it, a day's part of an honest book is then symmetrical about zero, exactly, so that one threshold
  does for every strategy and market. Beyond four standard errors on forty tapes an edge is knowledge. Measured: the
  gate let 1,200 honest walks over random walks pass, none refused, the farthest at 3.6, with a deviation of 0.96 (300
  markets, four strategies); over the recordings 150 measurements of the three strategies stayed within 3.3, where a
  scaler of the full sample stands at 10, a centred window at 90 and a fill on the bar that decided at 109.
- **Once a day, in a process of its own.** The leader has the last published day walked: for the first time when the
  service is a minute old and nine in ten coins have their funding (or an hour has passed), then an hour after a day's
  close, when its late bars and payments have come. The run is a child process with a nicer priority that reads the
  market from the database by itself, so that nobody's answer waits for arithmetic; it ends when the service does, also
  when that is killed. What goes wrong is logged and left alone for ten minutes, then for twice as long each time, up to
  six hours. `verdict walkforward run` does the same by hand.
- **Funding of a day** is what was paid after its 00:00 up to and at the next: a payment is for the hours before it. A
  day counts as recorded if one of its 24 hours lacks at most (the venue itself once left one out, for every coin).
  Daily sums are kept for ever, where hourly payments are forgotten after a hundred days.
- **Tickers.** Records name coins by the public ticker. Of two that would share one, the traded coin is walked, else the
  one with the longer past.
- **Signal quality** (`quality`) counts the closed out-of-sample trades of one coin by one strategy in the last run.
  Parameters are chosen on earlier days for all coins together, so no trade was seen when they were chosen. No
  mean-reversion strategy of prices is run: `funding-reversion` trades extreme funding, so `mean_reversion`, the default
  of clients, is not mapped to it and answers that there is no record.
- **Runs are never changed.** Each has a number; the names of all are kept, the records of the last 30. The highest
  number of the present history is the one told, whoever ran it and by whatever scheme; runs of another history (a
  replay, or live after one) are not told. A list that is read page by page stays in the run it began in; once that is
  forgotten its cursor is refused.
- **As of the run.** `as_of` is when the engine ran. Before the first run it is when the process started, the lists are
  empty, `message` says that nothing was written, and the answer is not counted. Any other empty list says of which run
  it is, and that it says nothing about the market. `currentPrice`, `unrealizedPct` and `holdDays` alone are of the
  present.
- **A coin is found** if it is listed, in any spelling, or if the run holds a record of it under its ticker: who was
  delisted stays in history.
"""
