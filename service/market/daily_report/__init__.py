"""The daily report: breadth, crossings and regimes, computed from all closed daily bars.

- The leader writes the **report** as one document that every process reads. A new leader writes it again, so new rules
  and wording show at once.
- **A day is published once** and never changes: when every listed coin has its bar; or 15 minutes after its close, once
  every coin was requested since and 90 % of the coins traded the day before have it; or a day later. Never before every
  coin was requested once; BTC and ETH must have it. The regime follows the published figures. A later bar enters only
  its coin's charts. A day's universe are the coins with a known trend on it, including coins delisted since.
- Breadth and regimes are as of the close of the last published day and end 48 hours after it (502 or 503), because
  these payloads cannot name a field stale. Crossings reach back 90 days, signals 30. A day is named after its bar:
  `date` is the day that closed, `since`, `at` and `firedAt` are instants of closes.
- **Regime trades** use the walk-forward's rules and code: a decision at a close is filled at the next open (`entryDate`
  and `exitDate` are the days of these opens), with fees, slippage by volume, and funding. A position decided at the
  last close has no entry price yet. A coin without a bar on the next day is closed at its last close. Trades are
  computed again when more funding is known. Only `currentPrice` is live; it is null past its limit.
- **Regime signals** are all changes, including to neutral, which ends a position. A position that ends for lack of bars
  fires none. `symbol` limits every action to its coin; only `history` knows delisted ones. A confidence is how clearly
  the rules' inputs agree (formulas in `analytics.rules`), not a probability. A trade that ends at its entry price
  counts as a loss. Before BTC's volatility can be ranked (some 120 days) there is no regime: 503.
- **Against BTC** lists coins whose trend opposes BTC's although their correlation is 0.7 or more, ten at most.
"""
