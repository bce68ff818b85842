"""What travels: the structs of every answer and the one table of offers. May import rank 0 only.

Decided here:
- Field names are the clients' own, camelCase included; a struct's field order is its order on the wire.
- A struct never holds NaN or Infinity: packages turn what is unknown into `None` before they build one.
- `offers.OFFERS` is the only list of routes. Routing, parameter decoding, the manifest, OpenAPI, `/llms.txt` and
  `/.well-known/x402` are made from it, so they cannot disagree.
"""
