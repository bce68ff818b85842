"""Questions in plain English, answered from the service's own data.

A question goes through three parts:

- `parser` turns its words into typed queries (`query.py`): subject, measures, time, conditions, operation. Every word
  is used by a query, is on the list of words that change nothing, or is unread. An unread number, time, comparison,
  negation or measure refuses the question; any other unread word is named in the answer.
- `planner` answers each query from the coin table, the stored history and the services of the data routes
  (`data_services.py`). It sees the query alone, never the text.
- `answers` writes the results: one sentence that answers, at most one table, notes, sources, and how the question was
  read (`describe.py`).

`questions.py` connects them to the question route. A model may add a passage whose numbers are references to results
(`llm_writer.py`). The rules of answering are in `docs/decisions/0013-typed-questions.md`.

May import everything below it; only `routes` and the wiring import it.
"""
