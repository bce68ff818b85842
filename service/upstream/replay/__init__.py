"""The replay server: a fixture set, served over real HTTP and WebSocket as the venue itself would.

Not a mock: the adapters, sessions, budgets and decoders of the service meet the same wire they meet in production.
May import rank 0 and the rest of `upstream`. Nothing here is used with `VERDICT_SOURCE=live`.

Decided here:
- `shifted` (the default): recorded time is moved by a whole number of days so that the recording's last day is today.
  At 00:00 UTC the shift grows by one day: the venue then repeats that last day, one day later, and all of its history
  has moved with it. `Replay.origin` names the fixture set and the shift, so it changes at that moment: what was
  stored under another origin is another history and must be cleared, never continued.
- `frozen`: recorded time is kept, and the clock handed in stands at `frozen_at(…)`, the recording's last instant.
- Nothing after now is ever served. The bar that contains now is still open and grows: within the hour the price goes
  from the open through both extremes to the close (low first where the bar rose, high first
  where it fell), volume and trades in proportion to time, so that a bar whose last millisecond has come equals the
  recorded one.
- Mark is that price; oracle follows from the premium, mid and impact prices from the tick and one basis point.
  Premium and the running funding rate go in a straight line from one recorded row to the next. Day volume and
  `prevDayPx` look back 24 hours. Open interest is the recorded one, scaled by the fourth root of the day's volume
  against the last day's.
- Everything is a function of the recording and the clock: the same instant gives the same bytes.
- One server for all upstreams: Hyperliquid at the root, the others below their name (`/binance/fapi/v1/...`), each from
  a function `..._routes(context)`. Tests can inject a fault before any of them. Each answer's `Date` is the replay's
  clock. An upstream whose files are not in the set answers as if it had no data.
- Two dexs: the venue's own and the builder's `xyz`, whose coins are `xyz:AAPL` everywhere; a bare `AAPL` is unknown.
- A recording's rows stay packed until they are asked for, but for the last two days of hours and payments: nearly all
  that is asked after a service's start. Half a million rows would fill 200 MB unpacked; packed they fill 5.
- Documented limits are kept: 5,000 candles, 500 funding rows, a socket silent for 60 s is closed, `null` for an
  unknown coin (200) or dex (500), 422 in plain text for what cannot be read. A recording holds hourly and daily bars;
  other intervals of the venue answer an empty list. `predictedFundings` names only the venue recorded.
- `Replay.interceptor` is where tests put a fault in the venue's place. The service never sets it.
"""
