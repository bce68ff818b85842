"""Identity and quota: API keys, sessions, grants, the meter, idempotency.

May import storage, ethereum, wire and rank 0. Owns `jwt`. Decisions: `docs/decisions/0003-access-limits.md` and
`docs/decisions/0019-identity-and-quota.md`.
"""
