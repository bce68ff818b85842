"""The client library: one connection, one request at a time, answers with their envelope, errors with their code.

Imports only the standard library and the version. A `Client` is for one thread at a time.

Decisions:
- Proxies from the environment are not used, and redirects are errors that name their target: a token goes to the given
  URL and nowhere else.
- A request is repeated automatically only if that is safe: once, a GET without a payment, when a kept connection turns
  out to be closed.
- A truncated answer is an error: its length is compared with the announced one, which `http.client` does not do.
- Certificates are checked against the system's store (OpenSSL reads `SSL_CERT_FILE`); no switch turns that off.
"""
