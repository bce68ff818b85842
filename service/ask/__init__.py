"""Questions in plain words, answered with numbers that are all true.

The way of a question: `classify` says what it is about and what it names, `plan` which tools are asked, `tools` asks
the same desks as the data routes, `writing` says what they found, and `grounding` reads the finished text once more and
refuses every numeral that no result holds. A model may write the prose in place of the rules, under the same check.

May import everything below it; only `routes` and the wiring import it.

What it decided:

- The same question at the same `as_of` gives the same bytes: prose is a function of the question and the results, so it
  names instants, never ages that grow while one reads.
- A question costs something only where a tool of a priced route answered it with something that route would count.
  Refusals, small talk, definitions and what concerns the caller's own account cost nothing.
- The answer begins as soon as the plan is known and the first thing that can be charged for has been found: so what
  fails as a whole fails with its status, unpaid, and a slow step delays only what is said of it.
"""
