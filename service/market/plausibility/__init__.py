"""The plausibility check: rules, the quarantine for values that fail them, and what values are compared with.

Every quote, bar and funding payment passes it before it is stored. `rules` is the published table
(`docs/decisions/0001-plausibility.md`).
"""
