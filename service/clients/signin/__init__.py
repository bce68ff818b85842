"""Signing in: the wallet's key, the message it signs, and the ways by which a session comes here.

Knows the service over HTTP only; what is typed and told is the command line's.

Decisions:
- What is signed names the address that is asked and no other: a service that is for another domain refuses it, and the
  caller is told to ask there. Signing for whatever domain a service names would sign in to that one on its behalf.
- "Issued At" is five minutes before the nonce ends, which is the service's own now: a clock here that is wrong keeps
  nobody out.
- The browser hands a session over to a server on this machine's loopback, on a port of its own, for a text of 256
  random bits that was made for this login. It is answered by being sent on to the service, so that the session stays
  neither in the address bar nor in the history. Other users of this machine may see that text (it is an argument of the
  browser), so the wallet that signed in is always shown.
- That text is kept until the login ends, so that `--paste` can finish what a browser could not hand over.
- A session or key is kept only after the service has said whose it is.
"""
