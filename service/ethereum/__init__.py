"""Ethereum's own arithmetic: hashes, addresses, signatures, transactions. No I/O, no chain, nothing of who or why.

May import rank 0 only. `access` proves wallets with it, `payments` checks and signs.

Decided here:
- coincurve (libsecp256k1) and pycryptodome's C Keccak: a recovery takes 36 µs, where eth-account takes 4.7 ms and would
  have to be kept off the event loop.
- A signature with a high `s` is refused everywhere (EIP-2): it is the malleated twin of another one.
- Transactions (EIP-1559) and keystore files are a page each on top of what is here; web3 or eth-account for them would
  bring thirty packages into the service. They are held against eth-account in the tests.
"""
