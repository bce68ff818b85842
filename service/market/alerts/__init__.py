"""Coins whose funding is out of the ordinary, and since when.

Decided here:
- **Funding alerts**: every minute each coin's running rate is ranked among what the coin paid in the 30 days before (a
  week at least), and its zone follows from `analytics.funding.next_zone`, so strict that a coin has an event in two
  days and a zone is left only well inside it. Entering a zone, or its stricter form, is an event; falling back into the
  milder one is not. An event is cleared when its coin leaves the zone: while a coin is very hot, its `hot` event stays
  open. A rate that is stale, or another venue's, is not judged. Hours that nobody watched (the week before the first
  start, an outage) are judged from what was paid, each payment among those before it, before the present is; the price
  is then the close of the hour that ended with it. `as_of` is the newest rate looked at.
"""
