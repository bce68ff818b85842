"""The table of all coins and measures, and the history of coins.

May import everything up to market, sentiment and verdict; nothing of the network.

Decided here:
- One row per listed coin, in memory. Every value equals what the route of the single coin says at the same moment. A
  verdict in the table is graded by the current rules and is not written to the ledger: only `signal` issues verdicts.
- Changes over spans are those of the market package, the same as in `coin/historical`.
- `rank` is the place by market cap among the listed coins whose market cap is known.
- A cursor holds a place in the ordered list. The list is ordered again for each page, so a coin whose value changes
  between two pages may be listed twice or not at all.
- History (`CoinHistory`) is for other packages of this process. Closed days are loaded once for each published day, on
  a worker thread: all bars, and the states that the published rules give for each day from what was known at its end.
"""
