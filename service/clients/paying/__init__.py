"""Pays for calls with somebody's wallet: reads what is asked for, holds it against ceilings, signs once, keeps it all.

A service is not trusted here: neither with what it asks for, nor with how often, nor with what it says became of it.

Decisions:
- Only what is wholly understood is signed: x402 version 2, scheme `exact` by EIP-3009, and the dollars of `dollars.py`
  by their own contracts, whose decimals and signing domain are known. All else is refused, however cheap it looks.
- Ceilings: 0.10 USDC a call, 1.00 a UTC day over all services and all processes of a user. What is signed is counted
  before it leaves, and never given back: a service that says it took nothing can take it all the same.
- One payment belongs to one request of one caller at one service. It is kept, signed, before it is sent; as long as it
  may still be settled, that request is paid for with it and with no other. After that it is sent once more: what it has
  bought is handed out, for a day, and where it has bought nothing another may be signed.
- To send a payment again nobody is asked: it was agreed to, and costs nothing more. A payment that is answered by 503,
  or by nothing, is sent again a few times at once, and then by the next identical request.
- Whom a service has itself paid, and on which chain, is remembered at the first payment, as ssh remembers a host. Where
  nobody is asked (`--yes`, the tools' server) it is paid there or not at all; whoever is asked is told of the change.
- A signature is good for five minutes at most, whatever is asked for, and nothing is signed where the clocks are more
  than a minute apart: it would be good for longer than meant.
- Real money goes over TLS or to this machine; play money may go anywhere.
- The receipt of what was bought is fetched, compared with the purchase (request, answer, amount, payee, nonce) and with
  the service's `receiptSigner`, and kept whatever comes of that: it is what a payer complains with.
- A key is read when something is to be signed, and not before. `VERDICT_WALLET_KEY` comes before the configured
  keystore.
"""
