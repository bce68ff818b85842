"""How the service speaks to others: one bounded HTTP session and one WebSocket session for every upstream.

May import rank 0 only. It knows transport, not meaning: what a venue's answers hold is the business of
`market/sources`.

Decided here:
- Nothing an upstream does may cost more than a deadline (retry included), 4 MB, and one log line. Redirects are not
  followed, cookies are not kept, bodies are unpacked under a cap, error texts are redacted and cut at 2 KB.
- `UpstreamError` is a `ServiceError`, so a desk that can say nothing else may let it cross as 502.
- One retry, for broken connections, malformed answers and 5xx alone, out of a budget of a tenth of all calls. No
  pause before it: we are one client, and the pause between rounds belongs to the refresh loop.
- Weights are spent from a bucket of 80 % of what the venue publishes, refilled steadily, so that history being
  fetched never keeps a price waiting for more than a few seconds.
- After `Retry-After` nothing is sent before its time: callers get an `UpstreamError` at once, with the status that
  silenced us, and keep their last value.
- Strangers, whom a feed or an operator names by URL, are not asked through a session but visited (`visitor`): as their
  robots.txt says (RFC 9309, ours is the product token `verdict`; what a host forbids is not asked for, and while its
  rules cannot be had nothing is), one request in two seconds a host and none before its `Retry-After`, with ETag and
  Last-Modified of what is known, following three redirects that are each looked at like the first URL, at public
  addresses alone: each is looked at as it is connected to (`guard`), so that no second look at a name leads inside.
- A fixture set (`fixture_set`) is a folder of files in an upstream's own wire format beside a `metadata.json` that
  says how they were made, their SHA-256, and when the recording ends. `fixtures/generate.py` and `record` write it,
  `replay` serves it.
"""
