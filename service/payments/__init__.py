"""Payment by x402: what a spent quota is answered with, how a payment is checked and settled, and what proves it.

May import wire, storage, upstream, ethereum and rank 0; it never sees a request, a caller or the table of another room:
who enters a paid call into the usage is handed in.

Decided here:
- One 402 serves v2 and v1 clients: the `PAYMENT-REQUIRED` header is always v2, the body is v1 unless the request says
  `X-X402-Max-Version: 2`. A v1 row carries v1 network names only: any other makes v1 clients drop the whole challenge.
- The `bazaar` extension of a challenge is made from the offer. A challenge stays below 3 KB for ordinary URLs: nginx
  holds 4 KB of an answer's head by default and answers 502 in place of a longer one. So it names the fields of an
  answer with their types and goes no deeper; the OpenAPI document does.
- A challenge names what is bought by the absolute URL of the request. A URL past 2,048 characters loses its query, so
  that the header stays far below the 8 KB that proxies allow.
- A signature may be valid for 60 seconds at most: long enough to settle on a chain with two-second blocks, short enough
  that an unknown outcome is soon known.
- A payment is decoded as strictly as two parsers agree: padded base64, no member twice, none that nobody knows, numbers
  in plain digits. Addresses, nonces and signatures may be written in either case and are stored in lower case, so one
  nonce in two spellings is one payment. `resource` and
  `extensions` are what the challenge said, sent back unsigned: they prove nothing and are not read.
- `value` is the price exactly: more would be money nobody asked for. The window is closed under six seconds (a chain
  with two-second blocks needs them) and two minutes ahead (the window and a minute of clock skew).
- A signature of 65 bytes must be `from`'s own, with a low `s` and a `v` of 27 or 28: the token reverts on others. A
  longer one is a contract's, which only its chain can check; where nothing is settled on a chain it is refused.
- A payment is one row, by what EIP-3009 spends once. The schema itself refuses a key that is not in its normal form, an
  amount other than the price, and any change of what is settled. Rows stay for ever, but for those that bought nothing.
- Each claim makes the name of its receipt anew, and whoever acts on a claim names it: one that was lost is powerless.
- A row that is open says when somebody has to look at it, and which process acted last. Whether that lives is known by
  the lock on its journal, not by waiting: a dead one's claim is free on sight, its settlement is due at once.
- A paid call is three transactions, each shared with whoever waits beside it: claim; settling with the answer; settled
  with its event of usage. That an answer has left is noted behind them, and nothing depends on it.
- Answers are kept for a day, 512 KB each and 256 MB together (packed), the oldest go first; never one that may yet have
  to be given. One too large is handed out once: it is paid for, and its receipt says so.
- A settled row of the ledger is its receipt; nothing else is kept. It is signed when it is asked for, each time alike
  (RFC 6979), with a key derived from the service's secrets: whoever loses those gets a new signer. The text signed is
  the receipt's RFC 8785 form, so a receipt may travel in any spelling of the same JSON.
- A receipt that is another's is as unknown as one that never was; one's own that is not settled yet is 503, for it may
  be there in a moment. Lists hold what is settled alone, in the order of settlement, so that pages never shift.
- A payment that would not be taken any more (its window is over, terms or chain have changed) is looked for in
  the ledger before it is refused: it may have bought this very answer, and a 402 would be a second bill.
- A payment without an account (`VERDICT_ANONYMOUS=pay`) has user 0. The payer's address is who paid, and its signature
  over the receipt's id and the time reads the receipt. No user is made: a wallet costs nothing to make, a row stays for
  ever. Why, and what this leaves open: `docs/decisions/0005-paying-without-an-account.md`.
- Twenty requests with one payment are one purchase: whoever comes later waits ten seconds for the first, then is told
  to come again. A claim that was given back is anybody's, for any request.
- A settlement belongs to no request: it goes on when whoever asked for it is gone, and its answer is kept for them.
- The only ways to a 402 with a payment are a payment that is not good, and one of which it is proven that no money
  moved. A store that fails after somebody was asked is an outcome that is not known: 503.
- Another user's payment is 409 like one's own for another request, but only its payer is told the name of its receipt.
- A payment has failed when it is proven that no money moved: by a refusal that is never given to what was settled; by
  any refusal, if nobody else had asked before; or by the chain, where the authorization is cancelled, or unused in a
  final block past its window, a minute later. Official facilitators refuse what they have settled themselves (its
  window is over, its payer has spent the rest), so after an unknown outcome such a refusal proves nothing.
- Whoever asks about a payment that another process is settling notes so in the ledger first; what the other one is told
  then is no first refusal any more. So two processes that ask beside each other never bill twice.
- The chain is asked before a refusal is repeated to the payer. An authorization that is used is never answered with
  "nothing was charged": it has bought the answer, or the refusal names what used it.
- A failed payment is not asked for again, for its payer may have paid otherwise since. Where somebody sees the chain it
  is looked for once more when its window is over: if it was submitted all the same, it has bought its answer.
- The pause before the next question is as long as it has taken so far: it doubles, needs no counting and survives a
  restart. What a facilitator never says is read from the chain.
- What the chain says of a payment counts whoever submitted it. A transfer is this payment's only if the token told of
  it right after the use of its authorization: one transaction may spend two, of which the other pays somebody else. A
  use more than a minute before the claim has paid for something else: an authorization names nobody but the payee, so
  what another service of the same payee has settled could be shown here too. Give each service a `PAY_TO` of its own.
- A payment of a chain that the settings do not name any more stays open until they do, or a remote facilitator, which
  may know many chains, tells. Whoever looks at one chain only would look in the wrong place and see no money move.
- That an authorization is unused, cancelled or spent elsewhere may end in a second bill, so it is said of final blocks
  alone (the newest block's state, and a final block's time), and never because a node shows nothing: many are late.
"""
