"""CLI, SDK and MCP server.

Clients know the wire types and HTTP, nothing of the service: everything they do is possible with the manifest alone.
They may import rank 0, `wire` and `ethereum` (keys and signatures of a wallet that pays or signs in).

Decisions:
- One client library, on the blocking `http.client` of the standard library: an asynchronous one takes longer to import
  than everything else that a command does. The MCP server calls it from threads.
- The CLI imports only Click and the command table before it knows the command.
- Commands read answers as plain JSON, so fields of a newer service are kept, not refused.
- "Now" is `meta.ts` of the answer, so ages do not depend on the local clock.
"""
