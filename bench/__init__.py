"""Performance claims, measured side by side in one run: `make bench` writes BENCHMARKS.md.

Server and load generator are pinned to a processor each. The contenders are measured in turn, round after round, and
every ratio is formed within its round, so that a machine that drifts drifts for all of them.
"""
