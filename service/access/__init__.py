"""Who is asking and what they have left. May import storage, wire and rank 0.

It owns `jwt`, and shares `coincurve` and `Crypto` with payments.

Identity, as decided here beyond `contract.md` §3:

- A key is `prefix + 30 + 6` base62 characters (`0-9A-Za-z`); the last six are CRC32 of everything before them, zero
  padded. Kept are its HMAC-SHA256 under the pepper and the first 8 secret characters, which are unique in the whole
  store: a display prefix names exactly one key, and 131 bits stay unseen.
- Keys and sessions are rows of one table, so a credential id means one thing everywhere (rate, streams, meter).
- Rotation keeps the name, the wallet and the expiry: it must not lengthen what an operator limited. The old key's
  expiry moves to the end of the grace; without a grace it is revoked at once.
- Revocation and a rotation without grace do not depend on the clock: setting it back revives nothing.
- A session token's header is one constant text. Whatever asks for another algorithm, a `kid`, `crit` or `b64` is
  refused before anything is decoded. Its times are checked against `clock`, not by the library, which reads its own.
- A sign-in nonce certifies itself (random, expiry, MAC): asking for one writes nothing, so a flood of requests costs no
  storage; only spent nonces are kept. It is spent in the transaction that opens the session.
- `Issued At` may lie five minutes off our clock on either side: browsers' clocks do. Expiration Time and Not Before
  are exact.
- Where no public URL is set and the service listens on loopback or on every address, the names of loopback are
  accepted as sign-in domain beside the configured host: they are the same machine.
- Who was refused once is looked up at once (`Meter.spent`), not asked of the writer: a refusal changes nothing, so the
  committed counters alone decide it, whichever process wrote them. The memory says only whom to look up. A question
  given back anywhere is therefore seen by the next call, and a process that is flooded by spent callers writes nothing.
- The tier is the best of default, grants to the user and grants to wallets the user has proven; among equals the one
  that lasts longest. When it ends, the next best applies from that millisecond on.
- An operator who names a wallet vouches for it: its owner later signs in as that user.
- What changes for credentials in use is a row of `access_changes`. Every process reads on from the epoch it has seen,
  each second and after its own changes, at once where the store tells, and forgets exactly the users concerned. If it
  cannot read, it forgets all.
- A process of another machine is never taken for dead, for its journal is not here: what it held is given back when it
  has signed out, when its own folder's next start has settled it, or when its lease runs out.
- New accounts (`free_accounts`), refused tokens (`key_index`), streams (`stream_limit`): how they are limited, and why
  nobody else is refused, is told in `docs/decisions/0003-access-limits.md`.
- Open streams are looked at once a second (`oversight`): they end with the credential they were opened with, and with
  the tier it had. Another grant that lasts is had by opening them again.
- `secrets.toml` must be 0600: it holds what would let a thief of the database mint sessions.
- The store remembers a mark of every pepper it was opened with. A start beside working keys of another pepper warns,
  and `verdict doctor` finds it, until those keys are revoked or the old file is back.
- A user may hold 100 keys that work, so that one account cannot fill the store.
- What was paid for is an event of usage with neither question nor counter: it is entered by whoever settles, in the
  same transaction, is never given back, and `verdict usage` shows it in a column of its own.
- A device's free question is an event of usage of user 0, who is nobody, and of a bucket that no quota knows: so its
  reservation, lease, orphans and marks are those of every call. A network (IPv4 /24, IPv6 /48) has twenty a UTC day.
  Ids and networks stand in the store as keyed hashes, a network's anew each day. Under a new `secrets.toml` every
  device is new.
- An answer with an `Idempotency-Key` is counted in the transaction that keeps it, and belongs to no process from then
  on: a start never concludes from its process's death that it was not given, since it still can be. What is too large
  to be kept, or had to make room, leaves its key used (409): better no answer than a second charge. A user may have a
  thousand keys in use; the next is refused until one is a day old, because to drop one early would break its promise.
"""
