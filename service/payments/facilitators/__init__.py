"""Who moves the money: `ledger` only records, `remote` asks an x402 facilitator, `chain` submits transactions itself.

Submitting a payment again never moves money twice, because EIP-3009 spends a nonce once. Decisions:
`docs/decisions/0004-facilitators.md` and `docs/decisions/0020-payments.md`.
"""
