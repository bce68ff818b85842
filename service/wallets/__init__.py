"""Wallets that are watched: who they are, and which tokens moved in and out of them on one chain.

May import rank 0, wire, storage, upstream, ethereum and market.
"""
