"""The MCP server: tools and resources over standard input and output or over HTTP.

It uses the client, like the command line. `tools` has the tools, `host_config` the entries in the hosts' files.

Decisions:
- Thirteen tools, one typed function per topic, in under 13,000 bytes including descriptions, which end with what a call
  costs: a model reads the list before its first question. A tool returns what decides and what qualifies it; the API
  has every field.
- An answer is decoded into the struct that its schema is made from. Fields of a newer service are dropped; data that
  contradicts the schema is an error.
- The text of a result is its structured content as JSON (MCP specification, Tools, Structured Content), for hosts that
  show a model only the text. The byte budget counts both.
- Every answer gives its time and age. `notes` says what was cut, what is stale, and whether figures are recorded. An
  error says what to do. For a mistyped name it lists the candidates: the model calls again, or asks its user.
- Texts of others (quotes, names) are data. Unprintable characters are replaced: invisible text can carry instructions.
- A tool pays only with `--pay`; then no tool is announced as read-only, so that a host asks before it calls. Nothing is
  paid over HTTP: any program on this machine could spend the wallet.
- Over HTTP the caller's bearer is passed on and no other. The server listens on loopback only and checks `Origin` and
  `Host`.
- Hosts add arguments and fill others with empty texts. A tool ignores and names what it does not take. An empty text
  counts as absent.
- A message has at most 4 MB, and over HTTP 15 s to arrive. An invalid line on standard input gets a JSON-RPC error, and
  reading goes on.
- Over HTTP each request is answered by itself, in JSON, without sessions. The service checks the credential of each
  call.
"""
