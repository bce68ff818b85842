"""Funding-rate alerts: coins whose funding is extreme, and since when.

Every minute each coin's current rate is ranked among its payments of the last 30 days (at least a week). Its zone
follows from `analytics.funding.next_zone`; a coin has an event in about two days, and leaves a zone only well inside
it. Entering a zone or its stricter form is an event; returning to the milder form is not. An event is cleared when the
coin leaves the zone: while it is very hot, its `hot` event stays open. A stale rate, or another venue's, is not judged.
Unobserved hours (the week before the first start, an outage) are judged from payments, each among those before it; the
price is then the close of the hour that ended with it. `as_of` is the newest rate that was judged.
"""
