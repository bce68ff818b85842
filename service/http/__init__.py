"""The way in and out: one connection class, one front, and the gates every route stands behind. The top of the service.

May import everything below; owns starlette, uvicorn and httptools (with wiring) and prometheus_client.

The way of a request: `protocol` (bytes, limits of the wire) → `cycle` (ASGI) → `app` (route by dictionary, guard) →
`limits` → `gates/auth` → `gates/rate` → `gates/parameters` (path, query) → `gates/pay` → `gates/meter` → `gates/body` →
`serve` → the route function. Parameters stand before the meter, so a malformed request never costs anything; the body
stands behind it, so a caller whose quota is spent is told the price before anybody reads what it wrote.

Decided here beyond `contract.md`:

- Gates are pure ASGI classes given per route; what is known of a request travels in `scope["verdict"]` (`Exchange`).
  A failure is a `ServiceError` raised anywhere; the front alone turns it into an answer.
- One table: Starlette's routes. The front reads them into two dictionaries by the path as it was sent; Starlette's
  linear matching behind thirty routes costs more than everything else here together.
- A GET that nothing has to wait for takes the short way (`lane`): the same gates' checks called one after the other,
  without a task, a coroutine or a message. A gate therefore says in `check` what it refuses and whether it must wait.
- A head that came before, byte for byte and whole, on a connection that is quiet, is not read again (`heads`): what it
  alone says was judged in full then, and only by requests that passed every gate. What depends on the moment is asked
  of the same gates each time: token, rate, route, meter. It is remembered by its digest, its token by the token's.
- A connection keeps what answers its last such head, and the head's own bytes to know it by (`again`): new objects for
  each request cost twice as much, as those of 64 that wait for one commit are more than a processor keeps near.
- A caller that is known to have no question left is answered 402 on that short way too. The route runs first all the
  same: what it does not know is a 404 and what costs nothing is free, to a spent caller as well.
- A payment that is not good gets the challenge of the route with its reason, so that a right one can be signed at once.
- A refusal of the connection (malformed, too much, too slow) is JSON, keeps the order of pipelined answers, and ends
  the connection, lingering so that a peer still sending can read it. An idle connection is closed without a word.
- A stream is counted before its first line, and has its connection to itself. Of it, no more is taken than its reader
  has taken before: 32 KB may wait in the kernel, a piece of some 64 KB here. Who takes nothing for 30 s is told so, in
  case it reads again within two, and dropped: nobody else waits for it. Its seat is free at once.
- Three streams a credential, in each process: which of them a connection comes to is the kernel's choice. Seats are
  counted before questions, so a fourth stream is told of the seats. `Retry-After` is 15 s there: by then something has
  been sent to a reader that left without a word.
- Who is cut off while it is streamed to by a defect sees the chunks break off; every other end has its close line.
- HTTP/1.0 and 1.1 only; a Host header always; an absolute target must agree with it. `Upgrade` is ignored (RFC 9110
  §7.8), body and pipelined requests behind it included: Java's client offers h2c on every plain connection.
- Head and body leave in one write. The journal of deliveries is marked right before that write.
- A request whose token is not yet known counts against its network's request rate too: guessing keys is slow.
- A network is an IPv4 address or an IPv6 /64. `X-Forwarded-For` is believed from trusted proxies only, and of it only
  the hop nearest to us that is none of them.
- HEAD runs as GET, for nothing; where the quota is spent it is the same 402 that GET would get. A payment that comes
  with it is neither taken nor read.
- What is paid for is kept back until it is paid, then leaves whole. What fails or costs nothing leaves unpaid, and the
  payment that came with it is as good as before.
- A request that a payment came with is one request by its user, method, path, query and body as they were sent: the
  same bytes again are a retry, anything else is another purchase.
- A question with an `Idempotency-Key` is made to its end though its caller has left, is kept whole before its first
  byte, and is charged once: the gate stands outside payment and meter, so what is given again passes neither. The key
  is its user's or its device's; the body as it was sent and the form of the answer are what must be the same.
- Of callers without a token, only what their device's one question was spent on is kept: ids can be forged.
- Whoever has neither token nor `deviceId` is told so before anything else of its body is judged.
- Who is cut off by the end of the service with a payment under way is told to send the same payment again, not that
  the service is unavailable.
- A session-only route answers an API key with 403 AUTH_REQUIRED: the caller is known, and needs to log in.
- Two spellings of one JSON member are refused like a repeated parameter: two parsers would read different bodies.
- Over 32 levels, or in anything but UTF-8 JSON, a body is refused before it is decoded into structs.
- When the drain is over, requests that still wait are answered 503 rather than cut off.
- CORS is off unless origins are named; credentials never travel in cookies, so any origin may be allowed.
"""
