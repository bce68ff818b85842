"""Who moves the money: three ways behind one port. `ledger` only records, `remote` asks, `chain` does it itself.

May import what `payments` may. One facilitator is asked for one payment as often as it takes: asking again never moves
money twice, because EIP-3009 spends a nonce once.
"""
