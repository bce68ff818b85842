"""Sign-in: the wallet's key, the EIP-4361 message it signs, and how a session reaches this machine.

Decisions:
- The signed message names the URL that is called and no other, so that no service can obtain a sign-in for another.
- "Issued At" is five minutes before the nonce expires, which is the service's own time: a wrong local clock does
  no harm.
- The browser hands the session to a server on a loopback port, authorized by 256 random bits made for this login. It is
  redirected to the service at once, so the session stays neither in the address bar nor in the history. Other users of
  this machine may see the random text (it is an argument of the browser), so the wallet that signed in is always shown.
- The random text is stored until the login ends, so that `--paste` can finish what a browser could not hand over.
- A session or key is stored only after the service has confirmed its owner.
"""
