"""The parser: a question in words to typed queries, with every word accounted for.

`recognise` finds names and mends typos, `lexicon` lists the words, `times` reads dates and windows, `chunks` cuts a
text into typed pieces and clauses. `clause` makes queries of a clause: `rewrites`, then conditions, subject, operation,
measures and time, then `compose`. `followup` edits the query before it. `accounting` finds what was not read, and
`parse` reads whole conversations and decides on refusals.
Pure functions of the text, the names that are listed, and the present instant.
"""
