"""Walk-forward: strategies judged on days that nobody had seen when their parameters were chosen.

May import ranks 0 to 3, never `verdict`. `parameters`, `run` and `folds` need no numpy and may be imported anywhere;
`engine` and `gate` do, and are imported where a walk-forward is run: in a child process or by the operator's command.

Decided here:
- **Folds** are counted in rows from the first recorded day, so they stay where they are from one day's run to the next.
  The first test fold begins after 365 days of training; folds of 90 days lie back to back, and the last one runs to the
  last recorded day: it is the live one.
- **Purge and embargo.** A training window ends as many days before its fold as a position may be held, and one more for
  the day of its fill; it also leaves out five days after the end of every earlier fold. Positions are flat there.
"""
