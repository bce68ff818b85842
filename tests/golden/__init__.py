"""Golden answers: recorded responses, command output, streams and ledgers. `make golden` records them again.

The files in `answers/` hold no expectation of their own. They show whether a change alters what a user sees. A change
that is wanted is recorded in a commit of its own, with the difference that `make golden` prints in its message.
"""
