"""What all closed daily bars say together: breadth, crossings, regimes.

Decided here:
- **Conclusions** (breadth, crossings, regimes) are one document, made of all closed daily bars by the leader and read
  by everybody; a process that comes to lead makes it once more, so that new rules and words are seen at once.
- **A day is published once** and never changes: as soon as every listed coin has its bar; or 15 minutes after its
  close, once everybody was asked since and nine in ten of the coins traded the day before have it; or a day later; and
  never before everybody was asked once. BTC and ETH must have it. The regime follows the published figures; a bar that
  comes later enters its coin's charts alone. The universe of a day are the coins whose trend is known on it, those that
  have been delisted since included.
- Breadth and regimes are as of the close of the last published day, and end 48 hours after it (502 or 503): these
  payloads have no way to name a field stale. Crossings are told for 90 days, signals for 30. A day is named after the
  bar it covers: `date` is the day whose close it was, `since`, `at` and `firedAt` the instants of the closes.
- **Regime trades** follow the walk-forward's standard and its code: a decision at a close is filled at the next open
  (`entryDate` and `exitDate` are the days of these opens), with fees, slippage by volume and funding. A position that
  was decided on the last close has no entry price yet. A coin without a bar on the next day is left at its last close.
  Trades are told again when more funding becomes known. `currentPrice` alone is live, null past its limit.
- **Regime signals** are all turns, to neutral too, which ends a position; who is let go for lack of bars fires none.
  `symbol` narrows every action down to its coin; `history` alone knows delisted ones. A confidence is how clearly the
  rules' inputs speak, by the formulas of `analytics.rules`, and no probability. A trade that ends at its entry price
  counts as a loss. Before BTC's volatility can be ranked (some 120 days) there is no regime to tell: 503.
- **Against BTC** is told of a coin whose trend opposes BTC's though its returns usually go with it (correlation of 0.7
  or more), ten coins at most.
"""
