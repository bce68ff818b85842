"""What is said of coins, sectors and the economy in podcasts and videos, and where it is said.

May import rank 0, wire, storage, upstream, analytics, market and sentiment.
"""
