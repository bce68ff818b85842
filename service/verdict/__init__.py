"""Verdicts on coins: published rules applied to known inputs, recomputable by anyone, and scored against outcomes.

`service.py` answers, `decide.py` and `rules_v2.py` judge, `ledger.py` stores every verdict before its outcome is
known, `outcomes.py` and `scorecard.py` score. May import rank 0, wire, storage, analytics, market and sentiment; no
network, no model. Reasons and limits: decisions 9, 10, 12 and 14 in `docs/decisions`.
"""
