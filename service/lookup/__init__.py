"""Which coin is meant, what it costs now and cost before, and how it has trended.

- **Identity**: a coin is known by its ticker, CoinGecko's id, its name, and its contracts. Coins that the venue lists
  come first; CoinGecko's 500 largest coins are known by identity and figures only.
- **Baselines** are the past prices that changes are measured from: 4 hours, 24 hours and 7 days ago.
- **Trend runs** are those of the daily report, from closed bars only.
"""
