"""Real-world assets: equities, funds, metals, commodities, indices and currencies, as their perpetuals trade.

May import rank 0, wire, storage, upstream, analytics (when first used: it brings numpy) and market, whose store, shelf
and adapters it uses.

Decided here:
- **What a price is**: the mark price of the perpetual on the builder dex `xyz` of Hyperliquid, in USD as the dex quotes
  it. It trades on when the asset's own exchange is closed, at nights, on weekends and holidays; it is not that
  exchange's close, and nothing is made up in between. `change_24h` compares it with itself 24 hours before.
- **What an asset is** is said by the venue's annotations, never guessed: their category, with case and number folded.
  Stocks with the keyword `etf` are funds, commodities that name a metal are metals. Pre-IPO shares, rates, crypto,
  unknown categories and what is not annotated are left out, and the log says so once.
- **Wrappers of crypto are never listed**: not what is annotated as crypto or as a wrapper, not tokens of gold, and not
  what shares ticker and price with a coin of the main dex (a ticker alone may be chance: `COIN` is Coinbase).
- An asset is **asked for** as `AAPL` or `xyz:AAPL`, in any case. A name (`Apple`) is suggested, never taken.
- The **listing** is read hourly, with the volumes that order it; its time is the `as_of` of `rwa/assets`. Price and
  funding are read every 30 seconds and named stale after three missed rounds or when the newest one did not bring them;
  null after ten minutes. What comes with the price (change, open interest, volume) goes with it.
- **Trends** are SuperTrend of the price in USD alone, UP or DOWN: an equity is not compared with BTC. Bars are the
  perpetual's daily ones, weekends included, fetched once a day after the coins'; limits are those of coins' charts.
- **Funding** belongs to the perpetual, and is said by the interval in which it is paid, with that interval.
- **Fall-back**: while Hyperliquid fails, Binance tells price and funding of the assets it has as
  `TRADIFI_PERPETUAL`, found by ticker (metals by their ISO 4217 code) and kind, and believed only where the last known
  price vouches for it. `venue` says who told. Open interest is unknown meanwhile.
- `dex` takes the one dex that is read; another is a bad request that names it.
"""
