"""Who moves the money: three ways behind one port. `ledger` only records, `remote` asks, `chain` does it itself.

May import what `payments` may. One facilitator is asked for one payment as often as it takes: asking again never moves
money twice, because EIP-3009 spends a nonce once.

Decided here, of `chain`:
- A transaction is signed and written down under its nonce in one transaction of the database, and sent after: whatever
  may be under way is known to every process and after every crash. That is what lets one settlement at a time choose a
  nonce, across processes, without a lock; waiting for the blocks goes on side by side.
- A payment has one nonce. What is in no block is sent again, with all that stands before it, so that no gap holds up
  the others; it is outbid only when its fee no longer suffices, and never above `GAS_CAP_GWEI`.
- The token is asked by `eth_call` before anything is sent: what it refuses is refused, and costs no gas. Why it refuses
  is read from the chain's state (`authorizationState`, the newest block's time, the balance), since nodes word a
  contract's reason as they like. Only what the state does not explain is read from the words. What was once
  sent is never refused: a reverted transaction may still be taken back with its block, and only the chain's final word
  after the window ends it.
- Too little ether, gas above the cap and a node that fails are no fault of the payer: the outcome is unknown, and
  settled as soon as they are mended while the window lasts.
- The operator's key is for this service alone. A node on another chain than the settings' is asked for nothing.
- Wallets that are not deployed yet (EIP-6492) are refused: deploying them would be the operator's gas.

Decided here, of `remote`:
- `/verify` is asked before the route runs, so that a payment that cannot be settled is refused at once. An answer that
  cannot be used is 503, and nothing is claimed. What may be served is decided by money that has moved: `/settle`, or
  the chain. What a facilitator is asked is written anew from what was decoded, on the terms that were agreed.
- It is believed to have settled only on a status of success, `success` true, a transaction, our network, and nothing
  that speaks against it; and to have refused only for reasons found before anything is submitted. Whatever else it does
  leaves the outcome unknown, and 503 for the payer: the stock clients answer a 402 by signing, and paying, once more.
- No refusal of it lasts. Facilitators look at window, balance and nonce before they remember what they settled
  themselves, so a refusal is a proof for the first who asks and for nobody after; a used nonce is none for anybody.
- The chain is read beside it, through `VERDICT_RPC_URL` or the network's public endpoint: a lost answer ends with what
  the chain shows, and what it reports as settled is checked within a minute. A false report fails the payment and stops
  all payments through that facilitator, in every process and over restarts, until `verdict payments resume`.
"""
