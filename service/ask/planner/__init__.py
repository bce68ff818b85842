"""From a typed query to a result: exact filters, ranks, counts and sums over the coin table and the stored history.

A value that is not known is left out and counted as unknown, never guessed. What cannot be computed is refused with a
reason. Nothing later than the instant asked for enters a value.
"""
