"""Route functions: typed parameters in, an `Answer` out. May import every service below; knows no HTTP.

- A route takes the service that answers it and a `Call`; `table.bind` passes the service. It holds no state.
- `def` answers from memory, `async def` waits for something. The quota gate charges the first kind in one step.
- The manifest is encoded once at start, so its `as_of` is the start of the service.
- Sign-in and keys answer without the envelope around their answers. Their failures have it.
"""
