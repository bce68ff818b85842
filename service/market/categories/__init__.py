"""CoinGecko's categories and market caps of the venue's coins, and which of its coins are ours.

Decided here:
- **Identity**: which of CoinGecko's coins is ours is told by ticker and price, never by ticker alone (`identity`): the
  prices must agree within 10 %, those within 2 % come first, of several the largest market cap is taken. Who was known
  stays known within 30 %, and gives way only to one within 2 %: larger namesakes that drift past take nobody's place.
  Whoever cannot be told apart is unknown: no market cap, no category.
- **Categories** are CoinGecko's, by their exact names, with the venue's prices, changes and trends; a category's coins
  are those of its 250 largest that the venue lists. Five calls a minute are all there is without a key, of which we use
  four, evenly spread: coins and categories every 300 s (900 s until everything has been read once), the members of a
  category and the past of a coin once a day, the largest and most traded first. What CoinGecko told last is served
  while it is silent; its figures are null after 48 hours. An answer is as old as its oldest price; where no price is
  left, as CoinGecko's figures; then as the charts.
"""
