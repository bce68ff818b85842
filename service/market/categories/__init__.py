"""CoinGecko's categories and market caps of the venue's coins, and the mapping between the two sets of coins.

- **Identity** (`identity`): a coin is matched by ticker and price, never by ticker alone. Prices must agree within
  10 %; matches within 2 % win, then the largest market cap. A known match stays while it is within 30 % and is replaced
  only by one within 2 %. A coin without a match has no market cap and no category.
- **Categories** are CoinGecko's, by exact name, with the venue's prices, changes and trends. Members are those of a
  category's 250 largest coins that the venue lists. Without a key CoinGecko allows five calls a minute, of which four
  are used: coins and categories every 300 s (900 s until everything has been read once), members of a category and the
  past of a coin once a day, the largest and most traded first.
- If CoinGecko fails, its last answers are served; its figures are null after 48 hours. An answer is as of its oldest
  price; without prices, as of CoinGecko's figures; otherwise as of the charts.
"""
