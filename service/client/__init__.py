"""The client library: one connection, one request at a time, answers with their envelope, errors with their code.

Knows the wire types and HTTP, nothing of the service: everything it does is possible with the manifest alone. The core
imports only the standard library and the version. A `Client` is for one thread at a time.

Decisions:
- One library for the CLI and the MCP server, on the blocking `http.client` of the standard library: an asynchronous one
  takes longer to import than everything else that a command does. The MCP server calls it from threads.
- Proxies from the environment are not used, and redirects are errors that name their target: a token goes to the given
  URL and nowhere else.
- A request is repeated automatically only if that is safe: once, a GET without a payment, when a kept connection turns
  out to be closed.
- A truncated answer is an error: its length is compared with the announced one, which `http.client` does not do.
- Certificates are checked against the system's store (OpenSSL reads `SSL_CERT_FILE`); no switch turns that off.
"""
