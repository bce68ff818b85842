"""The tool server: what agents ask, over standard input and output or over HTTP, by the Model Context Protocol.

It knows the wire and HTTP, like every client, and may import the other rooms of clients. `tools` is the table.

Decisions:
- Thirteen tools, each about one topic, in under 15 KB with everything that is said of them: a model reads the list
  before its first question. Who needs every field has the API; a tool gives what decides and what qualifies it.
- An answer is read into the struct that its schema is made from before it is sent. What a newer service adds is left
  out; what contradicts the schema is an error and never an answer.
- Nothing is left to guess: each answer says of when it is and how old; what was cut, what is stale and that figures are
  recorded ones stands in `notes`. An error says what to do, and that figures from memory are no substitute.
- Text of others (quotes, names, sentences) is data. What cannot be printed is replaced: letters that nobody sees are a
  way to give a model orders.
- A call may cost a question. A tool pays only where the operator said `--pay`: then no tool is announced as read-only,
  so that a host asks before it calls. Over HTTP nothing is ever paid: anybody on this machine could spend the wallet.
- Over HTTP the caller's bearer is passed on, and no other: the operator's own credential serves nobody else. It listens
  on this machine alone, and a browser's page from elsewhere is refused by its `Origin`, or its `Host`.
- A message takes 4 MB at most. Over HTTP a body has 15 s, and a client (one `Authorization`) 16 sessions, which end
  after 5 idle minutes. On standard input a line that is no message gets a JSON-RPC error, and reading goes on.
- Both generations of the protocol are spoken (a session with a handshake, and requests that stand alone), so a question
  to the user about a symbol goes back in the answer, or is sent while the call waits.
"""
