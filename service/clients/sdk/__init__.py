"""The client library: one connection, one request at a time, answers with their envelope, refusals with their code.

May import nothing but the standard library and the version. A `Client` is for one thread at a time.

Decisions:
- Proxies named in the environment are not asked: a token goes to the address that was given and nowhere else. For the
  same reason a redirect is a refusal that names its target, never followed.
- A request is sent again by itself only where that is sure to do no harm: once, a GET without a payment, when a
  connection that had been kept turns out to be closed.
- An answer that broke off is none: its length is compared with what was announced, which `http.client` leaves to us.
- Certificates are checked against the system's (OpenSSL reads `SSL_CERT_FILE`); there is no switch that turns it off.
"""
