"""`verdict ask`: a question in plain words, its answer set for a terminal as it comes.

Decisions:
- Every question is sent with an `Idempotency-Key` of its own. Where the connection breaks it is sent once more with the
  same key, which is never charged again, and what was read already is left out. The service keeps such an answer whole
  before its first byte, so it comes at once rather than word by word: not paying twice is worth more.
- Whoever has no token asks as a device: a random identifier, made here and kept, which the service gives one question.
- Markdown is read here, and only as much as answers hold: paragraphs, lists, tables, bold, code. What a table holds is
  never cut: where it is too wide for the screen its rows are written below each other.
"""
