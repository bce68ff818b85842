"""Payment by x402: what a spent quota is answered with, and (in its own issue) how a payment is checked and settled.

May import wire and rank 0; it never sees a request, a caller or the store of another room.

Decided here:
- One 402 serves v2 and v1 clients: the `PAYMENT-REQUIRED` header is always v2, the body is v1 unless the request says
  `X-X402-Max-Version: 2`. A v1 row carries v1 network names only: any other makes v1 clients drop the whole challenge.
- A challenge names what is bought by the absolute URL of the request. A URL past 2,048 characters loses its query, so
  that the header stays far below the 8 KB that proxies allow.
- A signature may be valid for 60 seconds at most: long enough to settle on a chain with two-second blocks, short enough
  that an unknown outcome is soon known.
- Payments are not accepted yet (`SETTLEMENT` is `none`, which the manifest repeats): `unlock` therefore offers waiting
  and upgrading, and a request that carries a payment gets a 402 that says that nothing was charged.
- A payment is decoded as strictly as two parsers agree: padded base64, no member twice, none that nobody knows, numbers
  in plain digits, nonces in lower case. Only addresses and signatures may be written in either case. `resource` and
  `extensions` are what the challenge said, sent back unsigned: they prove nothing and are not read.
- `value` is the price exactly: more would be money nobody asked for. The window is closed under six seconds (a chain
  with two-second blocks needs them) and two minutes ahead (the window and a minute of clock skew).
- A signature of 65 bytes must be `from`'s own, with a low `s` and a `v` of 27 or 28: the token reverts on others. A
  longer one is a contract's, which only its chain can check; where nothing is settled on a chain it is refused.
"""
