"""Real-world assets: equities, funds, metals, commodities, indices and currencies, traded as perpetuals.

May import rank 0, wire, storage, upstream, analytics (on first use, because it imports numpy) and market, whose store
and adapters it uses.

- **Price**: mark price of the perpetual on Hyperliquid's builder dex `xyz`, in USD. It trades on nights, weekends and
  holidays, so it is not the close of the asset's exchange. `change_24h` compares it with
  the price 24 hours before, as the market package defines it; hours are fetched where that price is not known.
- **Type**: from the venue's annotations, their category with case and number folded. Stocks with the keyword `etf` are
  funds; commodities that name a metal are metals. Pre-IPO shares, rates, crypto, unknown categories and assets without
  annotation are left out and logged once.
- **Crypto wrappers** are never listed: annotated crypto or wrappers, gold tokens, and assets that share ticker and
  price with a coin of the main dex (a ticker alone may be chance: `COIN` is Coinbase).
- **Spelling**: `AAPL` or `xyz:AAPL`, in any case. A name (`Apple`) only suggests. `dex` accepts only `xyz`.
- **Freshness**: the listing is read hourly; its time is the `as_of` of `rwa/assets`. Price and funding are read every
  30 s, stale after three missed rounds or when the newest round lacks them, null after ten minutes. Change, open
  interest and volume follow the price.
- **Trends**: SuperTrend of the USD price alone, UP or DOWN; an equity is not compared with BTC. Daily bars of the
  perpetual, weekends included, are fetched once a day after the coins'; limits are those of coins.
- **Funding**: the perpetual's, per payment interval, with that interval.
- **Fallback**: while Hyperliquid fails, Binance provides price and funding of its `TRADIFI_PERPETUAL` contracts,
  matched by ticker (metals by ISO 4217 code), kind, and the last known price. `venue` names the source. Open interest
  is null.
"""
