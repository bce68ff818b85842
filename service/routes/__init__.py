"""Plain functions, one a route: typed parameters in, an `Answer` out. May import every desk; knows no HTTP.

Decided here:
- A route takes the desk that knows the answer and a `Call`; `table.bind` gives it the desk. It holds no state.
- `def` where the answer is in memory, `async def` where something has to be waited for: the meter decides and commits
  the first kind in one step.
- The manifest's bytes are written once at start, so its `as_of` is the start of the service. It lists what is counted
  as a question, how payments are settled, and whose signature stands under receipts.
- Sign-in and keys answer without the envelope, as `contract.md` §3 writes them; their failures are enveloped.
"""
