"""Probabilities fitted on the past, and whether they showed skill. Pure numpy; deterministic from a seed.

Coins move together, so the unit of evidence is the day: every day has the same weight however many coins it has, and
samples are drawn by blocks of whole days. What is tried and what counts as skill is fixed by
`docs/decisions/0009-which-probabilities-are-published.md`; this package is that text as code.
"""
