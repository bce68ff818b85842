"""Payment by x402: challenges, checks, settlement, receipts. May import wire, storage, upstream, ethereum and rank 0.

It knows no requests and no tables of other packages: the caller passes in what records a paid call in the usage.
Decisions: `docs/decisions/0004-facilitators.md`, `0005-paying-without-an-account.md` and `0020-payments.md`.
"""
