"""Pays for calls with the user's wallet: reads the terms, checks ceilings, signs once, stores payment and receipt.

The service is not trusted: neither its terms, nor how often it asks, nor what it says about a payment's outcome.

Decisions:
- Only terms that are understood completely are signed: x402 version 2, scheme `exact` by EIP-3009, and the tokens of
  `terms.py` by contract address, with known decimals and signing domain.
- Ceilings: 0.10 USDC per call, 1.00 per UTC day over all services and processes of a user. A signed amount counts
  before it is sent and is never given back: a service that claims it took nothing can still take it.
- One payment belongs to one request of one caller at one service. It is stored before it is sent. As long as it may
  still settle, that request is paid with it and no other. After that it is sent once more: the service hands out a
  bought answer for a day, and if nothing was bought a new payment may be signed.
- Sending a payment again needs no consent and costs nothing more. After a 503 or a lost answer it is sent again a few
  times at once, then by the next identical request.
- The payee and chain of a service are remembered at the first payment, like an SSH host key. Without a prompt (`--yes`,
  the MCP server) a changed payee is refused; at a prompt the change is shown.
- A signature is valid for at most five minutes, and nothing is signed if the clocks differ by more than a minute.
- Real money needs TLS or this machine; test money does not.
- A receipt is fetched, compared with the purchase and the service's `receiptSigner`, and stored whatever the result.
- A key is read only when something is signed. `VERDICT_WALLET_KEY` comes before the configured keystore.
"""
