"""Ethereum primitives without I/O: addresses, signatures, typed data, transactions, keystores.

May import rank 0 only. Uses coincurve and Keccak in C: a recovery takes 36 µs, with eth-account 4.7 ms. Signatures with
a high `s` are refused (EIP-2).
"""
