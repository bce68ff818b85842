"""What the market is doing: quotes and closed bars of a venue, and what they say of a coin.

May import rank 0, wire, storage, upstream and analytics (the last only when first used: it brings numpy).

Decided here:
- One way in: the process that leads fetches and stores; every process, that one included, answers from a snapshot of
  the store in memory. So followers, restarts and the leader give the same answers.
- Over several machines a lead can be lost and come back, and somebody else has led between. What a leader remembers of
  its own rounds is then no longer how things stand: what must not be told twice or otherwise (published days, alerts)
  is held against the store in each round, and a published document is replaced only by who knows it.
- **Price** is the venue's mark price (median of its oracle, book and trades; what positions are valued and liquidated
  at); **funding** the rate running this hour. Both come in one answer every 15 seconds and are dated by the venue's own
  clock (the `Date` of the answer), never later than its receipt.
- **Between two answers** the venue's WebSocket pushes both; at most one frame in five seconds is read, the newest. A
  frame names no coins: it is matched with the universe of the last accepted answer, and refused where the lengths
  differ, until the next answer. It carries no time: it is dated by its receipt, in whole seconds as the answers are. An
  answer older than the newest frame tells who is listed and nothing else. So while answers fail, the feed alone keeps
  prices fresh. Answers and frames without any price are failures.
- **Plausibility**: every quote, polled or pushed, of either venue, passes one check before it is stored
  (`plausibility_rules`, `docs/decisions/0001-plausibility.md`). What fails is held back (`quarantine`): the last
  accepted value stays and is named stale, until the second venue agrees or the same level has lasted for 150 s.
  The second venue is asked once a minute, and at once when something is held back (`second_venue`). A coin counts as
  known once a price of it was accepted (`universe`).
- **Fall-back**: when an answer fails and the feed is silent too, Binance is asked in the same round. What it has is
  fresh, with `venue` "binance" (that of the price, else of the funding) and its own hours between payments; the others
  keep their last values, named stale. The next answer of the first venue takes over at once. Only when both fail does
  anything age, and what callers are then told is the first venue's failure. A market that was never seen has no
  fall-back: nothing would vouch for the tickers.
- A field is **stale** as soon as the newest refresh did not bring it, whoever was asked, or once its age says that
  rounds were missed, and is named in `_stale_fields`; past its limit it is null. What was never known is null and named
  too. Fields derived from another (`carry_*`, `*_since`, `funding_*_side`, `sentiment_summary`) follow it unnamed.
  Sentiment is stale when its own room says so. What is dated ahead of our clock by as much is stale and null alike: the
  clock was set back since, and nobody knows how old it is. BTC's correlation to itself is 1 by definition, never stale.
- `as_of` is the older observation of price and funding among those said. Nothing moves it but a newer observation.
- **Other desks** read all coins from one view: in public units, null past the same limits, the same object for as long
  as nothing changes, so that they may keep what they made of it.
- **History** is everything the venue has (from the week of 2023-02-20), so that no trend depends on when we began, of
  delisted coins too, asked for once, so that breadth of the past has no survivorship bias. A bar is final once it was
  read five seconds or more after its close by the venue's clock, and never changes again; what the venue says of it
  later is not taken over. A bar that is missing 15 minutes after its close is taken from the fall-back, for good, but
  only behind bars of the venue: another's history is never the beginning of ours. Before they are stored, bars and
  payments pass the plausibility check (`series_plausibility`): the last stored bar is asked for again and must be the
  same, a new one must follow it and end near the accepted price. An answer that fails is asked for again; it is stored
  where the second venue shows the same day, or where it stays the same for an hour.
- **Hours**: bars of the last 90 days and the funding paid in them, kept for 100. A new hour is asked for within half an
  hour, the coins in turns, and never while days are missing. Of all that can wait, one request stands in the queue at a
  time, so a price waits behind one at most. Payments are dated to the minute, and their rate is spread over the hours
  since the one before; they have no fall-back, because the venue keeps them until it is asked.
- **Cost**: a usual hour spends under a quarter of the venue's budget, builder's coins included; a first start of 230
  coins has prices at once and everything else within an hour (`tests/market/test_weights.py`).
- **Charts** are read when there are new closed bars, of all coins at once. They age from the close of the last day
  they contain: named after 24 hours and a quarter (the time a round of all coins takes at midnight), null after 48.
- **Origin**: data of two histories (live and a recording, or a recording moved by another number of days) are never
  mixed. Quotes of a new origin replace the old in one step; its bars are fetched anew.
- **Tickers** are the venue's in upper case, case of the caller's spelling does not matter; `venue_symbol` is said only
  where it differs (`kPEPE`). A ticker that two listed coins would share stays with the first. One resolver
  (`symbols.Directory`) answers every route. It takes another ticker only where that means the same unit (`1000PEPE`,
  `XBT`): `PEPE` is not KPEPE, whose price is a thousandfold, and is refused with KPEPE as candidate. Delisted coins are
  refused as delisted, with their successor as candidate. Names find nothing; they suggest.
- **The past of a coin** counts closed bars back from the last one, whose close is `as_of`: `series` is `count` of them,
  `at` the close of the first, `now` live. Further back than bars go, `at` is null and `series` is what there is. A
  payment belongs to the bar that it ends. `futuresVolume24h` was written down at the time, else it is the sum of 24
  hours of bars (base units at the close); open interest is known only where it was written down; market cap and volume
  are CoinGecko's.
- **Samples**: in the first ten minutes of an hour open interest, volumes and market caps are written down, once; hours
  are kept for 1,001 hours, midnights for 1,001 days (230 coins: some 30 MB).
- **Momentum** of funding counts back from a coin's newest payment: means over the hours of a day and of a week (of
  what is there, a day at least), and the newest payment's rank among those of the 30 days before, by the mid-rank that
  funding alerts use. Other rooms judge its age (`momentum.PAID`: named after 3 hours, null after 48).
- Where nothing can be said: 502 with the venue's failure if there was one; 503 with `Retry-After` while nothing has
  been asked yet, and while nothing of a coin is confirmed.
"""
