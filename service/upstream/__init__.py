"""HTTP and WebSocket clients for every upstream.

May import rank 0 only. This package knows transport; the meaning of a venue's answers belongs to `market/sources`.

Rules:
- Limits: each call has a deadline (retry included), at most 4 MB, and one log line. Sessions do not follow redirects
  or keep cookies. Bodies are decompressed under a size limit; error texts are redacted and cut at 2 KB.
- `UpstreamError` is a `ServiceError`: a service with no other answer lets it pass as 502.
- Retries: one, only for broken connections, malformed answers and 5xx, from a budget of a tenth of all calls. There
  is no pause before it: this is one client, and the refresh loop sets the pace between rounds.
- Weights: a token bucket of 80 % of the venue's published budget, refilled steadily, so that loading history delays
  prices by seconds at most.
- `Retry-After`: nothing is sent before that time. Callers get an `UpstreamError` with the status at once and keep
  their last value.
- `feed_fetcher` fetches URLs that feeds or operators name: it obeys robots.txt (RFC 9309, product token `verdict`; a
  host whose rules cannot be read is not asked), sends one request per host in two seconds and none before
  `Retry-After`, uses ETag and Last-Modified, follows three redirects, and connects to public addresses only.
  `ssrf_guard` checks each address when the socket is opened, so DNS rebinding cannot lead inside.
- A fixture set (`fixture_set`) is a folder of files in an upstream's wire format with a `metadata.json` (origin,
  SHA-256, end of the recording). `fixtures/generate.py` and `recorder` write it, `replay` serves it.
"""
