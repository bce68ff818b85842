"""Market data: quotes, closed bars and funding of the first venue, and what they say about each coin.

May import rank 0, wire, storage, upstream and analytics (on first use, because it imports numpy).

`ingest` fetches, `plausibility` checks, `store` and `series` keep, `service` answers; `daily_report`, `categories`,
`alerts`, `momentum` and `samples` add one topic each. `factory.open_market` builds all of it. Only the process that
leads fetches; every process answers from a snapshot of the store in memory, so that all give the same answers. The
reasons are in `docs/decisions/0018-market-data.md`.
"""
