"""What people and their agents hold in their hands: a command line, a tool server, and the small library under both.

Clients know the wire and HTTP, nothing of the service: whatever they can do, anybody can do who reads the manifest.
They may import rank 0, `wire` and `ethereum` (pure arithmetic of keys and signatures, for a wallet that pays or signs
in).

Decisions:
- One client library, on the standard library's `http.client`, which blocks: importing an asynchronous one takes longer
  than everything else that a command does. The tool server calls it from threads.
- What a command line needs before it knows what is asked of it imports nothing at all, not even `typing`.
- Commands that show data read the answer as plain JSON. A field that a newer service adds is kept, not refused.
- "Now" is `meta.ts` of the answer, so that an age is what the service says it is, whatever the clock here says.
"""
