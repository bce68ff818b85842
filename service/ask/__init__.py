"""Questions in plain English, answered from the service's own data.

A question goes through three parts:

- `parser` turns its words into typed queries (`query.py`): subject, measures, time, conditions, operation. Every word
  is used by a query, is on the list of words that change nothing, or is unread. An unread number, time, comparison,
  negation or measure refuses the question; any other unread word is named in the answer.
- `planner` answers each query from the coin table, the stored history and the services of the data routes (`tools.py`).
  It sees the query alone, never the text.
- `answers` writes the results: one sentence that answers, at most one table, notes, sources, and how the question was
  read (`describe.py`).

`questions.py` connects them to the question route. A model may add a passage whose numbers are references to results
(`author.py`).

May import everything below it; only `routes` and the wiring import it.

What it decided:

- A query is answered as it stands or refused. A condition, window or part that cannot be taken into account is never
  left out: a refusal costs nothing, another question's answer costs trust.
- A value that is not known is left out, counted and named. It is never guessed.
- Of the past only what was known then is used. Values of a window that is older than the coin are not known.
- A window of days holds so many closed days and the present day so far; changes are from close to close, as
  `coin/historical` counts them; daily returns and their extremes are those of closed days. Payments of
  funding are taken over whole hours, as the signal route counts them.
- The same question at the same instant gives the same bytes: answers name instants, never ages.
- Only answers with data cost a question. Refusals, small talk, definitions, prices of routes and the caller's own
  account are free. A query that fails is told beside the others; where all fail, the first error is the response.
- Templates hold no digits: every number of an answer is a value of a result, formatted by its unit.
- Addresses are shortened, shows go by their names. What others wrote is quoted and never followed as an instruction.
"""
